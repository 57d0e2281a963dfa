/**
 * Whatever the user does between a kill and the command that finishes what was killed, nothing that they wrote is lost: it
 * is in its place, staged, in a step, or in a directory that they were told of. At every point of every restore.
 */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { whereIs } from "../never-lose/found.ts";
import { World } from "./killed-world.ts";
import type { Operation } from "./operations/operation.ts";
import { restores } from "./operations/restores.ts";

/** What the restores touch, by every kind of change; some of it is not there before, or not after. */
const PATHS = ["src/app.ts", "src/gone.ts", "new/deep/file.ts", "src/first.ts", "tool.sh", "kind/now", "folder/inner"];
const KEPT = "kept-world";
const STAGE = 2;

/** The user at work: each text is like no other, so that it can be looked for. */
class User {
  /** By what was written to: a path, a path in the index. Only the last text of each counts. */
  readonly texts = new Map<string, string>();
  readonly #world: World;
  readonly #name: string;
  #count = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
  }

  act(path: string, kind: number): void {
    if (kind === 0) this.#inPlace(path);
    else if (kind === 1) this.#byRename(path);
    else if (kind === STAGE) this.#staged(path);
    else if (kind === 3) this.#removed(path);
  }

  /** Moves a directory away and puts a link in its place. */
  obstruct(): void {
    const { repository } = this.#world;
    if (!repository.exists("src")) return;
    renameSync(repository.at("src"), repository.at("src.moved"));
    symlinkSync("/nonexistent", repository.at("src"));
  }

  text(): string {
    return `${this.#name}, text ${this.#count++}.\n`;
  }

  #write(path: string, text: string): boolean {
    try {
      this.#world.repository.write(path, text);
      this.texts.set(path, text);
      return true;
    } catch {
      // A file or a link is in the place of its directory.
      return false;
    }
  }

  #inPlace(path: string): void {
    this.#write(path, this.text());
  }

  #byRename(path: string): void {
    const { repository } = this.#world;
    const text = this.text();
    try {
      mkdirSync(dirname(repository.at(path)), { recursive: true });
      renameSync(repository.write("saving.log", text), repository.at(path));
      this.texts.set(path, text);
    } catch {
      rmSync(repository.at("saving.log"), { force: true });
    }
  }

  #staged(path: string): void {
    const text = this.text();
    if (!this.#write(path, text)) return;
    try {
      this.#world.repository.git("add", "--force", path);
      this.texts.set(`:${path}`, text);
    } catch {
      // The lock of what was killed keeps git away, and git says so.
    }
    this.#write(path, this.text());
  }

  #removed(path: string): void {
    try {
      rmSync(this.#world.repository.at(path), { force: true });
      this.texts.delete(path);
    } catch {
      // It is a directory now.
    }
  }
}

for (const operation of restores.filter(({ name }) => !name.startsWith("resume"))) {
  test(`${operation.name}: work between a kill and its completion is not lost`, async () => {
    using world = await World.make({ BACKTRAIL_WORKER: "off" });
    await operation.prepare?.(world);
    keep(world);
    const every = operation.name === "rewind" ? 1 : 2;
    for (const [n, point] of operation.points.entries())
      if (n % every === 0) await workBetween(world, operation, point);
  }, 240_000);
}

async function workBetween(world: World, operation: Operation, point: string): Promise<void> {
  putBack(world);
  const { repository } = world;
  const user = new User(world, `${operation.name} at ${point}`);
  // A program that opened a file before all this writes to it afterwards, wherever it is by then.
  const open = openSync(repository.at("src/app.ts"), "a");
  const { args } = operation.start(world);
  const { signal } = await repository.run(args, { env: { BACKTRAIL_FAULT: point } });
  expect([point, signal]).toEqual([point, "SIGKILL"]);
  const random = randomFrom(point);
  const isLate = random(2) === 0 && writeLate(open, user);
  closeSync(open);
  const paths = PATHS.filter((path) => !isLate || path !== "src/app.ts");
  // One is staged in any case, and sometimes a directory is not one any more, so that nothing can be finished.
  const chosen = random(paths.length);
  for (const [n, path] of paths.entries()) user.act(path, n === chosen ? STAGE : random(6));
  if (random(3) === 0) user.obstruct();
  // Sometimes the command that finishes it is killed as well.
  const again = operation.points[random(operation.points.length * 2)];
  const killed = again ? await repository.run(["save", "again"], { env: { BACKTRAIL_FAULT: again } }) : undefined;
  const next = await repository.run(["save", "afterwards"]);
  expect([point, next.code, next.stderr]).toEqual([point, 0, next.stderr]);
  const said = `${killed?.stderr ?? ""}\n${next.stderr}`;
  for (const [where, text] of user.texts)
    expect([point, where, whereIs(repository, text, said), said]).not.toEqual([point, where, "lost", said]);
  expect(repository.read("build.log")).toBe("ignored\n");
  expect([point, said, ...world.leftovers().filter((name) => !name.endsWith(".lock"))]).toEqual([point, said]);
}

/** False where the file is gone: what is written then is lost in any case. */
function writeLate(open: number, user: User): boolean {
  if (fstatSync(open).nlink === 0) return false;
  const text = user.text();
  writeSync(open, text);
  user.texts.set("the open file", text);
  return true;
}

/** The same numbers for the same name, each below what is asked for. */
function randomFrom(name: string): (below: number) => number {
  let state = Number(Bun.hash.xxHash32(name));
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function keep(world: World): void {
  const place = dirname(world.repository.path);
  const names = readdirSync(place);
  mkdirSync(join(place, KEPT));
  execFileSync("cp", ["-a", ...names.map((name) => join(place, name)), join(place, KEPT)]);
}

function putBack(world: World): void {
  const place = dirname(world.repository.path);
  for (const name of readdirSync(place)) if (name !== KEPT) rmSync(join(place, name), { recursive: true, force: true });
  execFileSync("cp", ["-a", `${join(place, KEPT)}/.`, place]);
}
