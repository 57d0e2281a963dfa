import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../../../test/support/captured.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { fingerprint, put, putLink, take, treesByGit } from "../../../test/support/work-tree.ts";
import type { Snapshot } from "./snapshot.ts";

ownHome();

/** Takes a snapshot, and expects what git would have made, whole objects, and nothing of the user's touched. */
async function expectLikeGit(repository: TemporaryRepository, path = repository.path): Promise<Snapshot> {
  const workspace = await enabledWorkspace(path);
  const before = fingerprint(repository.path);
  const snapshot = await captured(workspace);
  expect(fingerprint(repository.path)).toEqual(before);
  const expected = treesByGit(repository, { cwd: path, gitDir: workspace.gitDir });
  expect(snapshot.work).toBe(expected.work);
  if (expected.index !== null) expect(snapshot.index).toBe(expected.index);
  repository.git("fsck", "--strict", "--no-dangling", snapshot.work, snapshot.index);
  return snapshot;
}

function names(repository: TemporaryRepository, tree: string): string[] {
  const listed = repository.git("ls-tree", "-r", "-z", "--name-only", tree);
  return listed.split("\0").filter((name) => name !== "");
}

test("an untouched repository is its commit's tree, and needs no new object", async () => {
  using repository = temporaryRepository();
  const objects = repository.git("count-objects");
  const snapshot = await expectLikeGit(repository);
  expect(snapshot.work).toBe(repository.git("rev-parse", "HEAD^{tree}"));
  expect(snapshot.index).toBe(snapshot.work);
  expect(snapshot).toMatchObject({ head: repository.git("rev-parse", "HEAD"), branch: "main", raw: null });
  expect(repository.git("count-objects")).toBe(objects);
});

test("an empty repository, without and with files", async () => {
  using repository = temporaryRepository({ empty: true });
  expect(await expectLikeGit(repository)).toMatchObject({ head: null, branch: "main" });
  repository.write("dir/a", "a");
  expect(names(repository, (await expectLikeGit(repository)).work)).toEqual(["dir/a"]);
  repository.git("add", "dir/a");
  repository.write("dir/a", "more");
  await expectLikeGit(repository);
});

test("a detached HEAD, and a commit named by a branch with brackets", async () => {
  using repository = temporaryRepository();
  repository.git("checkout", "--quiet", "--detach");
  expect((await expectLikeGit(repository)).branch).toBeNull();
  repository.git("checkout", "--quiet", "-b", "was(detached)");
  expect((await expectLikeGit(repository)).branch).toBe("was(detached)");
});

test("names with spaces, newlines, quotes, wildcards and bytes that are no UTF-8", async () => {
  using repository = temporaryRepository();
  const strange = [
    "a b",
    "new\nline",
    'quo"te',
    "sta*r",
    ":(top)x",
    "-dash",
    "ünï/€",
    "bad\udcff\udc80/\udcfe",
    "tab\t",
  ];
  for (const path of strange) put(repository.path, path, `at ${path.length}`);
  await expectLikeGit(repository);
  repository.commit("all of them");
  for (const path of strange) put(repository.path, path, "changed");
  take(repository.path, "a b");
  await expectLikeGit(repository);
});

test("staged, unstaged and both, with additions, deletions and changed modes", async () => {
  using repository = temporaryRepository();
  for (const name of ["staged", "unstaged", "both", "gone", "removed", "script", "cached"])
    repository.write(name, name);
  repository.commit("second");
  repository.write("staged", "1");
  repository.write("both", "1");
  repository.write("new", "staged");
  chmodSync(repository.at("script"), 0o755);
  repository.git("add", "--all");
  repository.git("rm", "--quiet", "removed");
  repository.git("rm", "--quiet", "--cached", "cached");
  repository.write("both", "2");
  repository.write("unstaged", "2");
  repository.write("removed", "back again");
  repository.write("deep/er/untracked", "u");
  chmodSync(repository.at("script"), 0o644);
  take(repository.path, "gone");
  const { intentToAdd } = await expectLikeGit(repository);
  expect(intentToAdd).toEqual([]);
});

test("a file becomes a link, a directory, and a directory becomes a file or a link", async () => {
  using repository = temporaryRepository();
  for (const name of ["one", "two", "three/a", "four/b/c"]) repository.write(name, name);
  putLink(repository.path, "five", "one");
  repository.commit("second");
  putLink(repository.path, "one", "nowhere");
  put(repository.path, "two/inside", "x");
  put(repository.path, "three", "a file now");
  putLink(repository.path, "four", "two");
  put(repository.path, "five", "no link");
  await expectLikeGit(repository);
  repository.git("add", "--all");
  await expectLikeGit(repository);
});

test("a file added with --intent-to-add is in the work tree, not in the index", async () => {
  using repository = temporaryRepository();
  repository.write("later", "content");
  repository.git("add", "--intent-to-add", "later");
  const snapshot = await expectLikeGit(repository);
  expect(snapshot.intentToAdd).toEqual(["later"]);
  expect(names(repository, snapshot.work)).toContain("later");
  expect(names(repository, snapshot.index)).not.toContain("later");
});

test("a merge with conflicts: the stages are listed, and the files are recorded as they are", async () => {
  using repository = temporaryRepository();
  repository.write("both", "base\n");
  repository.write("theirs-only", "base\n");
  repository.commit("base");
  repository.git("checkout", "--quiet", "-b", "other");
  repository.write("both", "other\n");
  repository.git("rm", "--quiet", "theirs-only");
  repository.commit("other");
  repository.git("checkout", "--quiet", "main");
  repository.write("both", "main\n");
  repository.write("theirs-only", "changed\n");
  repository.commit("main");
  expect(() => repository.git("merge", "other")).toThrow();
  const snapshot = await expectLikeGit(repository);
  expect(snapshot.unmerged.map(({ path, stages }) => [path, stages.map(([stage]) => stage)])).toEqual([
    ["both", [1, 2, 3]],
    ["theirs-only", [1, 2]],
  ]);
  take(repository.path, "both");
  await expectLikeGit(repository);
});

test("ignored files are never in it", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", "*.log\n/build/\n");
  repository.write("deep/.gitignore", "secret\n");
  repository.git("config", "core.excludesFile", repository.at(".git", "own-excludes"));
  writeFileSync(repository.at(".git", "own-excludes"), "*.own\n");
  writeFileSync(repository.at(".git", "info", "exclude"), "excluded\n");
  for (const name of ["a.log", "build/x", "deep/secret", "a.own", "excluded", "deep/kept"]) repository.write(name, "x");
  const snapshot = await expectLikeGit(repository);
  expect(names(repository, snapshot.work)).toEqual([".gitignore", "README.md", "deep/.gitignore", "deep/kept"]);
});

test("a file that git tracks although it is ignored is in it", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", "*.log\n");
  repository.write("kept.log", "1");
  repository.git("add", "--force", "kept.log");
  repository.commit("second");
  repository.write("kept.log", "2");
  await expectLikeGit(repository);
});

test("a sparse checkout keeps files and attributes that are not checked out", async () => {
  using repository = temporaryRepository();
  for (const name of ["in/a", "out/b", "out/deep/c"]) repository.write(name, name);
  repository.write(".gitattributes", "*.txt text\n");
  repository.commit("second");
  repository.git("sparse-checkout", "set", "--cone", "in");
  expect(repository.exists("out")).toBe(false);
  repository.write("in/a", "changed");
  await expectLikeGit(repository);
  repository.git("sparse-checkout", "set", "--no-cone", "/in/");
  expect(repository.exists(".gitattributes")).toBe(false);
  repository.write("in/b.txt", "one\r\ntwo\r\n");
  const { raw } = await captured(await enabledWorkspace(repository.path));
  expect(raw).not.toBeNull();
  await expectLikeGit(repository);
});

test("a linked worktree has its own index and HEAD", async () => {
  using repository = temporaryRepository();
  repository.git("worktree", "add", "--quiet", "-b", "side", "linked");
  const path = repository.at("linked");
  writeFileSync(join(path, "only here"), "1");
  execFileSync("git", ["add", "--all"], { cwd: path, env: repository.environment() });
  writeFileSync(join(path, "README.md"), "changed");
  const snapshot = await expectLikeGit(repository, path);
  expect(snapshot.branch).toBe("side");
  const main = await enabledWorkspace(repository.path);
  expect((await enabledWorkspace(path)).stateDir).not.toBe(main.stateDir);
});

test("submodules: the recorded commit; a dirty one is named", async () => {
  using other = temporaryRepository();
  using repository = temporaryRepository();
  const clone = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.path, "module"];
  repository.git(...clone);
  expect((await expectLikeGit(repository)).notCaptured).toEqual([]);
  repository.write(".gitattributes", "* text=auto\n");
  expect((await expectLikeGit(repository)).notCaptured).toEqual([]);
  repository.commit("with a module");
  expect((await expectLikeGit(repository)).notCaptured).toEqual([]);
  repository.write("module/README.md", "dirty");
  const dirty = await captured(await enabledWorkspace(repository.path));
  expect(dirty.notCaptured).toEqual([{ path: "module", why: "submodule" }]);
  expect(dirty.work).toBe(repository.git("rev-parse", "HEAD^{tree}"));
});

test("a file in place of a submodule is recorded as a file", async () => {
  using other = temporaryRepository();
  using repository = temporaryRepository();
  repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.path, "module");
  repository.commit("with a module");
  put(repository.path, "module", "a file now");
  expect((await expectLikeGit(repository)).notCaptured).toEqual([]);
});

test("nested repositories and special files are listed, not captured", async () => {
  using repository = temporaryRepository();
  mkdirSync(repository.at("nested"));
  execFileSync("git", ["init", "--quiet"], { cwd: repository.at("nested"), env: repository.environment() });
  repository.write("nested/file", "x");
  execFileSync("mkfifo", [repository.at("pipe")]);
  repository.write("README.md", "changed");
  const snapshot = await captured(await enabledWorkspace(repository.path));
  expect(snapshot.notCaptured).toEqual([{ path: "nested", why: "nested-repository" }]);
  expect(names(repository, snapshot.work)).toEqual(["README.md"]);
});

test("large files and those the user leaves out: untracked ones only, the large ones named", async () => {
  using repository = temporaryRepository();
  repository.write("tracked", "x".repeat(100));
  repository.commit("second");
  repository.writeAll({ tracked: "y".repeat(100), large: "z".repeat(100), small: "z", "data/left-out.csv": "z" });
  const options = { maxFileSize: 50, exclude: ["*.csv"] };
  const snapshot = await captured(await enabledWorkspace(repository.path), options);
  expect(names(repository, snapshot.work)).toEqual(["README.md", "small", "tracked"]);
  expect(snapshot.notCaptured).toEqual([{ path: "large", why: "too-large" }]);
});

test("core.fileMode=false: modes are as git has them", async () => {
  using repository = temporaryRepository();
  repository.write("script", "1");
  chmodSync(repository.at("script"), 0o755);
  repository.commit("second");
  repository.git("config", "core.fileMode", "false");
  chmodSync(repository.at("script"), 0o644);
  chmodSync(repository.at("README.md"), 0o755);
  repository.write("script", "2");
  put(repository.path, "new", "x", 0o755);
  await expectLikeGit(repository);
});

test("a repository with SHA-256", async () => {
  using repository = temporaryFolder();
  repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main");
  repository.write("a/b", "1");
  repository.commit("first");
  repository.write("a/c", "2");
  for (let i = 0; i < 60; i++) repository.write(`many/${i}`, `${i}`);
  expect((await expectLikeGit(repository)).work).toHaveLength(64);
});

test("a split index, its shared part left alone", async () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 20; i++) repository.write(`f${i}`, `${i}`);
  repository.commit("second");
  repository.git("config", "core.splitIndex", "true");
  repository.git("update-index", "--split-index");
  repository.write("f1", "staged");
  repository.git("add", "f1");
  repository.writeAll({ f1: "unstaged", ".gitattributes": "* text=auto\n", crlf: "a\r\n" });
  await expectLikeGit(repository);
});

test("assume-unchanged and skip-worktree files are as git has them", async () => {
  using repository = temporaryRepository();
  repository.writeAll({ a: "1", b: "1" });
  repository.commit("second");
  repository.git("update-index", "--assume-unchanged", "a");
  repository.git("update-index", "--skip-worktree", "b");
  repository.writeAll({ a: "22", b: "22" });
  await expectLikeGit(repository);
});

test("a commit that refs/replace gives another tree", async () => {
  using repository = temporaryRepository();
  repository.write("a", "1");
  repository.git("add", "a");
  const other = repository.git("commit-tree", "-m", "other", repository.git("write-tree"));
  repository.git("replace", repository.git("rev-parse", "HEAD"), other);
  repository.write("b", "2");
  const snapshot = await captured(await enabledWorkspace(repository.path));
  expect(names(repository, snapshot.work)).toEqual(["README.md", "a", "b"]);
  expect(names(repository, snapshot.index)).toEqual(["README.md", "a"]);
});

test("a folder without git has a separate store", async () => {
  using folder = temporaryFolder();
  folder.write("a/b", "1");
  folder.write(".gitignore", "*.log\n");
  folder.write("x.log", "1");
  symlinkSync("b", folder.at("a", "link"));
  const workspace = await enabledWorkspace(folder.path);
  expect(workspace.kind).toBe("private");
  const before = fingerprint(folder.path);
  const snapshot = await captured(workspace);
  expect(fingerprint(folder.path)).toEqual(before);
  expect(lstatSync(folder.at(".git"), { throwIfNoEntry: false })).toBeUndefined();
  expect(snapshot).toMatchObject({ head: null, branch: null });
  const listed = execFileSync("git", ["--git-dir", workspace.gitDir, "ls-tree", "-r", "--name-only", snapshot.work]);
  expect(listed.toString().split("\n")).toEqual([".gitignore", "a/b", "a/link", ""]);
});

test("a filter that must not fail and does: the file's own bytes are kept", async () => {
  using repository = temporaryRepository();
  repository.git("config", "filter.lfs.clean", "sed s/large/pointer/");
  repository.git("config", "filter.lfs.required", "true");
  repository.write(".gitattributes", "*.bin filter=lfs\n");
  repository.write("a.bin", "large\n");
  repository.commit("filtered");
  const workspace = await enabledWorkspace(repository.path);
  repository.git("config", "filter.lfs.clean", "no-such-program");
  repository.writeAll({ "a.bin": "large and new\n", "b.txt": "beside it\n" });
  const { work, raw } = await captured(workspace);
  expect(raw).not.toBeNull();
  expect(repository.git("show", `${raw}:a.bin`)).toBe("large and new");
  expect(repository.git("show", `${work}:b.txt`)).toBe("beside it");
});
