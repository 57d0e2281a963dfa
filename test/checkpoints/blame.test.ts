/** From a line to the prompt behind it: before a commit, after it, and after the history was rewritten. */

import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { type Blame, blameFile } from "../../src/checkpoints/blame/blame.ts";
import { type BacktrailRecord, CHECKPOINT_BRANCH } from "../../src/checkpoints/format/layout.ts";
import { attributeCommit, attributionOf } from "../../src/checkpoints/write/attribution.ts";
import { findWorkspace, type Workspace } from "../../src/git/workspace.ts";
import { commitExampleCheckpoint, commitFiles, exampleCheckpoint, ID } from "./branch.ts";
import { AGENT, Recorded, recordedRepository } from "./recorded.ts";

function told(blame: Blame): string[] {
  return blame.lines.map(({ text, commit, turn }) => {
    const who = turn ? `${turn.session} ${turn.turn} ${turn.prompt}` : "a person";
    return `${text}: ${commit?.subject ?? "uncommitted"}, ${who}`;
  });
}

/** A checkpoint with our own file in it, as condensing a commit leaves it. */
async function condense(place: Recorded, id: string, commit: string, session: string): Promise<void> {
  const attribution = await attributeCommit(place.workspace, commit);
  const record: BacktrailRecord = {
    v: 1,
    session,
    agent: AGENT,
    steps: [1, 2].map((turn) => ({
      id: "kkkkkkkkkkkk",
      kind: "turn-end",
      turn,
      time: "2026-01-05T09:00:00.000Z",
      prompt: `kept prompt ${turn}`,
      response: null,
      files: [],
    })),
    attribution: attributionOf(attribution, { agent: AGENT, session }),
  };
  const path = `${id.slice(0, 2)}/${id.slice(2)}`;
  commitFiles(place.repository, CHECKPOINT_BRANCH, {
    [`${path}/metadata.json`]: JSON.stringify({ checkpoint_id: id, sessions: [{}] }),
    [`${path}/0/metadata.json`]: JSON.stringify({ session_id: session, agent: "Test" }),
    [`${path}/0/backtrail.json`]: JSON.stringify(record),
  });
}

/** As if the steps had been pruned, or the repository cloned. */
function forgetSteps(place: Recorded): void {
  place.repository.write(".git/backtrail/steps.jsonl", "");
}

describe("from the steps recorded here", () => {
  test("lines that are in no commit yet have their turns", async () => {
    using place = await recordedRepository();
    await place.turn("s", 1, "write it", () => place.repository.write("new.txt", "agent\n"));
    place.repository.write("new.txt", "agent\nmine\n");
    expect(told(await blameFile(place.workspace, "new.txt", null))).toEqual([
      "agent: uncommitted, s 1 write it",
      "mine: uncommitted, a person",
    ]);
  });

  test("each line has the turn of the commit that it came with", async () => {
    using place = await recordedRepository();
    const { repository } = place;
    await place.turn("s", 1, "first", () => repository.write("a.txt", "one\n"));
    place.commit("first commit");
    await place.turn("s", 2, "second", () => repository.write("a.txt", "one\ntwo\n"));
    place.commit("second commit");
    repository.write("a.txt", "one\ntwo\nthree\n");
    place.commit("by hand");
    await place.turn("s", 3, "third", () => repository.write("a.txt", "one\ntwo\nthree\nfour\n"));
    expect(told(await blameFile(place.workspace, "a.txt", null))).toEqual([
      "one: first commit, s 1 first",
      "two: second commit, s 2 second",
      "three: by hand, a person",
      "four: uncommitted, s 3 third",
    ]);
  });

  test("and the commit's checkpoint, where it has the session but not the lines", async () => {
    using place = await recordedRepository();
    await place.turn("cursor-session", 1, "first", () => place.repository.write("a.txt", "one\n"));
    place.commit(`work\n\nEntire-Checkpoint: ${ID}`);
    commitExampleCheckpoint(place.repository);
    const [line] = (await blameFile(place.workspace, "a.txt", null)).lines;
    expect(line?.turn).toMatchObject({ turn: 1, prompt: "first", checkpoint: ID, index: 1 });
  });

  test("a commit that came from another work tree has the turns of there", async () => {
    using place = await recordedRepository();
    const { repository } = place;
    repository.git("worktree", "add", "--quiet", "-b", "side", ".git/side");
    const there = new Recorded(repository, findWorkspace(repository.at(".git/side")) as Workspace);
    await there.turn("s", 1, "there", () => repository.write(".git/side/a.txt", "one\n"));
    const at = ["-C", ".git/side"];
    repository.git(...at, "add", "a.txt");
    there.git(...at, "commit", "--quiet", "--message", "from the side");
    repository.git("merge", "--quiet", "--ff-only", "side");
    expect(told(await blameFile(place.workspace, "a.txt", null))).toEqual(["one: from the side, s 1 there"]);
  });

  test("one line alone", async () => {
    using place = await recordedRepository();
    await place.turn("s", 1, "first", () => place.repository.write("a.txt", "one\ntwo\n"));
    place.commit("work");
    const blame = await blameFile(place.workspace, "a.txt", { from: 2, to: 2 });
    expect(told(blame)).toEqual(["two: work, s 1 first"]);
    expect(blame.lines[0]?.turn?.response).toBe("Done: first");
  });

  test("a file that the user renamed later, with any names", async () => {
    using place = await recordedRepository();
    const [old, fresh] = ['old "é\t".txt', 'new "ü\\".txt'];
    await place.turn("s", 1, "first", () => place.repository.write(old, "one\ntwo\nthree\n"));
    place.commit("work");
    place.repository.git("mv", old, fresh);
    place.commit("renamed");
    const blame = await blameFile(place.workspace, fresh, { from: 2, to: 2 });
    expect(told(blame)).toEqual(["two: work, s 1 first"]);
  });
});

describe("from the checkpoint alone", () => {
  test("the commit's lines have their turns and prompts", async () => {
    using place = await recordedRepository();
    await place.turn("s", 1, "first", () => place.repository.write("a.txt", "one\n"));
    place.repository.write("a.txt", "one\nmine\n");
    const commit = place.commit(`work\n\nEntire-Checkpoint: ${ID}`);
    await condense(place, ID, commit, "s");
    forgetSteps(place);
    expect(told(await blameFile(place.workspace, "a.txt", null))).toEqual([
      "one: work, s 1 kept prompt 1",
      "mine: work, a person",
    ]);
  });

  test("after a rebase onto lines above, and an amend", async () => {
    using place = await recordedRepository();
    const { repository } = place;
    repository.write("a.txt", "a\nb\nc\nd\ne\n");
    place.commit("base");
    await place.turn("s", 1, "first", () => repository.write("a.txt", "a\nb\nc\nd\ne\nagent {\n}\n"));
    const commit = place.commit(`work\n\nEntire-Checkpoint: ${ID}`);
    await condense(place, ID, commit, "s");
    repository.git("checkout", "--quiet", "-b", "other", "HEAD~1");
    repository.write("a.txt", "above {\n}\na\nb\nc\nd\ne\n");
    place.commit("above");
    repository.git("checkout", "--quiet", "main");
    place.git("rebase", "--quiet", "other");
    repository.write("a.txt", "above {\n}\na\nb\nc\nd\ne\nagent {\n  mine\n}\n");
    place.commit(`work\n\nEntire-Checkpoint: ${ID}`, "--amend");
    forgetSteps(place);
    expect(told(await blameFile(place.workspace, "a.txt", null))).toEqual([
      "above {: above, a person",
      "}: above, a person",
      ...["a", "b", "c", "d", "e"].map((line) => `${line}: base, a person`),
      "agent {: work, s 1 kept prompt 1",
      "  mine: work, a person",
      "}: work, s 1 kept prompt 1",
    ]);
  });

  test("commits squashed into one keep both of their checkpoints", async () => {
    using place = await recordedRepository();
    const { repository } = place;
    const other = "ffffffffffff";
    await place.turn("s", 1, "first", () => repository.write("a.txt", "one\n"));
    await condense(place, ID, place.commit("one"), "s");
    await place.turn("t", 2, "second", () => repository.write("a.txt", "one\ntwo\n"));
    await condense(place, other, place.commit("two"), "t");
    place.git("reset", "--quiet", "--soft", "HEAD~2");
    place.commit(`both\n\none\n\nEntire-Checkpoint: ${ID}\n\ntwo\n\nEntire-Checkpoint: ${other}`);
    forgetSteps(place);
    expect(told(await blameFile(place.workspace, "a.txt", null))).toEqual([
      "one: both, s 1 kept prompt 1",
      "two: both, t 2 kept prompt 2",
    ]);
  });

  test("another tool's checkpoint tells the session by its files", async () => {
    using place = await recordedRepository();
    commitExampleCheckpoint(place.repository);
    place.repository.write("greet.ts", "hello\n");
    place.repository.write("other.ts", "hello\n");
    place.commit(`work\n\nEntire-Checkpoint: ${ID}`);
    const [line] = (await blameFile(place.workspace, "greet.ts", null)).lines;
    // No edit in its transcript holds the line, and it has two prompts.
    expect(line?.turn).toMatchObject({ agent: "Claude Code", turn: null, prompt: null });
    expect(told(await blameFile(place.workspace, "other.ts", null))).toEqual(["hello: work, a person"]);
  });

  test("another tool's transcript gives the turn that wrote the line", async () => {
    using place = await recordedRepository();
    const line = (type: string, uuid: string, content: unknown) =>
      `${JSON.stringify({ type, uuid, parentUuid: null, sessionId: "s", isSidechain: false, message: { role: type, content } })}\n`;
    const edit = (content: string) => [
      { type: "tool_use", id: content, name: "Write", input: { file_path: "/w/greet.ts", content } },
    ];
    const transcript =
      line("user", "1", "Say hello") +
      line("assistant", "2", edit("const hello = 1;\n")) +
      line("user", "3", "Say goodbye") +
      line(
        "assistant",
        "4",
        edit("const hello = 1;\nconst goodbye = 2;\n").map((use) => ({
          ...use,
          name: "Write",
          input: { ...use.input, content: "const goodbye = 2;" },
        })),
      );
    const files = Object.entries(exampleCheckpoint(() => "")).filter(([path]) => !path.includes("/0/full"));
    const all = { ...Object.fromEntries(files), [`${ID.slice(0, 2)}/${ID.slice(2)}/0/full.jsonl`]: transcript };
    commitFiles(place.repository, CHECKPOINT_BRANCH, all);
    place.repository.write("greet.ts", "const hello = 1;\nconst goodbye = 2;\n");
    place.commit(`work\n\nEntire-Checkpoint: ${ID}`);
    const { lines } = await blameFile(place.workspace, "greet.ts", null);
    expect(lines.map(({ turn }) => [turn?.turn, turn?.prompt])).toEqual([
      [1, "Say hello"],
      [2, "Say goodbye"],
    ]);
  });

  test("where two sessions of another tool touched a file, the transcript that holds the line tells the session", async () => {
    using place = await recordedRepository();
    const line = (type: string, uuid: string, content: unknown) =>
      `${JSON.stringify({ type, uuid, parentUuid: null, sessionId: "s", isSidechain: false, message: { role: type, content } })}\n`;
    const written = (prompt: string, content: string) =>
      line("user", "1", prompt) +
      line("assistant", "2", [
        { type: "tool_use", id: "use", name: "Write", input: { file_path: "/w/greet.ts", content } },
      ]);
    const at = `${ID.slice(0, 2)}/${ID.slice(2)}`;
    const files = Object.entries(exampleCheckpoint(() => "")).filter(([path]) => !path.includes("/0/full"));
    const first = JSON.parse(String(Object.fromEntries(files)[`${at}/0/metadata.json`]));
    const all = {
      ...Object.fromEntries(files),
      [`${at}/0/full.jsonl`]: written("Say hello", "const hello = 1;\n"),
      [`${at}/1/metadata.json`]: JSON.stringify({ ...first, session_id: "second" }),
      [`${at}/1/full.jsonl`]: written("Say goodbye", "const goodbye = 2;\n"),
    };
    commitFiles(place.repository, CHECKPOINT_BRANCH, all);
    place.repository.write("greet.ts", "const hello = 1;\nconst goodbye = 2;\nconst mine = 3;\n");
    place.commit(`work\n\nEntire-Checkpoint: ${ID}`);
    const { lines } = await blameFile(place.workspace, "greet.ts", null);
    expect(lines.map(({ turn }) => [turn?.session, turn?.turn, turn?.prompt])).toEqual([
      [first.session_id, 1, "Say hello"],
      ["second", 1, "Say goodbye"],
      // No transcript holds this line, so only the checkpoint's first session with the file is named.
      [first.session_id, null, null],
    ]);
  });

  test("an unreadable checkpoint is reported, and the rest is read", async () => {
    using place = await recordedRepository();
    commitFiles(place.repository, CHECKPOINT_BRANCH, { [`${ID.slice(0, 2)}/${ID.slice(2)}/metadata.json`]: "{" });
    place.repository.write("a.txt", "hello\n");
    place.commit(`work\n\nEntire-Checkpoint: ${ID}\nEntire-Checkpoint: ../../../x`);
    const blame = await blameFile(place.workspace, "a.txt", null);
    expect(told(blame)).toEqual(["hello: work, a person"]);
    expect(blame.problems).toEqual([
      `Checkpoint ${ID} cannot be read: metadata.json is refused: it is not valid JSON.`,
    ]);
  });
});

describe("what has no story is refused", () => {
  test.each([
    ["../outside.txt", "is not in this work tree"],
    ["link", "is not in this work tree"],
    ["absent.txt", "There is no file"],
    ["binary", "is not text"],
    [".", "is not a file"],
  ])("%s", async (path, message) => {
    using place = await recordedRepository();
    place.repository.write("../outside.txt", "x\n");
    place.repository.write("binary", Uint8Array.of(0, 1));
    symlinkSync("/etc/passwd", place.repository.at("link"));
    await expect(blameFile(place.workspace, path, null)).rejects.toThrow(message);
  });

  test("a line that is not there", async () => {
    using place = await recordedRepository();
    await expect(blameFile(place.workspace, "README.md", { from: 9, to: 9 })).rejects.toThrow("has no line 9");
  });
});
