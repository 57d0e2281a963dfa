/** A person takes one turn back and keeps what came later. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { bash, edit, ScriptedClaude, Story, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";
import { LINES, openedOnLines } from "./lines.ts";

interface Undone {
  plan: {
    write: string[];
    delete: string[];
    chmod: string[];
    notUndone: { kind: string; what: string; why: string; command?: string }[];
    conflicts: { path: string; why: string; markers?: true }[];
    create?: string[];
    turns?: unknown[];
    yours?: unknown[];
  };
  receipt: {
    safetyStep: string;
    written: number;
    deleted: number;
    chat: unknown;
    kept: unknown[];
    openSessions: unknown[];
    notes: string[];
    facts: { kind: string; reason?: { kind: string } }[];
  } | null;
}

const env = { BACKTRAIL_WORKER: "off" };

/** Three turns in one file, far enough apart, and a file of each turn's own. */
async function worked(repository: TemporaryRepository): Promise<ScriptedClaude> {
  const claude = await openedOnLines(repository);
  await claude.turn("Name the first line", [edit("app.txt", "line 1\n", "first\n"), write("one.txt", "1\n")]);
  claude.minute = 3;
  await claude.turn("Name the sixth line", [edit("app.txt", "line 6\n", "sixth\n"), write("two.txt", "2\n")]);
  claude.minute = 5;
  await claude.turn("Name the last line", [edit("app.txt", "line 12\n", "twelfth\n"), write("three.txt", "3\n")]);
  return claude;
}

function undo(repository: TemporaryRepository, ...args: string[]): Promise<Undone> {
  return repository.json<Undone>(["undo", ...args, "--yes"], { env });
}

async function stepOf(repository: TemporaryRepository, session: string, turn: number, kind = "turn-end") {
  const { steps } = await repository.json<{
    steps: { id: string; turn: number; session: string; kind: string }[];
  }>(["log", "--limit", "0"]);
  return steps.find((step) => step.session === session && step.turn === turn && step.kind === kind)?.id ?? "";
}

test("one turn out of three, as a person sees it", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const story = new Story(repository);
  const at = { minute: 7, env };
  await story.run(["undo", "2", "--dry-run"], at);
  expect(repository.read("app.txt")).toContain("sixth");
  await story.run(["undo", "2"], at);
  await story.run(["undo", "2", "--yes"], at);
  expect(repository.read("app.txt")).toBe(LINES.replace("line 1\n", "first\n").replace("line 12", "twelfth"));
  expect([repository.exists("one.txt"), repository.exists("two.txt"), repository.exists("three.txt")]).toEqual([
    true,
    false,
    true,
  ]);
  await story.run(["undo", "2", "--yes"], at);
  await story.run(["redo", "--yes"], at);
  expect(repository.read("app.txt")).toContain("sixth");
  expect(repository.read("two.txt")).toBe("2\n");
  await story.run(["undo", "nowhere"], at);
  await story.run(["undo", "9"], at);
  await story.run(["undo", "3", "1", "--yes"], at);
  expect(repository.read("app.txt")).toBe(LINES.replace("line 6", "sixth"));
  expect(story.toString()).toMatchSnapshot();
});

test("what came later in the same lines is a conflict, and nothing is written unless markers are asked for", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  claude.minute = 6;
  await claude.turn("Better", [edit("app.txt", "sixth", "the sixth")]);
  const before = repository.read("app.txt");
  const story = new Story(repository);
  const at = { minute: 7, env };
  await story.run(["undo", "3", "--yes"], at);
  expect([repository.read("app.txt"), repository.exists("two.txt")]).toEqual([before, true]);
  await story.run(["undo", "3", "--yes", "--conflicts=markers"], at);
  expect(repository.exists("two.txt")).toBe(false);
  expect(repository.read("app.txt")).toContain(
    `<<<<<<< now\nthe sixth\n=======\nline 6\n>>>>>>> before-turn-${await stepOf(repository, claude.session, 2)}\n`,
  );
  await story.run(["redo", "--yes"], at);
  expect([repository.read("app.txt"), repository.exists("two.txt")]).toEqual([before, true]);
  // Both turns together are no conflict at all.
  await story.run(["undo", "1", "3", "--yes"], at);
  expect(repository.read("app.txt")).toContain("line 5\nline 6\nline 7\n");
  expect(story.toString()).toMatchSnapshot();
});

test("the shapes that scripts rely on", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  const dry = await repository.json<Undone>(["undo", "2", "--dry-run"], { env });
  expect(dry).toEqual({
    plan: {
      write: ["app.txt"],
      delete: ["two.txt"],
      chmod: [],
      notUndone: [],
      conflicts: [],
      create: [],
      turns: [expect.objectContaining({ agent: "claude-code", turn: 2, prompt: "Name the sixth line" })],
      yours: [],
    },
    receipt: null,
  });
  const { receipt } = await undo(repository, await stepOf(repository, claude.session, 2, "turn-start"));
  expect(receipt).toEqual({
    safetyStep: expect.any(String),
    written: 1,
    deleted: 1,
    chat: null,
    kept: [],
    openSessions: [],
    notes: expect.any(Array),
    facts: [{ kind: "no-conversation", reason: { kind: "undo-only" } }],
  });
  const again = await repository.run(["undo", "2", "--yes", "--json"], { env });
  expect([again.code, again.stderr]).toEqual([3, expect.stringContaining("is already undone")]);
});

test("`last` takes one turn after another", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  for (const name of ["three.txt", "two.txt", "one.txt"]) {
    expect((await undo(repository, "last")).plan.delete).toEqual([name]);
  }
  expect(repository.read("app.txt")).toBe(LINES);
  expect((await repository.run(["undo", "last", "--yes"], { env })).code).toBe(3);
  for (let i = 0; i < 3; i++) await repository.json(["redo", "--yes"], { env });
  expect(repository.read("three.txt")).toBe("3\n");
});

test("one session's turns, while several sessions run", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const other = new ScriptedClaude(repository, "99999999-2222-4333-8444-555555555555");
  other.minute = 7;
  await other.start();
  await other.turn("Write more", [write("four.txt", "4\n")]);
  const target = async (...args: string[]) =>
    (await repository.run(["undo", ...args, "--dry-run"], { env })).stdout.split("\n")[0];
  expect(await target("2")).toMatch(/ @2 [k-z]{12} .*, claude-code: "Name the last line"$/);
  expect(await target("@2")).toMatch(/ @2 [k-z]{12} .*, claude-code: "Name the last line"$/);
  // Among the turns of one session the number is another one, so none is printed.
  expect(await target("2", "--session", "1111")).toMatch(/^Undo [k-z]{12} .*, claude-code: "Name the sixth line"$/);
  expect(await target("last", "-s", "11111111")).toMatch(/^Undo [k-z]{12} .*, claude-code: "Name the last line"$/);
  expect(await target("99999999")).toMatch(/ @1 [k-z]{12} .*, claude-code: "Write more"$/);
  await undo(repository, "11111111");
  expect(repository.exists("three.txt")).toBe(false);
  expect(await target("11111111")).toMatch(/ @3 [k-z]{12} .*, claude-code: "Name the sixth line"$/);
  const few = await repository.run(["undo", "2", "--session", "9999", "--yes"], { env });
  expect(few).toMatchObject({ code: 3 });
  expect(few.stderr).toContain("There is no turn @2: 1 turn of that session led here.");
  const none = await repository.run(["undo", "last", "--session", "abc", "--yes"], { env });
  expect(none.stderr).toContain('No session here begins with "abc".');
});

test("what the user and later turns did stays: edits, renames, modes, links; and redo keeps what came after", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  repository.write("app.txt", repository.read("app.txt").replace("line 9", "the user's"));
  renameSync(repository.at("app.txt"), repository.at("moved.txt"));
  chmodSync(repository.at("moved.txt"), 0o755);
  symlinkSync("moved.txt", repository.at("link"));
  const { plan } = await undo(repository, "2");
  expect(plan).toMatchObject({ write: ["moved.txt"], delete: ["two.txt"], conflicts: [] });
  const text = repository.read("moved.txt");
  expect([text.includes("sixth"), text.includes("line 6"), text.includes("the user's")]).toEqual([false, true, true]);
  repository.write("later.txt", "later\n");
  repository.write("moved.txt", text.replace("line 3", "after the undo"));
  await repository.json(["redo", "--yes"], { env });
  const after = repository.read("moved.txt");
  expect([after.includes("sixth"), after.includes("after the undo")]).toEqual([true, true]);
  expect([repository.read("later.txt"), repository.read("two.txt")]).toEqual(["later\n", "2\n"]);
});

test("deletions, kinds and binary files of a turn", async () => {
  using repository = temporaryRepository();
  repository.writeAll({ "gone.txt": "gone\n", kind: "a file\n", "tool.sh": "#!/bin/sh\n" });
  repository.writeAll({ "picture.bin": "a\0b", "other.bin": "a\0b" });
  repository.commit("second");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Change kinds", [
    bash("rm gone.txt kind && mkdir kind && echo x > kind/now && chmod +x tool.sh"),
    bash("printf 'c\\0d' > picture.bin && printf 'c\\0d' > other.bin"),
  ]);
  await claude.turn("Paint", [bash("printf 'e\\0f' > picture.bin")]);
  const last = await stepOf(repository, claude.session, 2);
  const refused = await repository.run(["undo", "2", "--yes", "--json"], { env });
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.stdout).plan.conflicts).toEqual([
    {
      path: "picture.bin",
      kind: "binary",
      turn: last,
      why: `it is binary and was changed since (by claude-code in turn ${last})`,
    },
  ]);
  expect(repository.exists("kind/now")).toBe(true);
  const { plan } = await undo(repository, "2", "--conflicts=markers");
  expect(plan).toMatchObject({ chmod: ["tool.sh"], conflicts: [] });
  expect(plan.notUndone).toContainEqual({
    kind: "unresolved",
    what: "picture.bin",
    why: expect.stringContaining("left as it is"),
  });
  expect([repository.read("gone.txt"), repository.read("kind"), repository.read("other.bin")]).toEqual([
    "gone\n",
    "a file\n",
    "a\0b",
  ]);
  expect(repository.read("picture.bin")).toBe("e\0f");
});

test("two agents at once: undoing one never touches the other's lines", async () => {
  using repository = temporaryRepository();
  repository.write("app.txt", LINES);
  repository.write("both.txt", LINES);
  repository.commit("lines");
  await repository.run(["enable", "--agent", "claude-code"]);
  const [ada, bob] = [new ScriptedClaude(repository), new ScriptedClaude(repository)];
  await ada.start();
  await bob.start();
  await ada.begin("Ada's turn");
  await ada.act(edit("app.txt", "line 1\n", "ada\n"));
  await ada.act(edit("both.txt", "line 1\n", "ada\n"));
  await bob.begin("Bob's turn");
  await bob.act(write("bob.txt", "bob\n"));
  await bob.act(edit("both.txt", "line 12\n", "bob\n"));
  await bob.finish();
  await ada.act(edit("app.txt", "line 6\n", "ada again\n"));
  await ada.finish();
  const adas = await stepOf(repository, ada.session, 1);
  const bobs = await stepOf(repository, bob.session, 1);
  // Bob's work in both.txt lies between two steps, while Ada had the file too: who wrote what can't be told.
  const refused = await repository.run(["undo", bobs, "--yes", "--json"], { env });
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.stdout).plan.conflicts).toEqual([
    {
      path: "both.txt",
      kind: "shared",
      turn: expect.any(String),
      why: expect.stringContaining("changed it at the same time"),
    },
  ]);
  const { plan } = await undo(repository, adas, "--conflicts=markers");
  expect(plan.notUndone.map(({ what }) => what)).toEqual(["both.txt"]);
  expect(repository.read("app.txt")).toBe(LINES);
  // What Ada did to it before Bob began is known to be hers.
  expect(repository.read("both.txt")).toBe(LINES.replace("line 12\n", "bob\n"));
  expect(repository.read("bob.txt")).toBe("bob\n");
  await repository.json(["redo", "--yes"], { env });
  expect(repository.read("app.txt")).toContain("ada again");
  const both = await undo(repository, adas, bobs);
  expect([both.plan.conflicts, repository.read("both.txt"), repository.exists("bob.txt")]).toEqual([[], LINES, false]);
});

test("line endings that git does not keep are kept", async () => {
  using repository = temporaryRepository();
  const dos = LINES.replaceAll("\n", "\r\n");
  repository.git("config", "core.autocrlf", "input");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Make it", [write("dos.txt", dos)]);
  await claude.turn("Change it", [edit("dos.txt", "line 6\r", "sixth\r")]);
  await claude.turn("And again", [edit("dos.txt", "line 12\r", "twelfth\r")]);
  expect((await undo(repository, "2")).plan).toMatchObject({ write: ["dos.txt"], conflicts: [] });
  expect(readFileSync(repository.at("dos.txt"), "utf8")).toBe(dos.replace("line 12", "twelfth"));
});

test("a merge driver or attribute of the user's decides nothing", async () => {
  using repository = temporaryRepository();
  repository.write(".gitattributes", "*.txt merge=union\n*.md merge=mine\n");
  repository.write("a.txt", LINES);
  repository.write("a.md", LINES);
  repository.commit("attributes");
  repository.git("config", "merge.mine.driver", "touch ran; false");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("One", [edit("a.txt", "line 6", "six"), edit("a.md", "line 6", "six")]);
  await claude.turn("Two", [edit("a.txt", "six", "VI"), edit("a.md", "line 1\n", "first\n")]);
  const last = await stepOf(repository, claude.session, 2);
  const refused = await repository.run(["undo", "2", "--yes", "--json"], { env });
  expect([refused.code, JSON.parse(refused.stdout).plan.conflicts]).toEqual([
    4,
    [
      {
        path: "a.txt",
        kind: "same-lines",
        turn: last,
        why: `the same or neighboring lines were changed since (by claude-code in turn ${last})`,
      },
    ],
  ]);
  expect([repository.exists("ran"), repository.exists(".git/ran")]).toEqual([false, false]);
});

test("turns that are not there to be undone", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  const second = await stepOf(repository, claude.session, 2);
  await repository.json(["rewind", second, "--yes"], { env });
  const third = await stepOf(repository, claude.session, 3);
  const gone = await repository.run(["undo", third, "--yes"], { env });
  expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining("is already rewound")]);
  const { step } = await repository.json<{ step: { id: string } }>(["save", "by hand"], { env });
  const manual = await repository.run(["undo", step.id, "--yes"], { env });
  expect([manual.code, manual.stderr]).toEqual([2, expect.stringContaining("not part of a turn")]);
  repository.git("worktree", "add", "--quiet", repository.at("../beside"));
  const elsewhere = await repository.run(["-C", repository.at("../beside"), "undo", second, "--yes"], { env });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([4, expect.stringContaining("another work tree")]);
  rmSync(repository.at("../beside"), { recursive: true, force: true });
});

test("in a folder without git", async () => {
  using folder = temporaryFolder();
  folder.write("app.txt", LINES);
  await folder.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(folder);
  await claude.start();
  await claude.turn("One", [edit("app.txt", "line 1\n", "first\n")]);
  await claude.turn("Two", [edit("app.txt", "line 12\n", "last\n")]);
  expect((await undo(folder, "2")).plan.write).toEqual(["app.txt"]);
  expect(folder.read("app.txt")).toBe(LINES.replace("line 12\n", "last\n"));
});
