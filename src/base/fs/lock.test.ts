import { expect, test } from "bun:test";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/index.ts";
import { isRunning, processStart } from "../process/processes.ts";
import { acquire, isHeld, tryAcquire } from "./lock.ts";

const LOCK = JSON.stringify(join(import.meta.dirname, "lock.ts"));

/** A process id that nobody has, with the start that a process of that id once had. */
async function deadProcess(): Promise<string> {
  const child = Bun.spawn(["true"]);
  const start = processStart(child.pid) ?? "-";
  await child.exited;
  return `${child.pid} ${start}`;
}

function script(place: TemporaryDirectory, code: string): string {
  return place.write("script.ts", code);
}

test("a lock is held until it is released, then removed", async () => {
  using place = temporaryDirectory();
  const path = place.at("deep", "lock");
  const lock = tryAcquire(path);
  expect(lock).toBeDefined();
  expect(isHeld(path)).toBe(true);
  expect(tryAcquire(path)).toBeUndefined();
  expect(await acquire(path, 10)).toBeUndefined();
  const waiting = acquire(path, 2_000);
  lock?.release();
  const next = await waiting;
  expect(next).toBeDefined();
  next?.release();
  expect(isHeld(path)).toBe(false);
  expect(existsSync(path)).toBe(false);
});

test("a lock whose process has ended is taken over, also if another process has its id now", async () => {
  using place = temporaryDirectory();
  const path = place.at("lock");
  for (const owner of [await deadProcess(), `${process.pid} 1`]) {
    writeFileSync(path, owner);
    expect(isHeld(path)).toBe(false);
    const lock = tryAcquire(path);
    expect(lock).toBeDefined();
    lock?.release();
  }
});

test("an empty lock is taken over only after a moment", () => {
  using place = temporaryDirectory();
  const path = place.at("lock");
  writeFileSync(path, "");
  expect(tryAcquire(path)).toBeUndefined();
  const old = new Date(Date.now() - 5_000);
  utimesSync(path, old, old);
  expect(tryAcquire(path)).toBeDefined();
});

test("a takeover whose process was killed blocks others only for a moment", () => {
  using place = temporaryDirectory();
  const path = place.at("lock");
  writeFileSync(path, `${process.pid} 1`);
  writeFileSync(`${path}.takeover`, "");
  expect(tryAcquire(path)).toBeUndefined();
  const old = new Date(Date.now() - 5_000);
  utimesSync(`${path}.takeover`, old, old);
  expect(tryAcquire(path) ?? tryAcquire(path)).toBeDefined();
});

test("of many processes only one is ever inside, while locks are left behind by killed ones", async () => {
  using place = temporaryDirectory();
  const path = script(
    place,
    `import { acquire } from ${LOCK};
import { openSync, closeSync, unlinkSync, writeFileSync } from "node:fs";
const dead = process.argv[2];
for (let i = 0; i < 40; i++) {
  const lock = await acquire("lock", 15000);
  if (!lock) throw new Error("waited too long");
  closeSync(openSync("inside", "wx"));
  unlinkSync("inside");
  // Every few times the owner "dies": the lock stays, in the name of a process that is gone.
  if (i % 4 === 3) writeFileSync("lock", dead);
  else lock.release();
}`,
  );
  const dead = await deadProcess();
  const children = [1, 2, 3].map(() =>
    Bun.spawn([process.execPath, path, dead], { cwd: place.path, stderr: "pipe", stdout: "ignore" }),
  );
  const said = await Promise.all(children.map((child) => new Response(child.stderr).text()));
  expect(said.join("")).toBe("");
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
});

test("a zombie process does not count as running", async () => {
  const child = Bun.spawn(["sh", "-c", "true & echo $!; exec sleep 5"], { stdout: "pipe" });
  const reader = child.stdout.getReader();
  const pid = Number(new TextDecoder().decode((await reader.read()).value));
  for (let i = 0; i < 200 && isRunning(pid); i++) await Bun.sleep(5);
  expect(isRunning(pid)).toBe(false);
  expect(isRunning(child.pid)).toBe(true);
  child.kill("SIGKILL");
  await child.exited;
});
