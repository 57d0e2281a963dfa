/** What a killed restore leaves besides, and what may happen before it is finished. Kills at every point are rows of `operations.ts`. */
import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { World } from "./killed-world.ts";

/** Nothing is lost: what was before and what was wanted can both be had, and nobody is locked out. */
async function everythingIsThere(world: World): Promise<void> {
  expect(world.repository.read("build.log")).toBe("ignored\n");
  const safety = (await world.steps()).findLast(({ kind }) => kind === "safety");
  if (safety) {
    await world.rewind(safety.id).catch(() => {});
    expect(world.files()).toEqual(world.present);
  }
  await world.rewind(world.target);
  expect(world.files()).toEqual(world.past);
  expect(world.repository.git("fsck", "--no-dangling", "--strict")).toBe("");
  expect((await world.repository.run(["doctor", "--check"])).code).toBe(0);
  // Not before: a lock without a name, of a process killed between two calls, is only known to be dead after a while.
  expect(world.leftovers()).toEqual([]);
}

test("the next command says that it has finished it, an undo and its redo alike", async () => {
  using world = await World.make();
  await world.run("undo", "last", "--yes");
  const undone = world.files();
  expect((await world.die("restore:file:2", "redo", "--yes")).signal).toBe("SIGKILL");
  expect((await world.run("save", "afterwards")).stderr).toContain("Finished an interrupted redo");
  expect(world.files()).toEqual(world.present);
  expect((await world.die("restore:file:2", "undo", "last", "--yes")).signal).toBe("SIGKILL");
  expect((await world.run("save", "afterwards")).stderr).toContain("Finished an interrupted undo");
  expect(world.files()).toEqual(undone);
  expect((await world.run("redo", "--yes")).code).toBe(0);
});

test("work done between a kill and the next command is not lost", async () => {
  using world = await World.make();
  await world.die("restore:file:2", "rewind", world.target, "--yes");
  world.repository.write("src/app.ts", "written in between\n");
  const next = await world.run("save", "afterwards");
  expect(world.files()).toEqual(world.past);
  const saved = /previous state is saved as step ([k-z]{12})/.exec(next.stderr)?.[1] ?? "";
  await world.repository.json(["rewind", saved, "--yes", "--paths", "src/app.ts"]);
  expect(world.repository.read("src/app.ts")).toBe("written in between\n");
});

test("what a process with an open file still writes is not lost", async () => {
  using world = await World.make();
  await world.die("restore:aside:5", "rewind", world.target, "--yes");
  const place = world.repository.at(".git/backtrail/worktrees/main/restore");
  const aside = readdirSync(place, { recursive: true, encoding: "utf8" }).filter((name) => /\/old\/\d+$/.test(name));
  const app = aside.find((name) => readFileSync(join(place, name), "utf8") === "three\n") ?? "";
  appendFileSync(join(place, app), "and more\n");
  const next = await world.run("save", "afterwards");
  expect(world.files()).toEqual(world.past);
  const kept = /\(src\/app\.ts\) is not in the safety step; it is kept in (\S+)\./.exec(next.stderr)?.[1] ?? "";
  expect(readFileSync(join(kept, "src/app.ts"), "utf8")).toBe("three\nand more\n");
  await everythingIsThere(world);
});

test("a ref's lock left by a killed process blocks nothing", async () => {
  using world = await World.make();
  const [ref = ""] = world.repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail").split("\n");
  writeFileSync(world.repository.at(".git", `${ref}.lock`), "");
  // Nor do files that it had no time to rename stay for ever. No process has this id.
  world.repository.write(".git/backtrail/journal/klmnopqrstuv.json.4194303.0abc.tmp", "{");
  world.repository.write(".git/backtrail/worktrees/main/convert.4194303/x", "");
  await world.run("save", "afterwards");
  await everythingIsThere(world);
});

test("a git that was killed as it moved the branch left its locks: they go, and the branch is moved", async () => {
  using world = await World.make();
  const { repository } = world;
  const [before, branch] = [repository.git("rev-parse", "HEAD"), repository.at(".git/refs/heads/main.lock")];
  repository.commit("Since");
  await world.die("restore:files", "rewind", world.target, "--reset-head", "--yes");
  for (const lock of [repository.at(".git/HEAD.lock"), branch]) writeFileSync(lock, "");
  expect((await world.run("save", "afterwards")).stderr).toContain("Finished an interrupted rewind");
  expect(repository.git("rev-parse", "HEAD")).toBe(before);
  expect(world.leftovers()).toEqual([]);
}, 20_000);

test("of two rewinds at once, one waits for the other", async () => {
  using world = await World.make();
  const both = await Promise.all([1, 2].map(() => world.repository.run(["rewind", world.target, "--yes"])));
  // The second may find everything done already, or make one more copy of the conversation.
  for (const { code, stderr } of both) expect([0, 3], stderr).toContain(code ?? -1);
  expect(world.files()).toEqual(world.past);
  await everythingIsThere(world);
});

test("a restore that can't be finished is rolled back", async () => {
  using world = await World.make();
  await world.die("restore:file:0", "rewind", world.target, "--yes");
  rmSync(world.repository.at("src"), { recursive: true });
  world.repository.write("src", "a file where a directory was\n");
  const next = await world.run("save", "afterwards");
  expect(next.stderr).toContain("could not be finished: src is not a directory anymore");
  expect(next.stderr).toContain("All files are as they were before.");
  const expected = world.present.filter((line) => !line.startsWith("src/"));
  expect(world.files()).toEqual([...expected, "src - a file where a directory was\n"].sort());
  expect(world.leftovers()).toEqual([]);
});
