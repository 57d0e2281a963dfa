/** A real network between a machine and the hub: a pair of interfaces into a network namespace, pulled and slowed down. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { Random } from "../fuzz/random.ts";
import { executable } from "../support/binary.ts";
import { ScriptedClaude, type TemporaryRepository, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { status, Team } from "./team.ts";

const SKIP = mayUseNamespaces() ? null : "network namespaces are not permitted here (they need root and iproute2)";
if (SKIP) console.warn(`Tests of the hub with a real network are skipped: ${SKIP}.`);

describe.skipIf(postgresPrograms === null || SKIP !== null)("a separate network", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("pulled at random moments of sending: nothing is lost, nothing twice", async () => {
    using network = new Network("c");
    await using team = await Team.start(cluster);
    await team.end();
    await team.serve(["--listen", `${network.hubAddress}:0`, "--behind-proxy"]);
    const ada = await team.machine();
    await network.run(ada, ["team", "join", await team.invite("ada"), "--insecure", "--device", "laptop"]);
    const claude = new ScriptedClaude(ada);
    const source = new Random(12);
    let failed = 0;
    for (let i = 1; i <= 4; i++) {
      await claude.turn(`Prompt ${i}`, [write(`${i}.txt`, `${i}\n`)]);
      // A cut is noticed when the time for an answer is over: the machine would wait for thirty seconds.
      const sending = network.run(ada, ["team", "send"], 4_000);
      if (i % 2 === 0) network.pull();
      else setTimeout(() => network.pull(), source.below(400));
      if ((await sending) !== 0) failed++;
      network.plug();
    }
    expect(failed).toBeGreaterThan(0);
    expect(await network.run(ada, ["team", "send"])).toBe(0);
    expect(team.rows("SELECT count(*), count(DISTINCT number) FROM backtrail.turns")).toEqual(["4|4"]);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, sent: 4, failure: null });
  }, 300_000);

  test("slow: everything arrives once", async () => {
    using network = new Network("s");
    await using team = await Team.start(cluster);
    await team.end();
    await team.serve(["--listen", `${network.hubAddress}:0`, "--behind-proxy"]);
    const ada = await team.machine();
    await network.run(ada, ["team", "join", await team.invite("ada"), "--insecure", "--device", "laptop"]);
    const isSlow = network.slow();
    if (!isSlow) console.warn("The kernel cannot slow this network down; it is only narrowed.");
    const claude = new ScriptedClaude(ada);
    const long = Array.from({ length: 3_000 }, (_, i) => `word${i}`).join(" ");
    for (let i = 1; i <= 3; i++) await claude.turn(`${long} ${i}`, [write(`${i}.txt`, `${i}\n`)]);
    expect(await network.run(ada, ["team", "share", "everything"], 120_000)).toBe(0);
    expect(await network.run(ada, ["team", "send"], 120_000)).toBe(0);
    expect(team.rows("SELECT count(*), count(DISTINCT number) FROM backtrail.turn_texts")).toEqual(["3|3"]);
    expect(team.log).toBe("");
  }, 300_000);
});

/** Two ends of a cable: one here, where the hub listens, and one in a namespace, where machines run. */
class Network {
  readonly #name: string;
  readonly #here: string;
  readonly #there: string;
  readonly #subnet: string;

  constructor(letter: string) {
    const id = process.pid % 60_000;
    this.#name = `backtrail-${letter}${id}`;
    this.#here = `bt${letter}${id}h`;
    this.#there = `bt${letter}${id}t`;
    this.#subnet = `10.${200 + (letter.charCodeAt(0) % 50)}.${id % 250}`;
    ip("netns", "add", this.#name);
    ip("link", "add", this.#here, "type", "veth", "peer", "name", this.#there, "netns", this.#name);
    ip("addr", "add", `${this.#subnet}.1/30`, "dev", this.#here);
    ip("-n", this.#name, "addr", "add", `${this.#subnet}.2/30`, "dev", this.#there);
    ip("-n", this.#name, "link", "set", "lo", "up");
    this.plug();
  }

  get hubAddress(): string {
    return `${this.#subnet}.1`;
  }

  pull(): void {
    ip("link", "set", this.#here, "down");
  }

  plug(): void {
    ip("link", "set", this.#here, "up");
    ip("-n", this.#name, "link", "set", this.#there, "up");
  }

  /** 200 ms of delay and 5 % loss, or 256 kbit/s where the kernel has no emulator. Returns whether it has one. */
  slow(): boolean {
    const on = ["qdisc", "add", "dev", this.#here, "root"];
    if (spawnSync("tc", [...on, "netem", "delay", "200ms", "loss", "5%"]).status === 0) return true;
    spawnSync("tc", [...on, "tbf", "rate", "256kbit", "burst", "10kb", "latency", "400ms"]);
    return false;
  }

  /** Runs the program on a machine in the namespace; returns its exit status, null if it was killed. */
  run(machine: TemporaryRepository, args: readonly string[], timeout = 60_000): Promise<number | null> {
    const child = spawn("ip", ["netns", "exec", this.#name, executable(), ...args], {
      cwd: machine.path,
      env: machine.environment(),
      stdio: "ignore",
      timeout,
      killSignal: "SIGKILL",
    });
    return new Promise((resolve) => child.once("exit", resolve));
  }

  [Symbol.dispose](): void {
    spawnSync("ip", ["link", "del", this.#here]);
    spawnSync("ip", ["netns", "del", this.#name]);
  }
}

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

function mayUseNamespaces(): boolean {
  if (process.getuid?.() !== 0) return false;
  const name = `backtrail-probe-${process.pid}`;
  const made = spawnSync("ip", ["netns", "add", name]).status === 0;
  spawnSync("ip", ["netns", "del", name]);
  return made;
}
