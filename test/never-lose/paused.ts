/** A command that stops at a fault point, so that a test can do something meanwhile. */
import { spawn } from "node:child_process";
import { executable, type TemporaryRepository } from "../support/index.ts";

export interface Paused {
  /** Lets it go on, and waits for its end. */
  goOn(): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Undefined where it has ended without coming there. */
export async function pauseAt(
  repository: TemporaryRepository,
  point: string,
  args: readonly string[],
): Promise<Paused | undefined> {
  const env = repository.environment({ BACKTRAIL_FAULT: `stop:${point}` });
  const child = spawn(executable(), args, { cwd: repository.path, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr, ended] = ["", "", false];
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString("utf8");
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data.toString("utf8");
  });
  const end = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      ended = true;
      resolve(code);
    });
  });
  while (!ended && !isStopped(child.pid ?? 0)) await Bun.sleep(5);
  if (ended) return undefined;
  return {
    async goOn() {
      child.kill("SIGCONT");
      return { code: await end, stdout, stderr };
    },
  };
}

function isStopped(pid: number): boolean {
  const { stdout } = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]);
  return stdout.toString("utf8").trim().startsWith("T");
}
