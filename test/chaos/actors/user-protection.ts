/** Files and directories that nobody may change for a while, as some tools and administrators make them. Needs root, on Linux. */
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import type { World } from "../world.ts";
import type { Actions } from "./action.ts";
import { placeIn, presentFile } from "./files.ts";

function protect(world: World, path: string): void {
  if (spawnSync("chattr", ["+i", path], { stdio: "ignore" }).status !== 0) return;
  world.did(`chattr +i ${world.script.quote(path)}`);
  if (!world.isProtected) world.cleanups.push(() => unprotect(world));
  world.isProtected = true;
}

export function unprotect(world: World): void {
  if (!world.isProtected) return;
  // Links are not followed, and have no such attribute.
  spawnSync("chattr", ["-R", "-i", world.root], { stdio: "ignore" });
  world.isProtected = false;
  world.did('chattr -R -i "$T"');
}

export const USER_PROTECTION: Actions = {
  "protect a file": {
    weight: 0.7,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (path) protect(world, random.once(2) ? path : dirname(path));
    },
  },
  "protect nothing": {
    weight: 2,
    run: ({ world }) => void unprotect(world),
  },
};
