/** Lays out one package in a directory and packs it. */
import { execFileSync } from "node:child_process";
import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildLibrary } from "./library.ts";
import { mainManifest, platformManifest } from "./manifests.ts";
import type { Platform } from "./platforms.ts";

const root = join(import.meta.dirname, "..");

/** Packs the package that people install, command and library, into `destination`; gives the archive's path. */
export async function packMain(destination: string, version: string): Promise<string> {
  const place = emptyDirectory(join(destination, "backtrail"));
  mkdirSync(join(place, "bin"));
  mkdirSync(join(place, "lib"));
  for (const name of ["backtrail", "aiwr"]) {
    copyFileSync(join(root, "npm", "main", "launcher.cjs"), join(place, "bin", name));
    chmodSync(join(place, "bin", name), 0o755);
  }
  for (const name of ["executable.cjs", "postinstall.cjs"]) {
    copyFileSync(join(root, "npm", "main", name), join(place, "lib", name));
  }
  await buildLibrary(join(place, "library"));
  return pack(place, destination, mainManifest(version));
}

/** Packs one platform's package around its executable. */
export function packPlatform(destination: string, version: string, platform: Platform, executable: string): string {
  const place = emptyDirectory(join(destination, platform.id));
  mkdirSync(join(place, "bin"));
  copyFileSync(executable, join(place, "bin", platform.executable), constants.COPYFILE_FICLONE);
  chmodSync(join(place, "bin", platform.executable), 0o755);
  return pack(place, destination, platformManifest(platform, version));
}

function pack(place: string, destination: string, manifest: Record<string, unknown>): string {
  writeFileSync(join(place, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of ["LICENSE", "README.md"]) {
    if (existsSync(join(root, name))) copyFileSync(join(root, name), join(place, name));
  }
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination];
  const output = execFileSync("npm", args, { cwd: place, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const packed: unknown = JSON.parse(output);
  // npm gives a list, or from version 12 on an object by the packages' names.
  const [first] = Object.values(packed as Record<string, { filename: string }>);
  if (first === undefined) throw new Error("npm packed nothing.");
  return join(destination, first.filename.replace(/^@/, "").replace("/", "-"));
}

function emptyDirectory(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}
