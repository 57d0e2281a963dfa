/** Builds the executable: `dist/backtrail`, and `dist/aiwr`, the same file, which behaves by its name. */
import { linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.ts";

const dist = join(import.meta.dirname, "..", "dist");
const suffix = process.platform === "win32" ? ".exe" : "";

try {
  mkdirSync(dist, { recursive: true });
  const executable = join(dist, `backtrail${suffix}`);
  compile(executable);
  linkBeside(executable, join(dist, `aiwr${suffix}`));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Replaces a link in one move, so that a test that runs it at this moment never finds it missing. */
function linkBeside(target: string, link: string): void {
  const fresh = `${link}.${process.pid}`;
  rmSync(fresh, { force: true });
  linkSync(target, fresh);
  renameSync(fresh, link);
  // Renaming one hard link over another of the same file does nothing, and leaves both.
  rmSync(fresh, { force: true });
}
