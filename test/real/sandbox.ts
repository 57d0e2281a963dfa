/**
 * A place to run real agents in: a network namespace with loopback alone and a process namespace of its own.
 * The first process inside is a shell that runs the model server; when it ends, the kernel ends every other
 * process in there. Tests stay outside and enter with one command at a time.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Command {
  cwd: string;
  /** The whole environment: nothing of the tests' own gets in. */
  env: Record<string, string>;
  input?: string;
  /** After so long it is given up, with code 124. */
  timeoutMs?: number;
}

const START_TIMEOUT_MS = 30_000;
const COMMAND_TIMEOUT_MS = 90_000;
const ISOLATE = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** How namespaces can be had here, or why they cannot. */
export type Ability = { means: "root" | "user" } | { means: null; reason: string };

export function sandboxAbility(): Ability {
  if (process.platform !== "linux") return { means: null, reason: "network namespaces exist on Linux alone" };
  if (spawnSync("nsenter", ["--version"]).status !== 0) return { means: null, reason: "nsenter is not installed" };
  const tries: string[] = [];
  for (const means of process.getuid?.() === 0 ? (["root", "user"] as const) : (["user"] as const)) {
    const tried = spawnSync("unshare", [...isolation(means), "true"], { encoding: "utf8", timeout: START_TIMEOUT_MS });
    if (tried.status === 0) return { means };
    tries.push(tried.error?.message ?? tried.stderr.trim());
  }
  return { means: null, reason: `no network namespace can be made here (${[...new Set(tries)].join("; ")})` };
}

export class Sandbox {
  readonly url: string;
  readonly #holder: ChildProcess;
  readonly #means: "root" | "user";

  private constructor(holder: ChildProcess, means: "root" | "user", url: string) {
    this.#holder = holder;
    this.#means = means;
    this.url = url;
  }

  static async start(options: { scenarios: string; received: string }): Promise<Sandbox> {
    const ability = sandboxAbility();
    if (ability.means === null) throw new Error(ability.reason);
    const server = [process.execPath, join(import.meta.dir, "inside.ts"), options.scenarios, options.received];
    // A shell comes first because it takes in orphans; the server's runtime would leave them as zombies.
    const first = ["sh", "-c", '"$@"; exit $?', "sh", ...server];
    const holder = spawn("unshare", [...isolation(ability.means), ...first], { stdio: ["pipe", "pipe", "pipe"] });
    return new Sandbox(holder, ability.means, await firstLine(holder));
  }

  /** The command line that runs `command` inside, for whoever starts processes in their own way. */
  enter(command: string[]): string[] {
    const of = (name: string) => `/proc/${this.#holder.pid}/ns/${name}`;
    const user = this.#means === "user" ? [`--user=${of("user")}`, "--preserve-credentials"] : [];
    const spaces = [`--net=${of("net")}`, `--pid=${of("pid_for_children")}`, `--mount=${of("mnt")}`];
    return ["nsenter", ...user, ...spaces, "--", ...command];
  }

  run(command: string[], options: Command): Promise<Finished> {
    // Entering a mount namespace loses the working directory.
    const [file = "", ...args] = this.enter(["sh", "-c", 'cd "$0" && exec "$@"', options.cwd, ...command]);
    return finish(spawn(file, args, { env: options.env }), options);
  }

  async stop(): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#holder.once("exit", resolve));
    this.#holder.stdin?.end();
    const impatience = setTimeout(() => this.#holder.kill("SIGKILL"), 5_000);
    await gone;
    clearTimeout(impatience);
  }
}

function isolation(means: "root" | "user"): string[] {
  return means === "user" ? ["--map-root-user", ...ISOLATE] : ISOLATE;
}

function firstLine(holder: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let complaint = "";
    const fail = (why: string) => {
      holder.kill("SIGKILL");
      reject(new Error(`the sandbox did not start: ${why}\n${complaint}`));
    };
    const impatience = setTimeout(() => fail("timed out"), START_TIMEOUT_MS);
    holder.stderr?.on("data", (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    holder.once("error", (error) => fail(error.message));
    holder.once("exit", (code) => fail(`exit ${code}`));
    if (!holder.stdout) return fail("no output");
    createInterface({ input: holder.stdout }).once("line", (line) => {
      clearTimeout(impatience);
      holder.removeAllListeners("exit");
      resolve((JSON.parse(line) as { url: string }).url);
    });
  });
}

function finish(child: ChildProcess, options: Command): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const output = { stdout: "", stderr: "" };
    // What was started inside cannot be reached by a signal from here; it ends with the sandbox.
    const impatience = setTimeout(() => {
      child.kill("SIGKILL");
      resolve({ code: 124, ...output });
    }, options.timeoutMs ?? COMMAND_TIMEOUT_MS);
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(impatience);
      resolve({ code: code ?? 128, ...output });
    });
    child.stdin?.end(options.input ?? "");
  });
}
