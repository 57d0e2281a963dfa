/**
 * Two machines that share a repository, at work and syncing at the same time, each killed at random. Whatever happens, nobody ever has fewer
 * checkpoints than before; and when both have synced in peace, both have all of them, and what one has forgotten stays forgotten there.
 */
import { spawn } from "node:child_process";
import type { Random } from "../fuzz/random.ts";
import { settled } from "../journeys/commits.ts";
import { BRANCH, checkpointsIn, Shared, work } from "../journeys/synced.ts";
import { executable, ScriptedClaude, type TemporaryRepository } from "../support/index.ts";

interface Machine {
  name: string;
  repository: TemporaryRepository;
  git(...args: string[]): string;
  /** Whatever it was ever seen to have. */
  has: Set<string>;
  forgotten: Said[];
}

/** A conversation: the words by which it is found, and its checkpoint. */
interface Said {
  words: string;
  session: string;
  id: string;
  by: Machine;
}

export class TwoMachines implements Disposable {
  readonly #shared = new Shared();
  readonly #random: Random;
  readonly #machines: Machine[] = [];
  readonly #all: Said[] = [];
  /** How long a sync takes in peace. */
  #takesMs = 0;
  kills = 0;
  late = 0;

  private constructor(random: Random) {
    this.#random = random;
  }

  static async updateFromEvent(random: Random): Promise<TwoMachines> {
    const two = new TwoMachines(random);
    try {
      for (const name of ["Ada", "Bob"]) {
        const repository = await two.#shared.machine();
        const environment = repository.environment.bind(repository);
        repository.environment = (extra) => environment({ BACKTRAIL_WORKER: "off", ...extra });
        const git = repository.checkpoints.bind(repository);
        two.#machines.push({ name, repository, git, has: new Set(), forgotten: [] });
      }
      await two.#work(two.#machines[0] as Machine);
      await two.settle();
    } catch (error) {
      two[Symbol.dispose]();
      throw error;
    }
    return two;
  }

  /** One of them has worked, then both do something at once, and may be killed. */
  async round(): Promise<void> {
    await this.#work(this.#random.pick(this.#machines));
    const deeds = this.#machines.map((machine) => this.#deed(machine));
    await Promise.all(deeds.map(({ machine, args }) => this.#killed(machine, args)));
    for (const { machine, forgets } of deeds) if (forgets) await this.#forgetWholly(machine, forgets);
    for (const machine of this.#machines) this.#nothingIsLost(machine);
  }

  /** Both sync in peace. */
  async settle(): Promise<void> {
    const [ada, bob] = this.#machines as [Machine, Machine];
    const began = performance.now();
    for (const machine of [ada, bob, ada]) await run(machine, "sync", "push", "origin");
    this.#takesMs = Math.ceil((performance.now() - began) / 3);
    await run(bob, "sync", "fetch", "origin");
    const all = this.#all.map(({ id }) => id).sort();
    const there = this.#shared.git.bind(this.#shared);
    same("The remote's checkpoints", checkpointsIn(there), all);
    for (const machine of this.#machines) {
      same(`${machine.name}'s checkpoints`, checkpointsIn(machine.git), all);
      await this.#soundAt(machine);
    }
    same("git fsck there", there("fsck", "--strict", "--no-dangling"), "");
    for (const { id } of this.#all.filter((said) => !this.#isForgotten(said))) {
      const path = `${BRANCH}:${id.slice(0, 2)}/${id.slice(2)}`;
      same(`The checkpoint ${id}`, ada.git("rev-parse", path), bob.git("rev-parse", path));
      same(`The checkpoint ${id} there`, there("rev-parse", path), bob.git("rev-parse", path));
    }
  }

  #isForgotten(said: Said): boolean {
    return this.#machines.some(({ forgotten }) => forgotten.includes(said));
  }

  async #soundAt(machine: Machine): Promise<void> {
    const { repository } = machine;
    for (const git of [machine.git, repository.git.bind(repository)])
      same(`git fsck at ${machine.name}'s`, git("fsck", "--strict", "--no-dangling"), "");
    await run(machine, "doctor", "--fix");
    for (const said of this.#all) {
      const isForgotten = machine.forgotten.includes(said);
      // What another has forgotten may have gone from here as well.
      if (!isForgotten && this.#isForgotten(said)) continue;
      const what = `${said.words}, which ${machine.name} has${isForgotten ? "" : " not"} forgotten, is there`;
      same(what, isSaid(machine, said), !isForgotten);
    }
  }

  async #work(by: Machine): Promise<void> {
    const words = `PushRequest ${this.#all.length} of ${by.name}`;
    const claude = new ScriptedClaude(by.repository);
    const id = await work(by.repository, words, `${words}.txt`, claude);
    this.#all.push({ words, session: claude.session, id, by });
    by.has.add(id);
  }

  #deed(machine: Machine): { machine: Machine; args: string[]; forgets?: Said } {
    const own = this.#all.filter((said) => said.by === machine && !machine.forgotten.includes(said));
    if (own.length > 1 && this.#random.once(5)) {
      const forgets = this.#random.pick(own);
      return { machine, args: ["forget", forgets.session, "--yes"], forgets };
    }
    return { machine, args: ["sync", this.#random.once(4) ? "fetch" : "push", "origin"] };
  }

  /** Started, and mostly killed: alone, or with what it has started. */
  #killed({ repository, name }: Machine, args: string[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const [alone, spared, after] = [this.#random.once(2), this.#random.once(5), this.#random.below(this.#takesMs)];
    const child = spawn(executable(), args, {
      cwd: repository.path,
      env: repository.environment(),
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let words = "";
    child.stderr.on("data", (data: Buffer) => {
      words += data.toString("utf8");
    });
    const kill = () => {
      try {
        process.kill(alone ? (child.pid ?? 0) : -(child.pid ?? 0), "SIGKILL");
      } catch {
        // It ended at this moment.
      }
    };
    const timer = spared ? undefined : setTimeout(kill, after);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") this.kills++;
      else this.late++;
      if (signal === "SIGKILL" || code === 0) resolve();
      else reject(new Error(`${name}'s ${args.join(" ")} ended with ${code}: ${words}`));
    });
    return promise;
  }

  /** A forgetting that was killed is finished by the next command, or asked for again. */
  async #forgetWholly(machine: Machine, said: Said): Promise<void> {
    await machine.repository.run(["forget", said.session, "--yes"]);
    machine.forgotten.push(said);
  }

  #nothingIsLost(machine: Machine): void {
    const now = checkpointsIn(machine.git);
    const lost = [...machine.has].filter((id) => !now.includes(id));
    same(`What ${machine.name} has lost`, lost, []);
    for (const id of now) machine.has.add(id);
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
  }
}

async function run({ repository, name }: Machine, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await repository.run(args);
  if (code !== 0)
    throw new Error(`${name}'s ${args.join(" ")} ended with ${code}: ${stdout.replace(/^✓.*\n/gm, "")}${stderr}`);
  await settled(repository);
}

/** Whether the words stand in a conversation that is on the branch. */
function isSaid({ git }: Machine, { words }: Said): boolean {
  try {
    return git("grep", "--fixed-strings", "--files-with-matches", words, BRANCH).includes("full.jsonl");
  } catch {
    return false;
  }
}

function same(what: string, found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one}, not ${other}`);
}
