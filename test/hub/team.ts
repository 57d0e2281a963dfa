/** A hub as its own process on the loopback interface, and machines of people who share with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { executable, runBinary } from "../support/binary.ts";
import { TemporaryDirectory } from "../support/directory.ts";
import { cleanEnvironment } from "../support/environment.ts";
import type { PostgresCluster } from "../support/postgres.ts";
import { TemporaryRepository } from "../support/repository.ts";

export interface TeamStatus {
  team: { url: string; person: string; role: string } | null;
  repository: string | null;
  level: string | null;
  waiting: { turns: number; forgotten: number };
  sent: number;
  failure: { kind: string; message: string; next: string | null } | null;
}

/** A repository whose background work, sending included, runs only if a test asks for it. */
class Machine extends TemporaryRepository {
  override environment(extra: Record<string, string | undefined> = {}): Record<string, string> {
    return super.environment({ BACKTRAIL_WORKER: "off", ...extra });
  }
}

export class Team {
  readonly database: string;
  readonly #cluster: PostgresCluster;
  readonly #home = new TemporaryDirectory();
  readonly #machines: TemporaryRepository[] = [];
  #hub: ChildProcess | undefined;
  #log = "";
  url = "";

  private constructor(cluster: PostgresCluster, tablespace: string | undefined) {
    this.#cluster = cluster;
    this.database = cluster.create(tablespace);
  }

  static async start(cluster: PostgresCluster, tablespace?: string): Promise<Team> {
    const team = new Team(cluster, tablespace);
    await team.hub(["init"]);
    await team.serve();
    return team;
  }

  /** What the hub has written to its log. */
  get log(): string {
    return this.#log;
  }

  get hubProcess(): ChildProcess {
    if (!this.#hub) throw new Error("The hub does not run.");
    return this.#hub;
  }

  environment(): Record<string, string> {
    return cleanEnvironment(this.#home.path, { BACKTRAIL_HUB_DATABASE: this.database });
  }

  /** Starts `hub serve` on the same port as before, if there was one. */
  async serve(args: readonly string[] = []): Promise<void> {
    const address = this.url === "" ? "127.0.0.1:0" : new URL(this.url).host;
    const child = spawn(executable(), ["hub", "serve", "--json", "--listen", address, "--metrics", ...args], {
      cwd: this.#home.path,
      env: this.environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#hub = child;
    child.stderr.on("data", (data: Buffer) => {
      this.#log += data.toString();
    });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let printed = "";
    child.stdout.on("data", (data: Buffer) => {
      printed += data.toString();
      if (printed.includes("\n")) resolve(printed.split("\n")[0] ?? "");
    });
    child.once("exit", (code) => reject(new Error(`The hub ended with ${code}: ${this.#log}`)));
    this.url = (JSON.parse(await promise) as { url: string }).url;
  }

  /** Ends the hub, and returns its exit status. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.#hub;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.kill(signal);
    return ended;
  }

  /** Runs a `hub` command on the server. */
  async hub<T = unknown>(args: readonly string[]): Promise<T> {
    const result = await runBinary(["hub", ...args, "--json"], { cwd: this.#home.path, env: this.environment() });
    if (result.code !== 0)
      throw new Error(`backtrail hub ${args.join(" ")} ended with ${result.code}: ${result.stderr}`);
    return JSON.parse(result.stdout) as T;
  }

  async invite(person: string, ...options: string[]): Promise<string> {
    const { link } = await this.hub<{ link: string }>(["token", "invite", person, "--url", this.url, ...options]);
    return link;
  }

  /** A person's machine with a clone of the team's repository, and its recording turned on. */
  async machine(origin = "https://git.example/acme/shop.git"): Promise<TemporaryRepository> {
    const machine = new Machine();
    this.#machines.push(machine);
    machine.git("init", "--quiet", "--initial-branch=main");
    machine.write("README.md", "# Shop\n");
    machine.commit("first");
    machine.git("remote", "add", "origin", origin);
    await machine.run(["enable", "--agent", "claude-code"]);
    return machine;
  }

  /** A machine that has joined as this person. */
  async member(person: string, ...options: string[]): Promise<TemporaryRepository> {
    const machine = await this.machine();
    await machine.json(["team", "join", await this.invite(person, ...options), "--device", `${person}'s laptop`]);
    return machine;
  }

  /** Rows as the owner of the database sees them. */
  rows(sql: string): string[] {
    return this.#cluster.query(this.database, sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
    for (const machine of this.#machines) machine.remove();
    this.#home.remove();
  }
}

export function status(machine: TemporaryRepository): Promise<TeamStatus> {
  return machine.json<TeamStatus>(["team", "status"]);
}

/** Waits for a condition, with a generous limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("The condition did not become true.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
