/**
 * Kills, and what must hold after each. As a program it is the long suite: `npm run faults -- [--kills <n>] [--seed <n>]
 * [--only <operation>]`. It kills at every fault point of every operation, then at random moments until there were so
 * many kills, and ends with 1 if anything was lost.
 */
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../fuzz/random.ts";
import { checkpointsOf } from "../journeys/commits.ts";
import { World } from "./killed-world.ts";
import { OPERATIONS, type Operation, programOf, type Start, waiting } from "./operations.ts";

const LONGEST_MS = 60_000;

/** One operation in a world that is put back before each kill. */
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
    await operation.prepare?.(world);
    const scene = new Scene(operation, world, await stateOf(world));
    scene.#copy("kept");
    const began = performance.now();
    const end = await scene.#run(operation.start(world), undefined, LONGEST_MS);
    scene.#takesMs = performance.now() - began;
    if (end !== "done") throw new Error(`${operation.name} does not work unharmed: ${end}`);
    scene.#after = await stateOf(world);
    return scene;
  }

  /** Kills at a fault point. */
  async killAt(point: string): Promise<"killed" | "done"> {
    return this.#kill(point, LONGEST_MS);
  }

  /** Kills after a part of the time that it takes. */
  async killAfter(part: number): Promise<"killed" | "done"> {
    return this.#kill(undefined, part * this.#takesMs);
  }

  async #kill(point: string | undefined, afterMs: number): Promise<"killed" | "done"> {
    this.#restore("kept");
    const end = await this.#run(this.operation.start(this.#world), point, afterMs);
    if (end !== "killed" && end !== "done") throw new Error(`It ended by itself: ${end}`);
    await this.#demandAll();
    return end;
  }

  /** What must hold, whatever was killed when; broken invariants are thrown. */
  async #demandAll(): Promise<void> {
    const world = this.#world;
    const { repository } = world;
    if (this.operation.start(world).program === "git") releaseLocksOfGit(world);
    await waitForNamelessLocks(world);
    const report = await doctor(world);
    demand(report.ok, `doctor --check: ${report.problems.join("; ")}`);
    await repository.run(["worker", repository.path]);
    demand(waiting(world).length === 0, `The queue was not worked off: ${waiting(world).join(", ")}`);
    const files = JSON.stringify(world.files());
    const isWhole = [this.#before.files, this.#after.files].includes(files);
    demand(isWhole, `The work tree is neither before nor after: ${files}`);
    const now = await stateOf(world);
    if (!this.operation.drops) {
      const lost = this.#before.steps.filter((id) => !now.steps.includes(id));
      demand(lost.length === 0, `Steps were lost: ${lost.join(", ")}`);
    }
    const written = new Set(now.checkpoints);
    const promised = [...this.#before.checkpoints, ...this.#before.waiting, ...checkpointsOf(repository, "HEAD")];
    const gone = promised.filter((id) => !written.has(id));
    demand(gone.length === 0, `Checkpoints were lost: ${gone.join(", ")}`);
    const wrong = (await this.operation.wrong?.(world)) ?? null;
    demand(wrong === null, wrong ?? "");
    demand(world.leftovers().length === 0, `Left behind: ${world.leftovers().join(", ")}`);
    demand(repository.read("build.log") === "ignored\n", "An ignored file was touched.");
    const said = repository.git("fsck", "--no-dangling", "--strict");
    demand(said === "", `git fsck: ${said}`);
  }

  async #run(start: Start, point: string | undefined, afterMs: number): Promise<string> {
    const { repository } = this.#world;
    const env = repository.environment({ ...start.env, ...(point ? { BACKTRAIL_FAULT: point } : {}) });
    const { promise, resolve } = Promise.withResolvers<string>();
    // A group of its own: git and what it calls are killed with it.
    const child = spawn(programOf(start), start.args, { cwd: repository.path, env, detached: true, stdio: "pipe" });
    let said = "";
    let killed = false;
    child.stderr.on("data", (data: Buffer) => {
      said += data.toString("utf8");
    });
    child.stdin.on("error", () => {});
    child.stdin.end(start.input ?? "");
    const timer = setTimeout(() => {
      killed = true;
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // It ended at this moment.
      }
    }, afterMs);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve("killed");
      // git goes on when a hook of its own is killed, and does not tell.
      else if (killed || (point !== undefined && start.program !== undefined)) resolve("killed");
      else if (code === 0) resolve("done");
      else resolve(`${signal ?? code}: ${said.trim()}`);
    });
    return promise;
  }

  #copy(name: string): void {
    const place = dirname(this.#world.repository.path);
    execFileSync("cp", ["-a", this.#world.repository.path, this.#world.repository.home, this.#made(join(place, name))]);
  }

  #restore(name: string): void {
    const { path, home } = this.#world.repository;
    for (const directory of [path, home]) rmSync(directory, { recursive: true, force: true });
    execFileSync("cp", ["-a", `${join(dirname(path), name)}/.`, dirname(path)]);
  }

  #made(directory: string): string {
    execFileSync("mkdir", ["-p", directory]);
    return directory;
  }

  [Symbol.dispose](): void {
    this.#world[Symbol.dispose]();
  }
}

interface State {
  files: string;
  steps: string[];
  checkpoints: string[];
  waiting: string[];
}

async function stateOf(world: World): Promise<State> {
  const branch = "refs/heads/entire/checkpoints/v1";
  const has = world.repository.git("for-each-ref", branch) !== "";
  const paths = has ? world.repository.git("ls-tree", "-d", "-r", "--name-only", branch).split("\n") : [];
  return {
    files: JSON.stringify(world.files()),
    steps: (await world.steps()).map(({ id }) => id),
    checkpoints: paths.filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{10}$/.test(path)).map((path) => path.replace("/", "")),
    waiting: waiting(world),
  };
}

/** A git of the user's that is killed leaves its locks, with or without us: the user removes them, as git tells them to. */
function releaseLocksOfGit({ repository }: World): void {
  const names = readdirSync(repository.at(".git"), { recursive: true, encoding: "utf8" });
  for (const name of names) {
    const isGits = /^[^/]+\.lock$|^refs\/heads\/main\.lock$|^objects\/.*tmp_/.test(name);
    if (isGits) rmSync(repository.at(".git", name), { force: true });
  }
}

/** A lock whose owner died before it wrote its name is only known to be dead after two seconds. */
async function waitForNamelessLocks(world: World): Promise<void> {
  const nameless = world
    .leftovers()
    .filter((name) => name.endsWith(".lock") && Bun.file(world.repository.at(".git", name)).size === 0);
  if (nameless.length > 0) await Bun.sleep(2_100);
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

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      only: { type: "string", multiple: true },
    },
  });
  const chosen = OPERATIONS.filter(({ name }) => !values.only || values.only.includes(name));
  const random = new Random(Number(values.seed));
  const kills = Number(values.kills);
  if (chosen.length === 0 || !Number.isSafeInteger(kills)) {
    console.error(
      `usage: npm run faults -- [--kills <n>] [--seed <n>] [--only <${OPERATIONS.map(({ name }) => name).join("|")}>]…`,
    );
    return 2;
  }
  const points = chosen.reduce((sum, { points }) => sum + points.length, 0);
  const each = Math.max(0, Math.ceil((kills - points) / chosen.length));
  console.log("| operation | at fault points | at random moments | too late | lost |\n| --- | --- | --- | --- | --- |");
  let all = 0;
  const losses: string[] = [];
  for (const operation of chosen) {
    const [before, counts] = [losses.length, { points: 0, random: 0, late: 0 }];
    using scene = await Scene.set(operation);
    const attempt = async (what: string, kill: () => Promise<"killed" | "done">): Promise<boolean> => {
      try {
        return (await kill()) === "killed";
      } catch (error) {
        losses.push(`${operation.name}, ${what}: ${error instanceof Error ? error.message : error}`);
        console.error(losses.at(-1));
        return true;
      }
    };
    for (const point of operation.points) if (await attempt(point, () => scene.killAt(point))) counts.points++;
    for (let tries = 0; counts.random < each && tries < each * 2; tries++) {
      const part = random.below(10_000) / 9_000;
      if (await attempt(`after ${Math.round(part * 100)} %`, () => scene.killAfter(part))) counts.random++;
      else counts.late++;
    }
    all += counts.points + counts.random;
    console.log(
      `| ${operation.name} | ${counts.points} of ${operation.points.length} | ${counts.random} | ${counts.late} | ${losses.length - before} |`,
    );
  }
  console.log(`\n${all} kills, ${losses.length} of them lost something.`);
  return losses.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
