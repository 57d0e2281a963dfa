/**
 * Random histories: two agents, whose turns may overlap, and the user, all in the same few files. Undoing a turn gives
 * what the history without it would have given, wherever that has an answer, and a conflict everywhere else.
 */
import { expect, test } from "bun:test";
import { chmodSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import fc from "fast-check";
import { ScriptedSession } from "../../test/support/dispatching.ts";
import { type TemporaryRepository, temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome, runs } from "../../test/support/own-process.ts";
import type { Workspace } from "../git/workspace.ts";
import { applyRedo, planRedo } from "./redo.ts";
import { obstacles } from "./types.ts";
import { applyUndo, planUndo } from "./undo.ts";

ownHome();

const SLOTS = 4;
const TIMEOUT_MS = 120_000;

/** One file through all of its names. Lines that can change stand far enough apart to be told apart. */
interface Thing {
  name: string;
  executable: boolean;
  slots: number[];
}
type World = Map<number, Thing>;

type Op = { do: "set"; thing: number; slot: number } | { do: "create" | "remove" | "rename" | "chmod"; thing: number };
interface Work {
  by: "ada" | "bob" | "user";
  ops: Op[];
  /** A turn of the other agent's, from beginning to end, and what is done after it. */
  inner: { ops: Op[]; after: Op[] } | null;
}

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("set" as const), thing: fc.nat(9), slot: fc.nat(SLOTS - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), thing: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("remove" as const, "rename" as const, "chmod" as const),
      thing: fc.nat(9),
    }),
  },
);
const ops = fc.array(op, { minLength: 1, maxLength: 3 });
const history = fc.array(
  fc.record({
    by: fc.constantFrom("ada" as const, "bob" as const, "user" as const),
    ops,
    inner: fc.option(fc.record({ ops, after: ops }), { freq: 4, nil: null }),
  }),
  { minLength: 2, maxLength: 4 },
);

/** A turn as it was: the worlds around it, and the files that it is known to have changed. */
interface Turn {
  step: string;
  before: World;
  after: World;
  files: Set<string>;
  /** Files that it changed before and after a turn within it. */
  around: Set<string>;
  overlaps: Turn[];
}

class Play implements Disposable {
  readonly repository: TemporaryRepository;
  readonly workspace: Workspace;
  readonly world: World = new Map();
  readonly turns: Turn[] = [];
  #counter = 0;
  #agents: Record<"ada" | "bob", ScriptedSession>;

  private constructor(repository: TemporaryRepository, workspace: Workspace) {
    this.repository = repository;
    this.workspace = workspace;
    this.#agents = { ada: new ScriptedSession(repository, workspace), bob: new ScriptedSession(repository, workspace) };
  }

  static async begin(): Promise<Play> {
    const repository = temporaryRepository();
    const play = new Play(repository, await enabledWorkspace(repository.path));
    for (let i = 0; i < 3; i++) play.#apply({ do: "create", thing: 0 });
    return play;
  }

  async perform({ by, ops, inner }: Work): Promise<void> {
    if (by === "user") {
      for (const one of ops) this.#apply(one);
      return;
    }
    const outer = await this.#begin(by);
    for (const one of ops) this.#apply(one, by);
    if (inner) {
      const other = by === "ada" ? "bob" : "ada";
      const within = await this.#begin(other);
      for (const name of changedNames(outer.before, within.before)) outer.around.add(name);
      for (const one of inner.ops) this.#apply(one, other);
      await this.#end(other, within);
      for (const one of inner.after) this.#apply(one, by);
      within.overlaps.push(outer);
      outer.overlaps.push(within);
      for (const name of changedNames(within.after, this.world)) outer.around.add(name);
    }
    await this.#end(by, outer);
  }

  async #begin(who: "ada" | "bob"): Promise<Turn> {
    await this.#agents[who].begin("Work");
    const before = copyOf(this.world);
    const turn: Turn = { step: "", before, after: before, files: new Set(), around: new Set(), overlaps: [] };
    this.turns.push(turn);
    return turn;
  }

  async #end(who: "ada" | "bob", turn: Turn): Promise<void> {
    await this.#agents[who].end();
    const last = this.#agents[who].steps.at(-1);
    turn.step = last?.id ?? "";
    turn.files = new Set(Object.values(last?.files ?? {}).flat());
    turn.after = copyOf(this.world);
  }

  /** Does it to the world and to the files; an agent's transcript tells of it. */
  #apply(one: Op, who?: "ada" | "bob"): void {
    const ids = [...this.world.keys()];
    const id = ids[one.thing % Math.max(1, ids.length)];
    const thing = id === undefined ? undefined : this.world.get(id);
    if (one.do === "create") {
      const fresh = { name: `file-${this.#count()}.txt`, executable: false, slots: Array<number>(SLOTS).fill(0) };
      const made = this.#count();
      this.world.set(made, fresh);
      this.#tell(who, fresh.name);
      this.#write(made, fresh);
    } else if (id !== undefined && thing) {
      this.#tell(who, thing.name);
      const changed = { ...thing, slots: [...thing.slots] };
      if (one.do === "remove") {
        this.world.delete(id);
        rmSync(this.repository.at(thing.name));
        return;
      }
      if (one.do === "set") changed.slots[one.slot] = this.#count();
      if (one.do === "chmod") changed.executable = !thing.executable;
      if (one.do === "rename") {
        // No name is ever used again.
        changed.name = `file-${this.#count()}.txt`;
        renameSync(this.repository.at(thing.name), this.repository.at(changed.name));
        this.#tell(who, changed.name);
      }
      this.world.set(id, changed);
      this.#write(id, changed);
    }
  }

  #write(id: number, thing: Thing): void {
    this.repository.write(thing.name, textOf(id, thing));
    chmodSync(this.repository.at(thing.name), thing.executable ? 0o755 : 0o644);
  }

  #tell(who: "ada" | "bob" | undefined, name: string): void {
    if (!who) return;
    const id = `toolu_${this.#count()}`;
    const { transcript } = this.#agents[who];
    transcript.assistant([{ type: "tool_use", id, name: "Write", input: { file_path: this.repository.at(name) } }]);
    transcript.user([{ type: "tool_result", tool_use_id: id, content: "ok" }], "p");
  }

  #count(): number {
    return ++this.#counter;
  }

  /** What lies there, as the world would have it. */
  files(): string[] {
    const names = readdirSync(this.repository.path).filter((name) => name.startsWith("file-"));
    return names
      .map((name) =>
        lineOf(name, readFileSync(this.repository.at(name), "utf8"), isExecutable(this.repository.at(name))),
      )
      .sort();
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

function isExecutable(path: string): boolean {
  return (lstatSync(path).mode & 0o100) !== 0;
}

function lineOf(name: string, text: string, executable: boolean): string {
  return `${name} ${executable ? "x" : "-"} ${text}`;
}

function textOf(id: number, { slots }: Thing): string {
  return slots
    .map((value, slot) => {
      const around = (n: number) => `thing ${id}, slot ${slot}, line ${n} of those that stay\n`;
      return `${around(1)}${around(2)}${around(3)}value ${value}\n${around(4)}${around(5)}`;
    })
    .join("");
}

function shownWorld(world: World): string[] {
  return [...world].map(([id, thing]) => lineOf(thing.name, textOf(id, thing), thing.executable)).sort();
}

function changedNames(before: World, after: World): string[] {
  const ids = new Set([...before.keys(), ...after.keys()]);
  return [...ids].flatMap((id) => {
    const [was, is] = [before.get(id), after.get(id)];
    return same(was, is) ? [] : [was?.name, is?.name].filter((name) => name !== undefined);
  });
}

function copyOf(world: World): World {
  return new Map([...world].map(([id, thing]) => [id, { ...thing, slots: [...thing.slots] }]));
}

/** The history without the turn; undefined where it has no answer. */
function without(turn: Turn, present: World): World | undefined {
  // Two agents in one file at the same time: nobody can tell whose a line is.
  const files = [...turn.files, ...turn.around];
  if (turn.overlaps.some((other) => files.some((path) => other.files.has(path)))) return undefined;
  const own = (thing: Thing | undefined) => thing !== undefined && turn.files.has(thing.name);
  const result = copyOf(present);
  for (const id of new Set([...turn.before.keys(), ...turn.after.keys()])) {
    const [before, after, now] = [turn.before.get(id), turn.after.get(id), present.get(id)];
    if ((!own(before) && !own(after)) || same(before, after)) continue;
    if (same(now, before)) continue;
    if (same(now, after)) {
      if (before) result.set(id, before);
      else result.delete(id);
    } else if (before && after && now) {
      const merged = mergedThing(before, after, now);
      if (!merged) return undefined;
      result.set(id, merged);
    } else if (!(before === undefined && now === undefined)) return undefined;
  }
  return result;
}

function mergedThing(before: Thing, after: Thing, now: Thing): Thing | undefined {
  const name = pick(before.name, after.name, now.name);
  const slots = now.slots.map((value, i) => pick(before.slots[i], after.slots[i], value));
  if (name === undefined || slots.some((value) => value === undefined)) return undefined;
  const executable = after.executable === before.executable ? now.executable : before.executable;
  return { name, slots: slots as number[], executable };
}

function pick<T>(before: T, after: T, now: T): T | undefined {
  if (before === after || now === before) return now;
  return now === after ? before : undefined;
}

function same(a: Thing | undefined, b: Thing | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

test(
  "undoing a turn gives the history without it, or a conflict",
  async () => {
    const seen = { clean: 0, conflicts: 0 };
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), fc.option(fc.nat(), { freq: 2 }), async (works, one, another) => {
        using play = await Play.begin();
        for (const work of works) await play.perform(work);
        const chosen = [one, another ?? one].map((at) => play.turns[at % Math.max(1, play.turns.length)]);
        const turns = [...new Set(chosen)].filter((turn) => turn !== undefined);
        if (turns.length === 0 || turns.some((turn) => turns.some((other) => turn.overlaps.includes(other)))) return;
        // The newest is taken back first.
        const newestFirst = play.turns.toReversed().filter((turn) => turns.includes(turn));
        const expected = newestFirst.reduce<World | undefined>(
          (world, turn) => world && without(turn, world),
          play.world,
        );
        const present = play.files();
        const plan = await planUndo(
          play.workspace,
          turns.map(({ step }) => step),
        );
        const conflicts = obstacles(plan).map(({ path, reason }) => `${path}: ${reason.kind}`);
        expect({ conflicts: conflicts.length > 0, which: conflicts }).toEqual({
          conflicts: expected === undefined,
          which: expected === undefined ? expect.any(Array) : [],
        });
        if (!expected) {
          seen.conflicts++;
          return;
        }
        seen.clean++;
        const changes = plan.write.length + plan.delete.length + plan.chmod.length;
        if (changes > 0) await applyUndo(play.workspace, plan);
        expect(play.files()).toEqual(shownWorld(expected));
        if (changes === 0) return;
        await applyRedo(play.workspace, await planRedo(play.workspace));
        expect(play.files()).toEqual(present);
      }),
      runs(20),
    );
    expect(seen.clean).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
