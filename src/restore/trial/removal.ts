/** Removing what a command may have left in any state: directories that nobody may write to, names that are bytes. */
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { codeOf } from "../../base/errors.ts";
import { type Place, safeStat } from "../move.ts";

/** Whatever stands at `place`, whole; a link goes, and what it leads to stays. */
export function removeTree(place: Place): void {
  try {
    rmSync(place, { recursive: true, force: true });
  } catch (error) {
    const code = codeOf(error);
    if (code !== "EACCES" && code !== "EPERM" && code !== "ENOTEMPTY") throw error;
    open(place);
    rmSync(place, { recursive: true, force: true });
  }
}

function open(place: Place): void {
  if (!safeStat(place)?.isDirectory()) return;
  chmodSync(place, 0o700);
  const base = Buffer.concat([Buffer.from(place), Buffer.from("/")]);
  for (const name of readdirSync(place, { encoding: "buffer" })) open(Buffer.concat([base, name]));
}
