/** One call of Bun's compiler: the whole program as one native executable. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bundlePage } from "./page.ts";

const root = join(import.meta.dirname, "..");

/** Keeps lazy imports in separate chunks, so that a hook never reads the code of the command line. */
const LAZY = ["--splitting", "--format=esm"];

/** The executable runs in untrusted directories: no file there may change what it does. */
const CLOSED = ["dotenv", "bunfig", "tsconfig", "package-json"].map((name) => `--no-compile-autoload-${name}`);

export interface Target {
  /** The compiler's name of a platform, such as `bun-linux-arm64`. */
  name: string;
  /** Bun's own executable for that platform, which the program is put into. */
  runtime: string;
}

export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return (manifest as { version: string }).version;
}

/** Writes `outfile` atomically; its directory must exist. */
export function compile(outfile: string, target?: Target): void {
  bundlePage();
  // The compiler leaves temporary files in its working directory.
  const workplace = mkdtempSync(join(dirname(outfile), ".build-"));
  try {
    const fresh = join(workplace, basename(outfile));
    const args = ["build", "--compile", "--bytecode", "--minify", ...LAZY, ...CLOSED];
    args.push("--define", `BACKTRAIL_VERSION=${JSON.stringify(version())}`);
    if (target) args.push(`--target=${target.name}`, `--compile-executable-path=${target.runtime}`);
    args.push(join(root, "src", "main.ts"), "--outfile", fresh);
    const built = spawnSync(process.execPath, args, { cwd: workplace, encoding: "utf8" });
    if (built.status !== 0) throw new Error(`The build failed.\n${built.stdout}${built.stderr}`);
    renameSync(fresh, outfile);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}
