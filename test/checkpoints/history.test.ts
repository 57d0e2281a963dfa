/** Between commits, checkpoints and sessions. */
import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { checkpointsOfSession, commitsNaming, findCommit, recentCommits } from "../../src/checkpoints/links/history.ts";
import { BRANCH, commitFiles, ID } from "./branch.ts";
import { recordedRepository } from "./recorded.ts";

const OTHER = "ffffffffffff";

test("a checkpoint's commits are found on every branch, if they name it on a separate line", async () => {
  using place = await recordedRepository();
  const { repository, workspace } = place;
  const first = place.commit(`One\n\nEntire-Checkpoint: ${ID}`);
  place.commit(`Speaks of "Entire-Checkpoint: ${ID}" only`);
  repository.git("checkout", "--quiet", "-b", "other", "HEAD~2");
  place.git("cherry-pick", "--allow-empty", first);
  const picked = repository.git("rev-parse", "HEAD");
  repository.git("checkout", "--quiet", "main");
  expect((await commitsNaming(workspace, ID)).map(({ id }) => id).sort()).toEqual([first, picked].sort());
  expect(await commitsNaming(workspace, OTHER)).toEqual([]);
  expect(await commitsNaming(workspace, "--all")).toEqual([]);
});

test("the checkpoints' own history is none of the user's commits", async () => {
  using place = await recordedRepository();
  commitFiles(place.repository, BRANCH, { "a/b": "x" }, `Checkpoint: ${ID}\n\nEntire-Checkpoint: ${ID}`);
  commitFiles(place.repository, "refs/remotes/origin/entire/checkpoints/v1", { "a/b": "x" }, "Checkpoint: fetched");
  expect((await recentCommits(place.workspace, 0, true)).map(({ subject }) => subject)).toEqual(["first"]);
  expect(await commitsNaming(place.workspace, ID)).toEqual([]);
});

test("a session's checkpoints, by its whole id", async () => {
  using place = await recordedRepository();
  const { repository, workspace } = place;
  const message = (id: string, ...sessions: string[]) =>
    `Checkpoint: ${id}\n\n${sessions.map((session) => `Entire-Session: ${session}\n`).join("")}Entire-Agent: Cursor`;
  const one = commitFiles(repository, BRANCH, { "a/b": "1" }, message(ID, "s", "t"));
  const tree = repository.git("rev-parse", `${one}^{tree}`);
  const two = repository.git("commit-tree", tree, "-p", one, "-m", message(OTHER, "s2"));
  repository.git("update-ref", BRANCH, two);
  expect(await checkpointsOfSession(workspace, "s")).toEqual([ID]);
  expect(await checkpointsOfSession(workspace, "t")).toEqual([ID]);
  expect(await checkpointsOfSession(workspace, "s2")).toEqual([OTHER]);
  expect(await checkpointsOfSession(workspace, "x\nEntire-Session: s")).toEqual([]);
});

test("what a rewrite took out of a message is known from the store", async () => {
  using place = await recordedRepository();
  const commit = place.commit(`Squashed\n\nEntire-Checkpoint: ${ID}`);
  const link = { v: 1, commit, checkpoints: [OTHER, "../x"] };
  appendFileSync(`${place.workspace.storeDir}/links.jsonl`, `${JSON.stringify(link)}\n{"torn`);
  expect((await findCommit(place.workspace, "HEAD"))?.checkpoints).toEqual([ID, OTHER]);
});

test("an invalid commit is not parsed", async () => {
  using place = await recordedRepository();
  for (const text of ["", "--all", "nowhere", "HEAD:README.md", "a\0b", "$(touch x)"]) {
    expect(await findCommit(place.workspace, text)).toBeUndefined();
  }
});
