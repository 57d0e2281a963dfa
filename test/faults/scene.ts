/** One operation in a world that is put back before each kill, and what must hold after every one. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkpointsOf } from "../journeys/commits.ts";
import { World } from "./killed-world.ts";
import { killsGit, type Operation, programOf, type Start, waiting } from "./operations/operation.ts";
import { stillRunning } from "./processes.ts";

const MAX_MS = 60_000;
const KEPT = "kept";

export type End = "killed" | "done";

/** When, and whether everything goes that it has started: as when the power fails, or a person kills one process. */
interface Kill {
  point?: string;
  afterMs: number;
  alone?: boolean;
}

export class Scene implements Disposable {
  readonly operation: Operation;
  readonly #world: World;
  #before: State;
  #after: State;
  /** How long it takes when nobody kills it. */
  #takesMs = 0;

  private constructor(operation: Operation, world: World, before: State) {
    this.operation = operation;
    this.#world = world;
    this.#before = before;
    this.#after = before;
  }

  static async set(operation: Operation): Promise<Scene> {
    const world = await World.make({ BACKTRAIL_WORKER: "off" });
    try {
      await operation.prepare?.(world);
      const scene = new Scene(operation, world, await stateOf(world, operation));
      scene.#keep();
      const began = performance.now();
      const end = await scene.#run(operation.start(world), { afterMs: MAX_MS });
      scene.#takesMs = performance.now() - began;
      if (end !== "done") throw new Error(`${operation.name} does not work unharmed: ${end}`);
      operation.meanwhile?.(world);
      await scene.#demandAll(null);
      return scene;
    } catch (error) {
      world[Symbol.dispose]();
      throw error;
    }
  }

  /** Kills at a fault point. */
  killAt(point: string): Promise<End> {
    return this.#kill({ point, afterMs: MAX_MS });
  }

  /** Kills after a part of the time that it takes. */
  killAfter(part: number, alone: boolean): Promise<End> {
    return this.#kill({ afterMs: part * this.#takesMs, alone });
  }

  async #kill(kill: Kill): Promise<End> {
    await this.#putBack();
    const began = performance.now();
    const end = await this.#run(this.operation.start(this.#world), kill);
    if (end === "done") this.#takesMs = performance.now() - began;
    if (end !== "killed" && end !== "done") throw new Error(`It ended by itself: ${end}`);
    this.operation.meanwhile?.(this.#world);
    await this.#demandAll(kill);
    return end;
  }

  /** What must hold, whatever was killed when; broken invariants are thrown. Without a kill it says what "after" means. */
  async #demandAll(kill: Kill | null): Promise<void> {
    const { operation } = this;
    const world = this.#world;
    const { repository } = world;
    if (killsGit(operation, world)) {
      demandNothing(await stillRunning(repository.home), "Still running");
      releaseLocksOfGit(world);
    }
    await waitForNamelessLocks(world);
    const report = await doctor(world);
    demand(report.ok, `doctor --check: ${report.problems.join("; ")}`);
    await repository.run(["worker", repository.path]);
    demandNothing(waiting(world), "The queue was not worked off");
    const now = await stateOf(world, operation);
    if (kill === null) this.#after = now;
    const isAfter = now.whole === this.#after.whole;
    demand(isAfter || now.whole === this.#before.whole, `It is neither before nor after: ${this.#between(now)}`);
    this.#demandSealed(kill?.point, now);
    if (!operation.drops) {
      const lost = this.#before.steps.filter((id) => !now.steps.includes(id));
      demandNothing(lost, "Steps were lost");
    }
    const written = new Set(now.checkpoints);
    const promised = [...this.#before.checkpoints, ...this.#before.waiting, ...checkpointsOf(repository, "HEAD")];
    demandNothing(
      promised.filter((id) => !written.has(id)),
      "Checkpoints were lost",
    );
    demandNothing(world.leftovers(), "Left behind");
    const wrong = (await operation.wrong?.(world, isAfter)) ?? null;
    demand(wrong === null, wrong ?? "");
    demandNothing(world.leftovers(), "Left behind in the end");
    demand(repository.read("build.log") === "ignored\n", "An ignored file was touched.");
    const said = repository.git("fsck", "--no-dangling", "--strict");
    demand(said === "", `git fsck: ${said}`);
    demandNothing(await stillRunning(repository.home), "Still running");
  }

  /** What is not as after; all of it where that is as before. */
  #between({ whole }: State): string {
    const [now, after] = [whole, this.#after.whole].map((state) => JSON.parse(state) as Record<string, unknown>);
    const other = Object.entries(now ?? {}).filter(([name, value]) => !Bun.deepEquals(value, after?.[name]));
    return JSON.stringify(Object.fromEntries(other));
  }

  /** At a fault point it is known which of the two it must be. */
  #demandSealed(point: string | undefined, now: State): void {
    const { sealed, points } = this.operation;
    if (point === undefined || sealed === undefined) return;
    const isAfter = points.indexOf(point) >= points.indexOf(sealed);
    const expected = isAfter ? this.#after : this.#before;
    demand(now.whole === expected.whole, `It should be ${isAfter ? "finished" : "as if it had never been begun"}.`);
  }

  async #run(start: Start, { point, afterMs, alone }: Kill): Promise<string> {
    const { repository } = this.#world;
    const env = repository.environment({ ...start.env, ...(point ? { BACKTRAIL_FAULT: point } : {}) });
    const { promise, resolve } = Promise.withResolvers<string>();
    // A group of its own: git and what it calls are killed with it, unless it is killed alone.
    const child = spawn(programOf(start), start.args, { cwd: repository.path, env, detached: true, stdio: "pipe" });
    let said = "";
    let killed = false;
    child.stdout.resume();
    child.stderr.on("data", (data: Buffer) => {
      said += data.toString("utf8");
    });
    child.stdin.on("error", () => {});
    child.stdin.end(start.input ?? "");
    const timer = setTimeout(() => {
      killed = true;
      try {
        process.kill(alone ? (child.pid ?? 0) : -(child.pid ?? 0), "SIGKILL");
      } catch {
        // It ended at this moment.
      }
    }, afterMs);
    // Not "close": what lives on may hold its output open.
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve("killed");
      // git goes on when a hook of its own is killed, and does not tell.
      else if (killed || (point !== undefined && start.program !== undefined)) resolve("killed");
      else if (code === 0) resolve("done");
      else resolve(`${signal ?? code}: ${said.trim()}`);
    });
    return promise;
  }

  /** Everything beside the repository too: its home, forks, other repositories. */
  #keep(): void {
    const place = dirname(this.#world.repository.path);
    const names = readdirSync(place);
    mkdirSync(join(place, KEPT));
    execFileSync("cp", ["-a", ...names.map((name) => join(place, name)), join(place, KEPT)]);
  }

  async #putBack(): Promise<void> {
    const place = dirname(this.#world.repository.path);
    await stillRunning(this.#world.repository.home);
    for (const name of readdirSync(place))
      if (name !== KEPT) rmSync(join(place, name), { recursive: true, force: true });
    execFileSync("cp", ["-a", `${join(place, KEPT)}/.`, place]);
  }

  [Symbol.dispose](): void {
    this.#world[Symbol.dispose]();
  }
}

interface State {
  /** Work tree, what is staged, the agent's conversations, and what the row looks at. */
  whole: string;
  steps: string[];
  checkpoints: string[];
  waiting: string[];
}

async function stateOf(world: World, operation: Operation): Promise<State> {
  const { repository } = world;
  const branch = "refs/heads/entire/checkpoints/v1";
  const has = repository.checkpoints("for-each-ref", branch) !== "";
  const paths = has ? repository.checkpoints("ls-tree", "-d", "-r", "--name-only", branch).split("\n") : [];
  // What a killed git of the user's leaves of its index is its own affair.
  const staged = killsGit(operation, world) ? null : repository.git("ls-files", "--stage");
  const looked = (await operation.look?.(world)) ?? null;
  return {
    whole: JSON.stringify({ files: world.files(), staged, conversations: world.conversations().length, looked }),
    steps: (await world.steps()).map(({ id }) => id),
    checkpoints: paths.filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{10}$/.test(path)).map((path) => path.replace("/", "")),
    waiting: waiting(world),
  };
}

/** A git of the user's that is killed leaves its locks, with or without us: the user removes them, as git tells them to. */
function releaseLocksOfGit({ repository }: World): void {
  const names = readdirSync(repository.at(".git"), { recursive: true, encoding: "utf8" });
  for (const name of names) {
    const isGits =
      /^[^/]+\.lock$|^refs\/(?:heads|remotes\/origin)\/(?:main|work)\.lock$|^objects\/(?:.*tmp_|maintenance\.lock$)/;
    if (isGits.test(name)) rmSync(repository.at(".git", name), { force: true });
  }
}

/** A lock whose owner died before it wrote its name is only known to be dead after a while; a branch's after a longer one. */
async function waitForNamelessLocks(world: World): Promise<void> {
  const left = world.leftovers().filter((name) => name.endsWith(".lock"));
  const nameless = left.filter((name) => Bun.file(world.repository.at(".git", name)).size === 0);
  if (left.some((name) => name.startsWith("refs/heads/"))) await Bun.sleep(10_100);
  else if (nameless.length > 0) await Bun.sleep(2_100);
}

/** As the next command would: what was left half done is put right, then everything is looked at again. */
async function doctor(world: World): Promise<{ ok: boolean; problems: string[] }> {
  const { stdout, stderr } = await world.repository.run(["doctor", "--fix", "--json"]);
  const report = JSON.parse(stdout || "{}") as {
    ok?: boolean;
    findings?: { level: string; check: string; message: string }[];
  };
  const bad = report.findings?.filter(({ level }) => level === "problem") ?? [];
  return { ok: report.ok === true, problems: [stderr, ...bad.map(({ check, message }) => `${check}: ${message}`)] };
}

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

function demandNothing(found: readonly string[], what: string): void {
  demand(found.length === 0, `${what}: ${found.join(", ")}`);
}
