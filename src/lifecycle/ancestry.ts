/** Who started a process: by that, a commit that an agent makes is told from one that its user makes. */
import { readFileSync } from "node:fs";

const DEEPEST = 32;

/** The process and those above it; only itself where the system does not tell. */
export function ancestorsOf(pid: number): Set<number> {
  const found = new Set<number>();
  let next = pid;
  while (Number.isSafeInteger(next) && next > 1 && !found.has(next) && found.size < DEEPEST) {
    found.add(next);
    next = parentOf(next);
  }
  return found;
}

/** The words a process was started with; none where the system does not tell. */
export function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  } catch {
    return said(["-ww", "-o", "args=", "-p", String(pid)]).split(/\s+/);
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return Number(said(["-o", "ppid=", "-p", String(pid)]).trim() || 0);
  }
}

/** Where there is no /proc. */
function said(args: string[]): string {
  if (process.platform === "linux" || process.platform === "win32") return "";
  try {
    return Bun.spawnSync(["/bin/ps", ...args], { stdio: ["ignore", "pipe", "ignore"] }).stdout.toString();
  } catch {
    return "";
  }
}
