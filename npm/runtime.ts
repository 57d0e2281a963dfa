/**
 * Bun's own executables for other platforms. They come from the package registry, in the version and with the
 * checksum that package-lock.json holds, and are kept in `.cache/runtimes`.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hostPlatform, type Platform } from "./platforms.ts";

const root = join(import.meta.dirname, "..");
const cache = join(root, ".cache", "runtimes");

/** The path of Bun's executable for a platform, fetched if it is not here yet. */
export function runtimeFor(platform: Platform): string {
  if (platform.id === hostPlatform()?.id) return process.execPath;
  const { version, integrity } = locked(platform.runtime);
  const place = join(cache, `${platform.target}-${version}`);
  const executable = join(place, "package", "bin", platform.os === "win32" ? "bun.exe" : "bun");
  if (!existsSync(executable)) fetchInto(place, `${platform.runtime}@${version}`, integrity);
  return executable;
}

function locked(name: string): { version: string; integrity: string } {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const entry: { version?: string; integrity?: string } | undefined = lock.packages[`node_modules/${name}`];
  if (!entry?.version || !entry.integrity) throw new Error(`package-lock.json does not hold ${name}.`);
  return { version: entry.version, integrity: entry.integrity };
}

function fetchInto(place: string, specifier: string, integrity: string): void {
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, "fetch-"));
  try {
    execFileSync("npm", ["pack", "--silent", specifier], { cwd: fresh, stdio: ["ignore", "ignore", "inherit"] });
    const archive = readdirSync(fresh).find((name) => name.endsWith(".tgz"));
    if (archive === undefined) throw new Error(`npm gave no archive for ${specifier}.`);
    const found = `sha512-${createHash("sha512")
      .update(readFileSync(join(fresh, archive)))
      .digest("base64")}`;
    if (found !== integrity) throw new Error(`${specifier} is not what package-lock.json says: ${found}`);
    execFileSync("tar", ["-xzf", archive], { cwd: fresh });
    rmSync(join(fresh, archive));
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
