/** Places in which a hook cannot work as usual: it never fails its agent, says why, and loses nothing that it could keep. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harmless, permissionsCount, Recording } from "../support/recording.ts";

test("a directory that does not exist: the project's counts", async () => {
  using recording = await Recording.begin();
  const cwd = recording.repository.at("was", "here");
  harmless(await recording.hook("UserPromptSubmit", { prompt: "one", cwd }));
  harmless(await recording.hook("Stop", { cwd }, { env: { CLAUDE_PROJECT_DIR: undefined } }));
  expect((await recording.steps()).map((step) => step.kind)).toEqual(["turn-end", "turn-start"]);
});

test.skipIf(!permissionsCount)("a directory that may not be read: the rest is recorded", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  repository.write("closed/tracked.txt", "tracked\n");
  repository.commit("second");
  harmless(await recording.hookOfNobody("UserPromptSubmit", { prompt: "one" }));
  repository.write("closed/new.txt", "new\n");
  repository.write("open.txt", "new\n");
  chmodSync(repository.at("closed"), 0);
  harmless(await recording.hookOfNobody("Stop"));
  chmodSync(repository.at("closed"), 0o755);
  const [last] = await recording.steps();
  expect(last).toMatchObject({ kind: "turn-end", files: { added: ["open.txt"], modified: [], deleted: [] } });
});

test.skipIf(!permissionsCount)("a file that may not be read is named as not captured", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  harmless(await recording.hookOfNobody("UserPromptSubmit", { prompt: "one" }));
  repository.write("secret.txt", "secret\n");
  repository.write("open.txt", "new\n");
  chmodSync(repository.at("secret.txt"), 0);
  harmless(await recording.hookOfNobody("Stop"));
  const [last] = await recording.steps();
  expect(last).toMatchObject({ kind: "turn-end", files: { added: ["open.txt"] } });
  const { snapshot } = JSON.parse(repository.read(".git/backtrail/steps.jsonl").trim().split("\n").at(-1) ?? "{}");
  expect(snapshot.notCaptured).toEqual([{ path: "secret.txt", why: "unreadable" }]);
});

test.skipIf(!permissionsCount)("a work tree that may not even be entered", async () => {
  using recording = await Recording.begin();
  chmodSync(recording.repository.path, 0);
  harmless(await recording.hookOfNobody("Stop"));
  chmodSync(recording.repository.path, 0o755);
  expect(await recording.steps()).toEqual([]);
});

test.skipIf(!permissionsCount)(
  "a git directory that may not be written: what changed is in the next step that can be",
  async () => {
    using recording = await Recording.begin();
    const { repository } = recording;
    harmless(await recording.hookOfNobody("UserPromptSubmit", { prompt: "one" }));
    repository.write("a.txt", "written\n");
    const closed = directoriesBelow(repository.at(".git"));
    for (const directory of closed) chmodSync(directory, 0o555);
    harmless(await recording.hookOfNobody("Stop"));
    for (const directory of closed) chmodSync(directory, 0o755);
    expect((await recording.steps()).map((step) => step.kind)).toEqual(["turn-start"]);

    harmless(await recording.hookOfNobody("Stop"));
    const [last] = await recording.steps();
    expect(last).toMatchObject({ kind: "turn-end", prompt: "one", files: { added: ["a.txt"] } });
    expect(recording.leftovers()).toEqual([]);
  },
);

test.skipIf(!permissionsCount)("a work tree that may not be written is recorded as any other", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  repository.write("a.txt", "written\n");
  chmodSync(repository.path, 0o555);
  harmless(await recording.hookOfNobody("UserPromptSubmit", { prompt: "one" }));
  harmless(await recording.hookOfNobody("Stop"));
  chmodSync(repository.path, 0o755);
  expect((await recording.steps()).map((step) => step.kind)).toEqual(["turn-end", "turn-start"]);
});

test("without git, the log says so, and the turn is recorded once git is there", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("one");
  repository.write("a.txt", "written\n");
  const stop = recording.answer("Done.");
  for (const path of [repository.at("empty"), "", undefined]) {
    harmless(await recording.hook("Stop", stop, { env: { PATH: path } }));
    expect(recording.logged().at(-1)?.message).toBe("git-missing");
  }
  harmless(await recording.hook("Stop", stop));
  const [last] = await recording.steps();
  expect(last).toMatchObject({ kind: "turn-end", turn: 1, prompt: "one", files: { added: ["a.txt"] } });
});

test("a git that fails: the log says what it said", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const git = repository.write("../bin/git", "#!/bin/sh\necho 'fatal: the moon is full' >&2\nexit 128\n");
  chmodSync(git, 0o755);
  await recording.prompt("one");
  harmless(await recording.hook("Stop", {}, { env: { PATH: repository.at("..", "bin") } }));
  expect(recording.logged().at(-1)?.message).toContain("the moon is full");
  harmless(await recording.hook("Stop"));
  expect((await recording.steps())[0]?.kind).toBe("turn-end");
});

test("locks that others hold or left behind", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("one");
  repository.write("a.txt", "written\n");
  // The user's own index, by a git that runs or has crashed.
  writeFileSync(repository.at(".git", "index.lock"), "");
  // A session's lock of a process that is no more.
  const [session = ""] = sessionRef(recording).split("/").slice(-1);
  writeFileSync(repository.at(".git", "backtrail", "sessions", `${session}.lock`), "4194303 1\n");
  harmless(await recording.hook("Stop"));
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", files: { added: ["a.txt"] } });
  expect(recording.leftovers()).toEqual(["index.lock"]);
});

test("a repository under git's own operations: merge, detached HEAD, no commit", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  repository.git("checkout", "--quiet", "--detach");
  await recording.prompt("detached");
  repository.git("checkout", "--quiet", "--orphan", "fresh");
  harmless(await recording.hook("Stop", recording.answer("Done.")));
  const steps = await recording.steps();
  expect(steps.map((step) => step.kind)).toEqual(["turn-end", "turn-start"]);
});

test("a link to the repository, and a directory deep inside it", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const link = `${repository.path}-link`;
  symlinkSync(repository.path, link);
  mkdirSync(repository.at("deep", "down"), { recursive: true });
  const env = { CLAUDE_PROJECT_DIR: undefined };
  harmless(await recording.hook("UserPromptSubmit", { prompt: "one", cwd: link }, { env }));
  harmless(await recording.hook("Stop", { cwd: `${link}/deep/down` }, { env, cwd: link }));
  expect((await recording.steps()).map((step) => step.kind)).toEqual(["turn-end", "turn-start"]);
});

function directoriesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return [
    directory,
    ...entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name)),
  ];
}

function sessionRef(recording: Recording): string {
  return recording.repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions");
}
