/** What a program does, watched from outside with strace: which programs it starts, and where it writes. */
import { readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "../../src/base/paths.ts";
import { executable } from "../support/index.ts";
import { demand } from "./target.ts";

/** Null where there is none: then nothing is watched. */
export const STRACE = Bun.which("strace");
const CALLS =
  "execve,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat";

export function straceArguments(trace: string): string[] {
  return ["-f", "-qq", "-e", `trace=${CALLS}`, "-e", "signal=none", "-s", "4096", "-o", trace];
}

/** Demands that only git and ourselves were started, and nothing was written outside of the roots. */
export function demandHarmless(trace: string, cwd: string, roots: readonly string[], who: string): void {
  const allowed = [...roots, "/dev", "/proc/self"];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    if (/ = -1 E/.test(line)) continue;
    const program = /execve\("([^"]*)"/.exec(line)?.[1];
    if (program !== undefined)
      demand(program === executable() || /(^|\/)git(-[a-z-]+)?$/.test(program), `${who} started ${program}.`);
    if (!/O_WRONLY|O_RDWR|O_CREAT|(rename|unlink|mkdir|link|creat|truncate|chmod|rmdir)/.test(line)) continue;
    for (const [, path = ""] of line.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      if (line.includes("execve(")) continue;
      const full = resolve(cwd, path);
      demand(
        allowed.some((root) => isInside(root, full)),
        `${who} wrote to ${path}: ${line}`,
      );
    }
  }
  rmSync(trace, { force: true });
}
