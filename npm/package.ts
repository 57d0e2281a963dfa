/** Makes the packages in `dist/npm`: the main one, and one for each platform (or for those named). */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile, version } from "../scripts/compile.ts";
import { packMain, packPlatform } from "./assemble.ts";
import { isSignedTruly, signedAdHoc } from "./macho.ts";
import { PLATFORMS } from "./platforms.ts";
import { runtimeFor } from "./runtime.ts";

const destination = join(import.meta.dirname, "..", "dist", "npm");
process.exitCode = await main(process.argv.slice(2));

async function main(named: string[]): Promise<number> {
  const unknown = named.filter((id) => !PLATFORMS.some((platform) => platform.id === id));
  if (unknown.length > 0) {
    console.error(`Unknown platform: ${unknown.join(", ")}. There are: ${PLATFORMS.map(({ id }) => id).join(", ")}.`);
    return 2;
  }
  mkdirSync(destination, { recursive: true });
  report(await packMain(destination, version()));
  for (const platform of PLATFORMS) {
    if (named.length > 0 && !named.includes(platform.id)) continue;
    const executable = join(destination, `${platform.id}-${platform.executable}`);
    compile(executable, { name: platform.target, runtime: runtimeFor(platform) });
    if (platform.os === "darwin") sign(executable);
    report(packPlatform(destination, version(), platform, executable));
  }
  return 0;
}

/** Signs what the compiler left with a signature that is not true. */
function sign(executable: string): void {
  const file = readFileSync(executable);
  if (isSignedTruly(file)) return;
  const signed = signedAdHoc(file, "backtrail");
  if (!isSignedTruly(signed)) throw new Error(`${executable} could not be signed.`);
  writeFileSync(executable, signed);
}

function report(archive: string): void {
  console.log(`${archive.slice(destination.length + 1)}  ${(statSync(archive).size / 1024 / 1024).toFixed(1)} MB`);
}
