import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { compareAndSwapRef, hasRef, readRef } from "./refs.ts";

ownHome();

const REF = "refs/backtrail/sessions/abc";
const PROJECT = join(import.meta.dirname, "..", "..");

async function place() {
  const repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const values = ["one", "two", "three"].map((text) =>
    repository.git("hash-object", "-w", repository.write("f", text)),
  );
  return { repository, workspace, values, [Symbol.dispose]: () => repository.remove() };
}

test("a ref changes only if it has the expected value", async () => {
  using made = await place();
  const { workspace, repository } = made;
  const [one = "", two = ""] = made.values;
  expect(await readRef(workspace, REF)).toBeNull();
  expect(await compareAndSwapRef(workspace, REF, one, two)).toBe(false);
  expect(await compareAndSwapRef(workspace, REF, null, one)).toBe(true);
  expect(await compareAndSwapRef(workspace, REF, null, two)).toBe(false);
  expect(await compareAndSwapRef(workspace, REF, one, two)).toBe(true);
  expect(repository.git("rev-parse", REF)).toBe(two);
  expect(hasRef(workspace, REF)).toBe(true);
  expect(await compareAndSwapRef(workspace, REF, one, null)).toBe(false);
  expect(await compareAndSwapRef(workspace, REF, two, null)).toBe(true);
  expect(await readRef(workspace, REF)).toBeNull();
  expect(hasRef(workspace, REF)).toBe(false);
});

test("packed refs are read, and changed where they are newer", async () => {
  using made = await place();
  const { workspace, repository } = made;
  const [one = "", two = "", three = ""] = made.values;
  await compareAndSwapRef(workspace, REF, null, one);
  await compareAndSwapRef(workspace, `${REF}d`, null, three);
  repository.git("pack-refs", "--all", "--prune");
  expect(existsSync(repository.at(".git", REF))).toBe(false);
  expect(await readRef(workspace, REF)).toBe(one);
  expect(await readRef(workspace, `${REF}d`)).toBe(three);
  expect(await readRef(workspace, "refs/backtrail/sessions/ab")).toBeNull();
  expect(await compareAndSwapRef(workspace, REF, null, two)).toBe(false);
  expect(await compareAndSwapRef(workspace, REF, one, two)).toBe(true);
  repository.git("pack-refs", "--all", "--prune");
  expect(await readRef(workspace, REF)).toBe(two);
  expect(await compareAndSwapRef(workspace, REF, two, null)).toBe(true);
  expect(await readRef(workspace, REF)).toBeNull();
});

test("git's lock is waited for; a stale lock is removed", async () => {
  using made = await place();
  const { workspace, repository } = made;
  const [one = "", two = ""] = made.values;
  const lock = repository.at(".git", `${REF}.lock`);
  mkdirSync(join(lock, ".."), { recursive: true });
  writeFileSync(lock, "");
  const waiting = compareAndSwapRef(workspace, REF, null, one);
  await Bun.sleep(20);
  expect(await readRef(workspace, REF)).toBeNull();
  await Bun.file(lock).delete();
  expect(await waiting).toBe(true);
  writeFileSync(lock, "");
  const old = new Date(Date.now() - 60_000);
  utimesSync(lock, old, old);
  expect(await compareAndSwapRef(workspace, REF, one, two)).toBe(true);
  expect(existsSync(lock)).toBe(false);
});

test("of writers in several processes each change counts exactly once, git's own among them", async () => {
  using made = await place();
  const { workspace, repository } = made;
  const script = repository.write(
    ".git/writer.ts",
    `import { compareAndSwapRef, readRef } from ${JSON.stringify(join(PROJECT, "src/git/refs.ts"))};
import { ObjectWriter } from ${JSON.stringify(join(PROJECT, "src/git/objects/writer.ts"))};
const workspace = ${JSON.stringify(workspace)};
const writer = new ObjectWriter(workspace);
const name = process.argv[2];
for (let i = 0; i < 15; ) {
  const before = await readRef(workspace, "${REF}");
  const id = writer.add("blob", Buffer.from(name + i + before));
  writer.flush();
  if (await compareAndSwapRef(workspace, "${REF}", before, id)) { console.log(before + " " + id); i++; }
}`,
  );
  const env = repository.environment();
  const writers = ["a", "b", "c"].map((name) =>
    Bun.spawn([process.execPath, script, name], { env, cwd: repository.path, stdout: "pipe", stderr: "inherit" }),
  );
  const packing = (async () => {
    for (let i = 0; i < 5; i++) {
      await Bun.spawn(["git", "pack-refs", "--all", "--prune"], { env, cwd: repository.path, stderr: "ignore" }).exited;
    }
  })();
  const output = (await Promise.all(writers.map((writer) => new Response(writer.stdout).text()))).join("");
  await packing;
  const next = new Map(
    output
      .trim()
      .split("\n")
      .map((line) => line.split(" ") as [string, string]),
  );
  expect(next.size).toBe(45);
  let [last, length] = ["null", 0];
  for (let id = next.get(last); id !== undefined; id = next.get(last)) [last, length] = [id, length + 1];
  expect(length).toBe(45);
  expect(await readRef(workspace, REF)).toBe(last);
});

test("a reftable repository goes through git", async () => {
  using made = await place();
  const { repository } = made;
  const created = Bun.spawnSync(["git", "init", "--quiet", "--ref-format=reftable", "reftable"], {
    cwd: repository.path,
    env: repository.environment(),
  });
  if (created.exitCode !== 0) {
    console.log("SKIPPED: reftable: this git cannot make such a repository");
    return;
  }
  const workspace = await enabledWorkspace(repository.at("reftable"));
  expect(workspace.refStorage).toBe("reftable");
  const [one = ""] = made.values;
  Bun.spawnSync(["git", "hash-object", "-w", repository.write("f", "one")], { cwd: workspace.root });
  expect(await compareAndSwapRef(workspace, REF, null, one)).toBe(true);
  expect(await compareAndSwapRef(workspace, REF, null, one)).toBe(false);
  expect(await readRef(workspace, REF)).toBe(one);
  expect(hasRef(workspace, REF)).toBe(true);
});
