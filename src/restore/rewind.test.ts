import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { refusal } from "../../test/support/refusal.ts";
import { file, Playground, shown, started, whyOf } from "../../test/support/restore-sandbox.ts";
import { ownFile } from "../config/load.ts";
import { findWorkspace } from "../git/workspace.ts";
import { stepsIn } from "../steps/log.ts";
import { applyRedo, planRedo } from "./redo.ts";
import { applyRewind, planRewind } from "./rewind.ts";
import { resolveTarget } from "./targets/resolve.ts";

test("a dry plan touches nothing, and tells writes, deletes and modes apart", async () => {
  using ground = await started();
  ground.write("gone.txt", "gone\n");
  ground.write("run.sh", file("#!/bin/sh\n", true));
  const step = await ground.save();
  ground.write("a.txt", "two\n");
  ground.write("new/deep/file", "x");
  ground.write("run.sh", file("#!/bin/sh\n", false));
  rmSync(join(ground.root, "gone.txt"));
  const before = shown(ground.files());
  const plan = await ground.plan(step);
  expect(plan).toMatchObject({
    write: ["a.txt", "gone.txt"],
    delete: ["new/deep/file"],
    chmod: ["run.sh"],
    conflicts: [],
  });
  expect(shown(ground.files())).toEqual(before);
  const receipt = await applyRewind(ground.workspace, plan);
  expect(receipt).toMatchObject({ written: 3, deleted: 1 });
  expect(ground.exists("new")).toBe(false);
  expect(await ground.isAt(step)).toBe(true);
});

test("a file that is ignored now is not overwritten, and the plan says so", async () => {
  using ground = await started();
  ground.write("build.log", "then\n");
  const step = await ground.save();
  ground.write(".gitignore", "build.log\n");
  ground.write("build.log", "precious\n");
  const { plan } = await ground.rewind(step);
  expect(plan.write).toEqual([]);
  expect(whyOf(plan, "build.log")).toContain("unrecorded");
  expect(ground.read("build.log")).toBe("precious\n");
  expect(ground.exists(".gitignore")).toBe(false);
});

test("a directory that holds ignored files is not replaced by the file it once was", async () => {
  using ground = await started();
  ground.write("thing", "a file\n");
  const step = await ground.save();
  rmSync(join(ground.root, "thing"));
  ground.write("thing/inner.txt", "x");
  ground.write("thing/cache.ign", "precious");
  const { plan } = await ground.rewind(step);
  expect(whyOf(plan, "thing")).toBeDefined();
  expect(ground.read("thing/cache.ign")).toBe("precious");
});

test("a link that leads to itself makes way for a directory, and comes back", async () => {
  using ground = await started();
  ground.write("loop/inner.txt", "x\n");
  const step = await ground.save();
  rmSync(join(ground.root, "loop"), { recursive: true });
  symlinkSync("loop", join(ground.root, "loop"));
  await ground.rewind(step);
  expect(ground.read("loop/inner.txt")).toBe("x\n");
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(readlinkSync(join(ground.root, "loop"))).toBe("loop");
});

test("an untracked file that is too large is neither overwritten nor deleted", async () => {
  using ground = await started();
  ground.write("grown.bin", "small");
  ground.write("shrunk.bin", "x".repeat(2_000));
  writeFileSync(ownFile(ground.workspace), '{"capture":{"max_file_size":1000}}');
  const step = await ground.save();
  expect(step.snapshot.notCaptured).toEqual([{ path: "shrunk.bin", why: "too-large" }]);
  ground.write("grown.bin", "y".repeat(2_000));
  ground.write("shrunk.bin", "small now");
  const { plan } = await ground.rewind(step);
  expect(plan).toMatchObject({ write: [], delete: [] });
  expect(whyOf(plan, "grown.bin")).toContain("larger than the limit");
  expect(whyOf(plan, "shrunk.bin")).toContain("too large");
  expect(ground.read("grown.bin")).toBe("y".repeat(2_000));
  expect(ground.read("shrunk.bin")).toBe("small now");
});

test("an agent's own directory is left alone", async () => {
  using ground = await started();
  ground.write(".claude/notes.md", "then\n");
  const step = await ground.save();
  ground.write(".claude/notes.md", "now\n");
  ground.write(".claude/more.md", "now\n");
  ground.write("a.txt", "two\n");
  const { plan } = await ground.rewind(step);
  expect(plan).toMatchObject({ write: ["a.txt"], delete: [] });
  expect(whyOf(plan, ".claude/notes.md")).toContain("never touched");
  expect(ground.read(".claude/notes.md")).toBe("now\n");
});

test("nested repositories and submodules are left alone", async () => {
  using ground = await started();
  ground.git("clone", "--quiet", ".git", "../other");
  ground.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", join(ground.place, "other"), "sub");
  ground.git("commit", "--quiet", "-m", "sub");
  ground.write("nested/plain.txt", "then\n");
  const step = await ground.save();
  rmSync(join(ground.root, "nested"), { recursive: true });
  ground.git("clone", "--quiet", ".git", "nested");
  ground.git("-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "moved");
  writeFileSync(join(ground.root, "sub/a.txt"), "dirty\n");
  ground.write("a.txt", "two\n");
  const { plan } = await ground.rewind(step);
  expect(plan).toMatchObject({ write: ["a.txt"], delete: [] });
  expect(whyOf(plan, "nested/plain.txt")).toContain("repository inside this one");
  expect(ground.read("sub/a.txt")).toBe("dirty\n");
  expect(ground.exists("nested/.git")).toBe(true);
});

test("skip-worktree and assume-unchanged files are left alone", async () => {
  using ground = await started();
  ground.write("local.conf", "then\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  const first = await resolveTarget(ground.workspace, "HEAD~1");
  ground.git("update-index", "--assume-unchanged", "local.conf");
  ground.write("local.conf", "mine\n");
  const plan = await planRewind(ground.workspace, first);
  expect(plan).toMatchObject({ write: [], delete: [] });
  expect(whyOf(plan, "local.conf")).toContain("not to check");
  await applyRewind(ground.workspace, plan);
  expect(ground.read("local.conf")).toBe("mine\n");
});

test("in a sparse checkout, files outside of it stay away", async () => {
  using ground = await started();
  ground.write("in/x", "1");
  ground.write("out/y", "1");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  ground.git("sparse-checkout", "set", "in");
  expect(ground.exists("out")).toBe(false);
  const step = await ground.save();
  ground.write("in/x", "2");
  ground.write("in/z", "2");
  const { plan } = await ground.rewind(step);
  expect(plan).toMatchObject({ write: ["in/x"], delete: ["in/z"] });
  expect(ground.exists("out")).toBe(false);
  expect(ground.git("status", "--porcelain")).toBe("");
  expect(ground.git("ls-files", "-t")).toContain("S out/y");
});

test("nothing is written through a link that took a directory's place", async () => {
  using ground = await started();
  ground.write("dir/x", "then\n");
  const step = await ground.save();
  const outside = join(ground.place, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "x"), "not ours\n");
  rmSync(join(ground.root, "dir"), { recursive: true });
  symlinkSync(outside, join(ground.root, "dir"));
  await ground.rewind(step);
  expect(readFileSync(join(outside, "x"), "utf8")).toBe("not ours\n");
  expect(ground.read("dir/x")).toBe("then\n");
});

test("an unrecorded link at a target path is refused, and nothing changes", async () => {
  using ground = await started();
  ground.write("dir/x", "then\n");
  const step = await ground.save();
  const outside = join(ground.place, "outside");
  mkdirSync(outside);
  rmSync(join(ground.root, "dir"), { recursive: true });
  symlinkSync(outside, join(ground.root, "dir"));
  writeFileSync(join(ground.root, ".git/info/exclude"), "/dir\n");
  ground.write("a.txt", "two\n");
  const plan = await ground.plan(step);
  expect(plan.conflicts).toEqual([{ path: "dir/x", reason: { kind: "obstacle", parent: "dir", type: "symlink" } }]);
  expect((await refusal(applyRewind(ground.workspace, plan))).kind).toBe("refused");
  expect(ground.read("a.txt")).toBe("two\n");
  expect(existsSync(join(outside, "x"))).toBe(false);
  await ground.rewind(step, { paths: ["a.txt"] });
  expect(ground.read("a.txt")).toBe("one\n");
});

test("only the chosen files change, and staged changes stay", async () => {
  using ground = await started();
  ground.write("src/x", "then");
  const step = await ground.save();
  ground.write("src/x", "now");
  ground.write("src/new", "now");
  ground.write("a.txt", "two\n");
  ground.git("add", "--all");
  const staged = ground.staged();
  const { plan } = await ground.rewind(step, { paths: ["src"] });
  expect(plan).toMatchObject({ write: ["src/x"], delete: ["src/new"], restoresIndex: false });
  expect(ground.read("a.txt")).toBe("two\n");
  expect(ground.staged()).toBe(staged);
  ground.write("a.txt", "three\n");
  const redo = await planRedo(ground.workspace);
  expect(redo).toMatchObject({ write: ["src/new", "src/x"], delete: [] });
});

test("conflicts of a merge and intended additions come back into the index", async () => {
  using ground = await started();
  ground.git("checkout", "--quiet", "-b", "side");
  ground.write("a.txt", "side\n");
  ground.git("commit", "--quiet", "-am", "side");
  ground.git("checkout", "--quiet", "main");
  ground.write("a.txt", "main\n");
  ground.git("commit", "--quiet", "-am", "main");
  expect(() => ground.git("merge", "--quiet", "side")).toThrow();
  ground.write("wanted.txt", "soon\n");
  ground.git("add", "--intent-to-add", "wanted.txt");
  const staged = ground.staged();
  const status = ground.git("status", "--porcelain=v2");
  const step = await ground.save();
  ground.write("a.txt", "solved\n");
  ground.git("add", "--all");
  expect(ground.staged()).not.toBe(staged);
  await ground.rewind(step);
  expect(ground.staged()).toBe(staged);
  expect(ground.git("status", "--porcelain=v2")).toBe(status);
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(ground.git("status", "--porcelain")).toBe("M  a.txt\nA  wanted.txt");
});

test("an index that another git process has locked is left unchanged, and the receipt says so", async () => {
  using ground = await started();
  const step = await ground.save();
  ground.write("a.txt", "two\n");
  ground.git("add", "--all");
  const staged = ground.staged();
  writeFileSync(join(ground.root, ".git/index.lock"), "");
  const { receipt } = await ground.rewind(step);
  expect(ground.read("a.txt")).toBe("one\n");
  expect(receipt.notes).toContainEqual({ kind: "index-left", why: "locked" });
  rmSync(join(ground.root, ".git/index.lock"));
  expect(ground.staged()).toBe(staged);
});

test("git trusts the times of a file that is again as it was staged, and its index is left alone otherwise", async () => {
  using ground = await started();
  const index = () => statSync(join(ground.root, ".git", "index")).ino;
  const staged = await ground.save();
  ground.write("a.txt", "two\n");
  const second = await ground.save();
  ground.write("a.txt", "three\n");
  const before = index();
  await ground.rewind(second);
  expect(index()).toBe(before);
  await ground.rewind(staged);
  expect(ground.git("diff-files", "--name-only")).toBe("");
});

test("line endings are those of the attributes then, wherever they lie", async () => {
  using ground = await started();
  ground.write("sub/.gitattributes", "*.txt text eol=crlf\n");
  ground.write("sub/deep/windows.txt", "one\r\ntwo\r\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  const step = await ground.save();
  const then = shown(ground.files());
  ground.write("sub/.gitattributes", "*.txt text eol=lf\n");
  ground.write("sub/deep/windows.txt", "changed\n");
  await ground.rewind(step);
  expect(shown(ground.files())).toEqual(then);
  rmSync(join(ground.root, "sub/deep/windows.txt"));
  await ground.rewind(step, { paths: ["*.txt"] });
  expect(shown(ground.files())).toEqual(then);
});

test("commits stay and the branch does not move, unless it is asked for", async () => {
  using ground = await started();
  const step = await ground.save();
  ground.write("a.txt", "two\n");
  ground.git("commit", "--quiet", "-am", "second");
  const second = ground.git("rev-parse", "HEAD");
  const { plan } = await ground.rewind(step);
  expect(plan.notUndone).toMatchObject([{ kind: "commits", count: 1 }]);
  expect(ground.git("rev-parse", "HEAD")).toBe(second);
  expect(ground.git("status", "--porcelain")).toBe(" M a.txt");

  const moved = await ground.rewind(step, { resetHead: true });
  expect(moved.plan.head).toEqual({ from: second, to: step.head ?? "" });
  expect(ground.git("rev-parse", "HEAD")).toBe(step.head ?? "");
  expect(ground.git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
  expect(ground.git("status", "--porcelain")).toBe("");
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(ground.git("rev-parse", "HEAD")).toBe(second);
});

test("a commit as target leaves untracked files alone", async () => {
  using ground = await started();
  ground.write("a.txt", "two\n");
  ground.write("b.txt", "b\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "second");
  ground.write("untracked.txt", "mine\n");
  const plan = await planRewind(ground.workspace, await resolveTarget(ground.workspace, "HEAD~1"));
  expect(plan).toMatchObject({ write: ["a.txt"], delete: ["b.txt"], chat: { kind: "none" } });
  await applyRewind(ground.workspace, plan);
  expect(ground.read("untracked.txt")).toBe("mine\n");
});

test("in a linked worktree, and before the first commit", async () => {
  using ground = await started();
  ground.git("worktree", "add", "--quiet", "--detach", "../linked");
  await ground.enable(join(ground.place, "linked"));
  expect(findWorkspace(ground.root)?.worktree).toBe("linked");
  const step = await ground.save();
  ground.write("a.txt", "two\n");
  await ground.rewind(step);
  expect(ground.read("a.txt")).toBe("one\n");
  expect(stepsIn(ground.workspace).list({ worktree: "main" })).toEqual([]);

  using empty = await Playground.make();
  empty.write("x", "1");
  const first = await empty.save();
  empty.write("x", "2");
  empty.git("add", "--all");
  await empty.rewind(first);
  expect(empty.read("x")).toBe("1");
  expect(empty.staged()).toBe("");
});

test("redo takes rewinds back one by one, then has nothing left", async () => {
  using ground = await started();
  const first = await ground.save("first");
  ground.write("a.txt", "two\n");
  const second = await ground.save("second");
  ground.write("a.txt", "three\n");
  await ground.rewind(second);
  await ground.rewind(first);
  const read = () => ground.read("a.txt");
  const seen = [read()];
  for (let i = 0; i < 2; i++) {
    await applyRedo(ground.workspace, await planRedo(ground.workspace));
    seen.push(read());
  }
  expect(seen).toEqual(["one\n", "two\n", "three\n"]);
  expect((await refusal(planRedo(ground.workspace))).kind).toBe("not-found");
});

test("targets: names, beginnings of ids, commits, and what to say when there is none", async () => {
  using ground = await started();
  const empty = await refusal(resolveTarget(ground.workspace, "last"));
  expect([empty.kind, empty.message]).toEqual(["not-found", "Nothing is recorded here yet."]);
  const step = await ground.save("before the move");
  const find = (text: string) => resolveTarget(ground.workspace, text);
  for (const text of ["before the move", step.id, step.id.slice(0, 5), "last"]) {
    expect(await find(text)).toMatchObject({ kind: "step", step: { id: step.id } });
  }
  expect(await find("main")).toMatchObject({ kind: "commit", commit: ground.git("rev-parse", "HEAD") });
  expect((await refusal(find("before the mvoe"))).hint).toContain("before the move");
  expect((await refusal(find("--output=x"))).kind).toBe("not-found");
  expect((await refusal(find("3"))).kind).toBe("not-found");
  await ground.rewind(step);
  expect(await find("last")).toMatchObject({ step: { id: step.id } });
});
