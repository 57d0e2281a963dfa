/** Runs a program in a new world, with the oracle looking at it after each operation. */
import { existsSync } from "node:fs";
import { Random } from "../fuzz/random.ts";
import type { Scene } from "./actors/action.ts";
import { Agents } from "./actors/agents.ts";
import { type Census, takeCensus } from "./census.ts";
import { CLOCK_SOURCE, clockEnvironment } from "./clock.ts";
import { withDisk } from "./disk.ts";
import { fakeAgent } from "./fake-agent.ts";
import type { Ended, Invocation } from "./invocation.ts";
import { type Meanwhile, NO_AGENT, Oracle, type Violation } from "./model.ts";
import { type Moment, momentOf } from "./moments.ts";
import { ACTIONS, type Operation, type Program } from "./program.ts";
import { quiet, removeLocks } from "./quiet.ts";
import { settle } from "./variants.ts";
import { World } from "./world.ts";

export interface Figures {
  operations: number;
  commands: number;
  kills: number;
  contents: number;
  steps: number;
}

export interface Outcome {
  violations: Violation[];
  /** Which operation they came with; the number of operations, if they came at the end. */
  at: number;
  figures: Figures;
  script: string;
}

/** How long each kind of command took the last time, in milliseconds. */
const DURATIONS = new Map<string, number>();
const USUAL_MS = 50;

export class Execution implements Disposable {
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #agents = new Agents();
  readonly #figures: Figures = { operations: 0, commands: 0, kills: 0, contents: 0, steps: 0 };
  #census: Census;
  /** By step: what was there when it was saved. */
  readonly moments = new Map<string, Moment>();
  /** How the last command ended. */
  ended: Ended | null = null;

  constructor(program: Program, executable: string) {
    this.#world = new World(program.variant, executable);
    settle(this.#world, new Random(program.seed));
    fakeAgent(this.#world);
    this.#oracle = new Oracle(this.#world);
    this.#census = takeCensus(this.#world);
  }

  async run(program: Program, finish: (execution: Execution) => Promise<Violation[]>): Promise<Outcome> {
    const enable = {
      name: "enable",
      cwd: this.#world.repository,
      args: ["enable", "--agent", "claude-code", "gemini"],
    };
    await this.command(enable);
    // Without recording nothing could be lost, and nothing would be found.
    if (this.ended?.code !== 0) throw new Error(`Recording could not be turned on: ${this.ended?.stderr}`);
    for (const [at, operation] of program.operations.entries()) {
      this.#world.script.comment(`${at}: ${JSON.stringify(operation)}`);
      const violations = await this.#perform(operation);
      this.#figures.operations += 1;
      if (violations.length > 0) return this.#outcome(violations, at);
    }
    return this.#outcome(await finish(this), program.operations.length);
  }

  get world(): World {
    return this.#world;
  }

  get agents(): Agents {
    return this.#agents;
  }

  get census(): Census {
    return this.#census;
  }

  /** Judges what somebody else than Backtrail did. */
  look(): Violation[] {
    return this.#look((before, after) => this.#oracle.othersDid(before, after));
  }

  #outcome(violations: Violation[], at: number): Outcome {
    this.#figures.contents = this.#oracle.contents.size;
    this.#figures.steps = this.#world.steps.length;
    return { violations, at, figures: this.#figures, script: this.#world.script.toString() };
  }

  async #perform(operation: Operation): Promise<Violation[]> {
    const action = ACTIONS[operation.what];
    if (!action) throw new Error(`Nobody knows how to "${operation.what}".`);
    const { kill } = operation;
    this.#world.where = operation.where;
    if (kill && "part" in kill && action.git) this.#world.gitKill = this.#delay(operation.what, kill.part);
    const isKilledGit = this.#world.gitKill !== null;
    const began = performance.now();
    const invocation = action.run(this.#scene(operation.seed));
    if (action.git && !isKilledGit) DURATIONS.set(operation.what, performance.now() - began);
    this.#world.gitKill = null;
    if (this.#world.isChanged) {
      // Hooks of git's have their own workers.
      await quiet(this.#world);
      if (isKilledGit) removeLocks(this.#world);
      const violations = this.look();
      if (violations.length > 0) return violations;
    }
    if (!invocation) return [];
    return this.command(invocation, operation);
  }

  #scene(seed: number): Scene {
    return { world: this.#world, random: new Random(seed), agents: this.#agents };
  }

  /** Runs one command of Backtrail's and judges it. */
  async command(invocation: Invocation, operation: Partial<Operation> = {}): Promise<Violation[]> {
    if (!existsSync(invocation.cwd)) return [];
    const { ended, meanwhile } = await withDisk(this.#world, operation.disk, () => this.#start(invocation, operation));
    this.ended = ended;
    this.#figures.commands += 1;
    if (ended.killed) this.#figures.kills += 1;
    await quiet(this.#world);
    if (ended.killed) removeLocks(this.#world);
    this.#noteSettings(invocation, ended);
    const steps = this.#world.steps.length;
    const violations = this.#look((before, after) =>
      this.#oracle.commandDid(invocation, ended, before, after, meanwhile),
    );
    if (violations.length > 0) return violations;
    this.#noteMoment(invocation, ended, steps, meanwhile);
    if (invocation.then) {
      invocation.then();
      this.look();
    }
    if (invocation.told && ended.code === 0 && !operation.disk) this.#agents.told.push(invocation.told);
    return [];
  }

  async #start(invocation: Invocation, operation: Partial<Operation>): Promise<{ ended: Ended; meanwhile: Meanwhile }> {
    const { kill, clock } = operation;
    const env = {
      ...(kill && "point" in kill ? { BACKTRAIL_FAULT: kill.point } : {}),
      ...(clock === undefined ? {} : clockEnvironment(clock)),
    };
    const timed =
      kill && "part" in kill ? { ms: this.#delay(invocation.name, kill.part), alone: kill.alone } : undefined;
    this.#writeDown(invocation, env, timed);
    const running = this.#world.start(invocation, { env, ...(timed ? { kill: timed } : {}) });
    const others = operation.meanwhile ?? [];
    const began = performance.now();
    if (others.length === 0) {
      const ended = await running;
      if (!ended.killed) DURATIONS.set(invocation.name, performance.now() - began);
      return { ended, meanwhile: NO_AGENT };
    }
    const { written, removed, touched } = this.#world;
    for (const noted of [written, removed, touched]) noted.clear();
    let git = false;
    for (const { part, operation: other } of others) {
      const ms = this.#delay(invocation.name, part);
      await Bun.sleep(Math.max(0, ms - (performance.now() - began)));
      this.#world.script.comment(`  meanwhile, after ${ms} ms: ${other.what}`);
      const action = ACTIONS[other.what];
      const next = action?.run(this.#scene(other.seed));
      git ||= action?.git ?? false;
      // A hook of another agent, at the same time.
      if (next) {
        this.#writeDown(next, {}, undefined);
        await this.#world.start(next, {});
        next.then?.();
      }
      this.#figures.operations += 1;
    }
    const ended = await running;
    const meanwhile = {
      written: new Set(written),
      removed: new Set(removed),
      touched: new Set(touched),
      git,
      any: true,
    };
    return { ended, meanwhile };
  }

  /** In milliseconds, by how long it took the last time. */
  #delay(what: string, part: number): number {
    return Math.round(part * (DURATIONS.get(what) ?? USUAL_MS));
  }

  #look(judge: (before: Census, after: Census) => Violation[]): Violation[] {
    const before = this.#census;
    this.#world.isChanged = false;
    this.#census = takeCensus(this.#world);
    const fresh = [...this.#census.steps].filter(([id]) => !this.#world.steps.includes(id));
    this.#world.steps.push(...fresh.sort(([, a], [, b]) => a.number - b.number).map(([id]) => id));
    return judge(before, this.#census);
  }

  /** A step that was just saved in peace holds what is there now. */
  #noteMoment({ cwd, args }: Invocation, ended: Ended, stepsBefore: number, meanwhile: Meanwhile): void {
    const fresh = this.#world.steps.slice(stepsBefore);
    if (args[0] !== "save" || ended.code !== 0 || meanwhile.any || fresh.length !== 1) return;
    const moment = momentOf(this.#world, this.#world.placeOf(cwd), this.#census);
    for (const id of fresh) this.moments.set(id, moment);
  }

  /** Settings that the oracle has to know of. */
  #noteSettings({ args }: Invocation, ended: Ended): void {
    if (ended.code === 0 && args[0] === "config" && args[2] === "strategy" && args[3] === "auto-commit")
      this.#oracle.autoCommit = true;
  }

  #writeDown(
    { cwd, args, input, env = {} }: Invocation,
    extra: Record<string, string>,
    kill: { ms: number; alone: boolean } | undefined,
  ): void {
    const { script, steps } = this.#world;
    if (extra["LD_PRELOAD"]) script.addOnce(`cc -shared -fPIC -o "$T/clock.so" -x c - -ldl <<'EOF'${CLOCK_SOURCE}EOF`);
    const words = args.map((word) => (steps.includes(word) ? `"$(step ${steps.indexOf(word)})"` : script.quote(word)));
    const set = Object.entries({ ...env, ...extra }).map(
      ([name, value]) => `${name}=${name === "LD_PRELOAD" ? '"$T/clock.so"' : script.quote(value)} `,
    );
    const limit = kill ? `timeout ${kill.alone ? "--foreground " : ""}-s KILL ${kill.ms / 1000} ` : "";
    const fed = input === undefined ? "" : `printf %s ${script.quote(input)} | `;
    script.add(
      `(cd ${script.quote(cwd)} && ${fed}${set.join("")}${limit}"$BT" ${words.join(" ")}${input === undefined ? " </dev/null" : ""})`,
    );
  }

  [Symbol.dispose](): void {
    this.#world[Symbol.dispose]();
  }
}
