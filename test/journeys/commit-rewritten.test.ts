/** Commits that are made anew (amended, rebased, picked, squashed): what they are linked to. */
import { expect, test } from "bun:test";
import { ScriptedClaude, write } from "../support/index.ts";
import { checkpointsOf, enabled, gitWith, inCheckpoint, promptsOf, settled, withTurn } from "./commits.ts";

test("an amended commit keeps its checkpoint, also with a new message, and adds new files", async () => {
  const { repository, claude } = await withTurn();
  using _ = repository;
  repository.commit("Greet");
  const ids = checkpointsOf(repository, "HEAD");
  repository.git("commit", "--quiet", "--amend", "--no-edit");
  expect(checkpointsOf(repository, "HEAD")).toEqual(ids);
  await claude.turn("And a second file", [write("more.txt", "more\n")]);
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--amend", "--message", "Greet, with more");
  expect(checkpointsOf(repository, "HEAD")).toEqual(ids);
  await settled(repository);
  const summary = JSON.parse(inCheckpoint(repository, ids[0] ?? "", "metadata.json"));
  expect(summary.sessions).toHaveLength(1);
  expect(summary.files_touched).toEqual(["hello.txt", "more.txt"]);
  expect(promptsOf(repository, ids[0] ?? "")).toContain("Add a greeting");
  expect(promptsOf(repository, ids[0] ?? "")).toContain("And a second file");
});

test("an amended commit keeps its checkpoint after all sessions have ended", async () => {
  const { repository, claude } = await withTurn();
  using _ = repository;
  await claude.end();
  repository.commit("Greet");
  const ids = checkpointsOf(repository, "HEAD");
  repository.git("commit", "--quiet", "--amend", "--message", "Greeting");
  expect(checkpointsOf(repository, "HEAD")).toEqual(ids);
});

test("commits that are melted into one by a rebase are all known by it", async () => {
  using repository = await enabled();
  const claude = new ScriptedClaude(repository);
  await claude.turn("One", [write("1.txt", "1\n")]);
  repository.commit("one");
  await claude.turn("Two", [write("2.txt", "2\n")]);
  repository.commit("fixup! one");
  const [second = ""] = checkpointsOf(repository, "HEAD");
  const first = checkpointsOf(repository, "HEAD~");
  gitWith(repository, { GIT_SEQUENCE_EDITOR: "true" }, "rebase", "--quiet", "--interactive", "--autosquash", "HEAD~2");
  expect(checkpointsOf(repository, "HEAD")).toEqual(first);
  await settled(repository);
  const links = repository.read(".git/backtrail/links.jsonl");
  expect(JSON.parse(links)).toEqual({ v: 1, commit: repository.git("rev-parse", "HEAD"), checkpoints: [second] });
});

test("a rebase carries links along and makes none up, although a turn's changes wait", async () => {
  const { repository, claude } = await withTurn();
  using _ = repository;
  repository.commit("Greet");
  const ids = checkpointsOf(repository, "HEAD");
  repository.write("hello.txt", "hello, by hand\n");
  repository.commit("By hand");
  repository.git("checkout", "--quiet", "-b", "other", "HEAD~2");
  repository.write("theirs.txt", "theirs\n");
  repository.commit("Theirs");
  repository.git("checkout", "--quiet", "main");
  await claude.turn("Something else", [write("hello.txt", "hello again\n")]);
  repository.git("rebase", "--quiet", "--autostash", "other");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  expect(checkpointsOf(repository, "HEAD~")).toEqual(ids);
  repository.commit("Again");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("--no-verify is linked like any other commit", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--no-verify", "--message", "Greet");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("cherry-pick keeps the link; a revert and a merge get none", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("checkout", "--quiet", "-b", "topic");
  repository.commit("Greet");
  const ids = checkpointsOf(repository, "HEAD");
  repository.git("checkout", "--quiet", "main");
  repository.write("main.txt", "main\n");
  repository.commit("Main");
  repository.git("cherry-pick", "topic");
  expect(checkpointsOf(repository, "HEAD")).toEqual(ids);
  repository.git("revert", "--no-edit", "HEAD");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.git("merge", "--quiet", "--no-edit", "--no-ff", "topic");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("cherry-pick, revert and merge of others' commits make no links up, although a turn's changes wait", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("stash", "--quiet", "--include-untracked");
  repository.git("checkout", "--quiet", "-b", "topic");
  repository.write("hello.txt", "theirs\n");
  repository.git("add", "hello.txt");
  repository.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "Theirs");
  repository.git("checkout", "--quiet", "main");
  repository.write("main.txt", "main\n");
  repository.commit("Main");
  repository.git("cherry-pick", "topic");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.git("revert", "--no-edit", "HEAD");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.git("reset", "--quiet", "--hard", "HEAD~2");
  repository.git("merge", "--quiet", "--no-edit", "--no-ff", "topic");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("a squashed branch names every checkpoint of its commits", async () => {
  using repository = await enabled();
  repository.git("checkout", "--quiet", "-b", "topic");
  const claude = new ScriptedClaude(repository);
  await claude.turn("One", [write("1.txt", "1\n")]);
  repository.commit("one");
  await claude.turn("Two", [write("2.txt", "2\n")]);
  repository.commit("two");
  const ids = [...checkpointsOf(repository, "HEAD"), ...checkpointsOf(repository, "HEAD~")];
  repository.git("checkout", "--quiet", "main");
  repository.git("merge", "--quiet", "--squash", "topic");
  repository.git("commit", "--quiet", "--no-edit");
  expect(new Set(checkpointsOf(repository, "HEAD"))).toEqual(new Set(ids));
});

/** Two linked commits on the branch `feature`; gives their checkpoints, oldest first. */
async function withFeature() {
  const repository = await enabled();
  repository.git("checkout", "--quiet", "-b", "feature");
  const claude = new ScriptedClaude(repository);
  await claude.turn("One", [write("1.txt", "1\n")]);
  repository.commit("one");
  await claude.turn("Two", [write("2.txt", "2\n")]);
  repository.commit("two");
  await claude.end();
  return { repository, ids: [...checkpointsOf(repository, "HEAD~"), ...checkpointsOf(repository, "HEAD")] };
}

test("git merge --squash keeps the links, with its own message and with another one", async () => {
  const { repository, ids } = await withFeature();
  using _ = repository;
  for (const message of [["--no-edit"], ["--message", "Both"]]) {
    repository.git("checkout", "--quiet", "-B", "squashed", "main");
    repository.git("merge", "--quiet", "--squash", "feature");
    repository.git("commit", "--quiet", ...message);
    const trailers = repository.git("log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)").trim();
    expect({ message, ids: trailers.split("\n").sort() }).toEqual({ message, ids: [...ids].sort() });
  }
});

test("a commit after git reset --soft keeps the links of the commits that it replaces", async () => {
  const { repository, ids } = await withFeature();
  using _ = repository;
  repository.git("reset", "--quiet", "--soft", "HEAD~2");
  repository.git("commit", "--quiet", "--message", "Both");
  expect(checkpointsOf(repository, "HEAD")).toEqual(ids);
  repository.write("3.txt", "3\n");
  repository.commit("By hand");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("after a reset, only links of commits that have a file in the new one are kept", async () => {
  const { repository, ids } = await withFeature();
  using _ = repository;
  repository.git("reset", "--quiet", "--mixed", "HEAD~2");
  repository.git("add", "2.txt");
  repository.git("commit", "--quiet", "--message", "Two alone");
  expect(checkpointsOf(repository, "HEAD")).toEqual(ids.slice(1));

  repository.git("checkout", "--quiet", "-f", "-B", "other", "feature");
  repository.git("reset", "--quiet", "--hard", "main");
  repository.write("mine.txt", "mine\n");
  repository.commit("By hand");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});
