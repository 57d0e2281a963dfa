import { expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { ownFile } from "../../src/config/load.ts";
import { privateIndex, warmPrivateIndex } from "../../src/git/index/private-index.ts";
import { joined } from "../../src/git/snapshot/changed-files.ts";
import { findLargeFiles } from "../../src/git/snapshot/large-files.ts";
import { applyRedo, planRedo } from "../../src/restore/redo.ts";
import { captured } from "../support/captured.ts";
import { ScriptedClaude, temporaryRepository, write } from "../support/index.ts";
import { Playground, started, whyOf } from "../support/restore-sandbox.ts";

/** More than what is held in memory. */
const SIZE = 9 << 20;

/** Mostly a hole: it takes no room on most disks. */
function writeHole(file: string, size: number, start: string): void {
  const fd = openSync(file, "w");
  writeSync(fd, start);
  ftruncateSync(fd, size);
  closeSync(fd);
}

/** The file begins with something else, and has the same size. */
function overwrite(file: string, start: string): void {
  const fd = openSync(file, "r+");
  writeSync(fd, start);
  closeSync(fd);
}

function age(file: string): void {
  const past = Date.now() / 1000 - 100;
  utimesSync(file, past, past);
}

function entries(ground: Playground, tree: string): string {
  return ground.git("ls-tree", "-r", tree);
}

test("a tracked file above the limit costs no step: it is named, the rest is recorded, and no restore touches it", async () => {
  using ground = await started();
  await Bun.write(ownFile(ground.workspace), JSON.stringify({ capture: { max_tracked_size: 1_000 } }));
  ground.write("large.bin", "x".repeat(2_000));
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "large");
  const clean = await ground.save();
  expect(clean.snapshot.notCaptured).toEqual([]);
  ground.write("large.bin", "y".repeat(2_000));
  ground.write("new.txt", "new\n");
  const step = await ground.save();
  expect(step.snapshot.notCaptured).toEqual([{ path: "large.bin", why: "too-large" }]);
  expect(entries(ground, step.snapshot.work)).toContain("new.txt");
  const { plan } = await ground.rewind(clean, { codeOnly: true });
  expect(plan).toMatchObject({ write: [], delete: ["new.txt"] });
  expect(whyOf(plan, "large.bin")).toContain("larger than the limit");
  ground.write("large.bin", "small");
  ground.write("a.txt", "two\n");
  const back = await ground.rewind(step, { codeOnly: true });
  expect(back.plan.write.toSorted()).toEqual(["a.txt", "new.txt"]);
  expect(whyOf(back.plan, "large.bin")).toContain("too large to be recorded then");
  expect(ground.read("large.bin")).toBe("small");
});

test("git skips large files in our copy of the index, and every change of them is noticed", async () => {
  using ground = await started();
  const file = join(ground.root, "large.bin");
  writeHole(file, SIZE, "one");
  age(file);
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "large");
  const found = await findLargeFiles(ground.workspace, privateIndex(ground.workspace).path, SIZE);
  expect(found).toEqual([expect.objectContaining({ path: "large.bin", clean: expect.any(String) })]);
  const env = { ...process.env, GIT_INDEX_FILE: privateIndex(ground.workspace).path };
  const listed = Bun.spawnSync(["git", "ls-files", "-v", "large.bin"], { cwd: ground.root, env }).stdout.toString();
  expect([listed, ground.git("ls-files", "-v", "large.bin")]).toEqual(["h large.bin\n", "H large.bin"]);
  const clean = await ground.save();
  const head = ground.git("rev-parse", "HEAD^{tree}");
  expect(clean.snapshot).toMatchObject({ work: head, notCaptured: [] });

  overwrite(file, "two");
  const changed = await ground.save();
  const blob = (tree: string) => ground.git("rev-parse", `${tree}:large.bin`);
  expect(blob(changed.snapshot.work)).toBe(ground.git("hash-object", "--no-filters", "large.bin"));
  expect(blob(changed.snapshot.work)).not.toBe(blob(head));
  await warmPrivateIndex(ground.workspace);
  expect((await ground.save()).snapshot.work).toBe(changed.snapshot.work);

  chmodSync(file, 0o755);
  expect(entries(ground, (await ground.save()).snapshot.work)).toContain(`100755 blob ${blob(changed.snapshot.work)}`);
  rmSync(file);
  expect(entries(ground, (await ground.save()).snapshot.work)).not.toContain("large.bin");
  const { plan } = await ground.rewind(changed, { codeOnly: true });
  expect(plan.write).toEqual(["large.bin"]);
  expect(readFileSync(file).subarray(0, 3).toString()).toBe("two");
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();

  writeHole(file, SIZE, "new");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "new");
  const committed = await ground.save();
  expect(committed.snapshot.work).toBe(ground.git("rev-parse", "HEAD^{tree}"));
  expect(committed.snapshot.notCaptured).toEqual([]);
});

/** A filter that does not end, and a committed file that no attribute gives to it yet. */
async function withEndlessFilter(): Promise<Playground> {
  const ground = await Playground.make({ config: { "filter.slow.clean": "sleep 98; cat" } });
  ground.write("tracked.slow", "one\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "first");
  return ground;
}

test("a filter that does not end costs only the files that it concerns", async () => {
  using ground = await withEndlessFilter();
  ground.write(".gitattributes", "*.slow filter=slow\n*.txt text\n");
  ground.write("new.slow", "new\n");
  ground.write("dos.txt", "one\r\n");
  const began = performance.now();
  const snapshot = await captured(ground.workspace, { patienceMs: 2_000 });
  expect(snapshot.notCaptured).toEqual([{ path: "new.slow", why: "no-time" }]);
  const tree = entries(ground, snapshot.work);
  expect(tree).toContain(".gitattributes");
  expect(ground.git("show", `${snapshot.work}:dos.txt`)).toBe("one");
  // The second time nobody waits for it: also where git itself would run it, for a tracked file.
  ground.write("tracked.slow", "two\n");
  const again = await captured(ground.workspace, { patienceMs: 60_000 });
  expect(performance.now() - began).toBeLessThan(50_000);
  expect(again.notCaptured.map(({ path }) => path)).toEqual(["tracked.slow", "new.slow"]);
  expect(entries(ground, again.work)).toContain("dos.txt");
});

test("a filter that hangs on a tracked file is skipped", async () => {
  using ground = await withEndlessFilter();
  ground.write(".gitattributes", "*.slow filter=slow\n");
  ground.write("tracked.slow", "two\n");
  ground.write("new.txt", "new\n");
  const snapshot = await captured(ground.workspace, { patienceMs: 3_000 });
  expect(snapshot.notCaptured).toEqual([{ path: "tracked.slow", why: "no-time" }]);
  expect(entries(ground, snapshot.work)).toContain("new.txt");
});

test("very many files without time are named by their directories", () => {
  const late = Array.from({ length: 1_000 }, (_, i) => ({ path: `deep/${i % 7}/${i}`, why: "no-time" as const }));
  const large = { path: "large", why: "too-large" as const };
  const top = { path: "top", why: "no-time" as const };
  const named = joined([large, top, ...late]);
  expect(named).toHaveLength(9);
  expect(named).toContainEqual({ path: "deep/3", why: "no-time" });
  expect(named).toContainEqual(large);
  expect(named).toContainEqual(top);
  expect(joined(late.slice(0, 100))).toEqual(late.slice(0, 100));
});

test("the agent's user is told once which files are not captured", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["config", "set", "capture.max_tracked_size", "10"]);
  repository.write("README.md", "# much longer than ten bytes\n");
  const started = async () => {
    const claude = new ScriptedClaude(repository);
    await claude.start();
    await claude.turn("go on", [write("a.txt", "a\n")]);
    return claude.answers.find(({ event }) => event === "SessionStart")?.result.stdout ?? "";
  };
  await started();
  expect(await started()).toContain("README.md");
  expect(await started()).not.toContain("README.md");
  const status = await repository.run(["status"]);
  expect(status.stdout).toContain("README.md: too large");
});

test("a file monitor that does not end costs one wait, and no step", async () => {
  using ground = await Playground.make({ config: { "core.fsmonitor": "sleep 97" } });
  ground.write("new.txt", "new\n");
  const snapshot = await captured(ground.workspace, { patienceMs: 3_000 });
  expect(snapshot.notCaptured).toEqual([]);
  expect(entries(ground, snapshot.work)).toContain("new.txt");
  // The second time nobody waits for it, and nothing else that Backtrail does asks it.
  const began = performance.now();
  await captured(ground.workspace, { patienceMs: 60_000 });
  await warmPrivateIndex(ground.workspace);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test("a filter process that ends at once costs no step: its files are kept as they are", async () => {
  using ground = await Playground.make({ config: { "filter.broken.process": "false", "filter.broken.clean": "cat" } });
  ground.write("tracked.broken", "one\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "first");
  ground.write(".gitattributes", "*.broken filter=broken\n");
  ground.write("tracked.broken", "two\n");
  ground.write("new.broken", "new\n");
  const step = await ground.save();
  expect(step.snapshot.notCaptured).toEqual([]);
  for (const name of ["tracked.broken", "new.broken"]) ground.write(name, "later\n");
  await ground.rewind(step, { codeOnly: true });
  expect(["tracked.broken", "new.broken"].map((name) => readFileSync(join(ground.root, name), "utf8"))).toEqual([
    "two\n",
    "new\n",
  ]);
});

test("core.ignoreCase hides no file where names differ by case", async () => {
  using ground = await Playground.make({ config: { "core.ignoreCase": "true" } });
  ground.write("Name.txt", "tracked\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "first");
  ground.write("name.txt", "another\n");
  // On a file system that folds case there is only one file.
  if (ground.read("Name.txt") !== "tracked\n") return;
  const step = await ground.save();
  rmSync(join(ground.root, "name.txt"));
  await ground.rewind(step, { codeOnly: true });
  expect(ground.read("name.txt")).toBe("another\n");
});
