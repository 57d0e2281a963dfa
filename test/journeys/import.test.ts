/** Sessions from before Backtrail, found among the agents' own transcripts. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

interface Report {
  sessions: { session: string; turns: { prompt: string; files: string[]; response: string }[] }[];
  skipped: { session: string; why: string }[];
}

const FIRST = "11111111-aaaa-4aaa-8aaa-111111111111";
const SECOND = "22222222-bbbb-4bbb-8bbb-222222222222";

/** What the agent did while nobody recorded it. */
async function before(repository: TemporaryRepository, session: string, prompt: string): Promise<ScriptedClaude> {
  const claude = new ScriptedClaude(repository, session);
  await claude.turn(prompt, [write("notes.txt", `${prompt}\n`)], "Noted.");
  return claude;
}

function atHome(repository: TemporaryRepository, name: string, content: string): void {
  const path = join(repository.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

test("Claude Code's sessions: prompts, files and the conversation; once, and again when they have grown", async () => {
  using repository = temporaryRepository();
  const claude = await before(repository, FIRST, "Take a note");
  await repository.run(["enable", "--agent", "claude-code"]);
  await new ScriptedClaude(repository, SECOND).turn("Recorded already", []);

  const planned = await repository.json<Report>(["import", "claude-code", "--dry-run"]);
  expect(planned.sessions.map(({ session }) => session)).toEqual([FIRST]);
  expect(repository.exists(".git/backtrail/imported")).toBe(false);

  const report = await repository.json<Report>(["import", "claude"]);
  expect(report.sessions).toMatchObject([
    { session: FIRST, turns: [{ prompt: "Take a note", files: ["notes.txt"], response: "Noted." }] },
  ]);
  expect(report.skipped).toEqual([{ session: SECOND, why: "recorded" }]);
  expect((await repository.json<Report>(["import", "claude-code"])).skipped).toContainEqual({
    session: FIRST,
    why: "imported",
  });

  const shown = (await repository.run(["explain", FIRST.slice(0, 8), "--conversation"])).stdout;
  expect(shown).toContain("without snapshots");
  expect(shown).toContain("> Take a note");
  expect(shown).toContain("Noted.");

  claude.transcript.user("Another one", "p2");
  expect((await repository.json<Report>(["import", "claude-code"])).sessions[0]?.turns.length).toBe(2);
  expect((await repository.run(["doctor", "--check"])).code).toBe(0);
  expect(repository.git("log", "--all", "--format=%s")).toBe("first");
  expect(repository.git("for-each-ref", "refs/backtrail/imported")).toBe("");
});

test("a copy of a recorded conversation is imported only once something was said in it", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository, FIRST);
  await claude.turn("Take a note", [write("notes.txt", "1\n")], "Noted.");
  await claude.turn("Take another", [write("more.txt", "1\n")], "Noted.");
  await claude.end();
  const { fork } = await repository.json<{ fork: { name: string; chat: { session: string } } }>(["fork", "1"]);
  await repository.run(["fork", "drop", fork.name, "--yes"]);
  const { receipt } = await repository.json<{ receipt: { chat: { session: string } } }>(["rewind", "1", "--yes"]);
  const copy = receipt.chat.session;
  const noticed = await repository.json<{ receipt: { chat: { session: string } } }>([
    ...["undo", "1", "--reason", "no notes", "--yes"],
  ]);
  const report = await repository.json<Report>(["import", "claude-code"]);
  expect(report.sessions).toEqual([]);
  const skipped = new Map(report.skipped.map(({ session, why }) => [session, why]));
  expect(skipped).toEqual(
    new Map([
      [FIRST, "recorded"],
      [copy, "copy"],
      [fork.chat.session, "copy"],
      [noticed.receipt.chat.session, "copy"],
    ]),
  );

  await repository.run(["disable"]);
  await new ScriptedClaude(repository, copy).turn("Go on", [], "Went on.");
  await repository.run(["enable", "--agent", "claude-code"]);
  const later = await repository.json<Report>(["import", "claude-code"]);
  expect(later.sessions).toMatchObject([{ session: copy, turns: [{ prompt: "Take a note" }, { prompt: "Go on" }] }]);
});

test("conversations about other folders, subagents' and broken files are left alone", async () => {
  using repository = temporaryRepository();
  const claude = await before(repository, FIRST, "Take a note");
  const own = readFileSync(claude.transcript.path, "utf8");
  const folder = dirname(claude.transcript.path).slice(repository.home.length + 1);
  atHome(repository, `${folder}/${SECOND}.jsonl`, own.replaceAll(repository.path, `${repository.path}-other`));
  atHome(repository, `${folder}/33333333-cccc-4ccc-8ccc-333333333333.jsonl`, "no JSON\n{\n");
  atHome(repository, `${folder}/44444444-dddd-4ddd-8ddd-444444444444.jsonl`, "");
  atHome(repository, `${folder}/${FIRST}/subagents/agent-1.jsonl`, own.replaceAll("false", "true"));
  symlinkSync("/dev/zero", join(repository.home, folder, "55555555-eeee-4eee-8eee-555555555555.jsonl"));
  await repository.run(["enable", "--agent", "claude-code"]);
  const report = await repository.json<Report>(["import", "claude-code"]);
  expect(report.sessions.map(({ session }) => session)).toEqual([FIRST]);
  expect(report.skipped).toEqual([]);
});

test.each([
  [
    "codex",
    "two-turns",
    "/home/dev/project",
    "01a1e25d-d997-7812-86ef-732b92154785",
    ".codex/sessions/2026/11/16/rollout-2026-11-16T03-19-23-{id}.jsonl",
  ],
  ["factoryai-droid", "two-turns", "/home/dev/project", FIRST, ".factory/sessions/{folder}/{id}.jsonl"],
  [
    "pi",
    "session",
    "/home/dev/proj",
    "01a1e919-98ab-7428-9c2c-40a63de699d5",
    ".pi/agent/sessions/--{folder}--/2026-11-17T10-42-11-244Z_{id}.jsonl",
  ],
  [
    "copilot-cli",
    "terminal",
    "/home/dev/project",
    "0874eab2-a027-43f5-8b4d-5d45b853b73e",
    ".copilot/session-state/{id}/events.jsonl",
  ],
  ["cursor", "two-turns", "/home/dev/project", FIRST, ".cursor/projects/{folder}/agent-transcripts/{id}/{id}.jsonl"],
  [
    "gemini",
    "interrupted",
    "hash",
    "2aad7d17-a705-4cd3-b6db-4b60aae4ce84",
    ".gemini/tmp/project/chats/session-2026-11-17T10-05-2aad7d17.jsonl",
  ],
])(
  "%s: its sessions of this folder are found where it keeps them, and no others",
  async (agent, name, root, id, path) => {
    using repository = temporaryRepository();
    const recorded = readFileSync(join(import.meta.dirname, `../agents/${agent}/transcripts/${name}.jsonl`), "utf8");
    const about = (folder: string) =>
      root === "hash"
        ? recorded.replace(/"projectHash":"[0-9a-f]+"/, `"projectHash":"${sha256(folder)}"`)
        : recorded.replaceAll(root, folder);
    const at = (folder: string, session: string) =>
      path.replaceAll("{id}", session).replaceAll("{folder}", folder.replace(/[^A-Za-z0-9]+/g, "-").slice(1));
    const other = `${repository.path}-other`;
    atHome(repository, at(repository.path, id), about(repository.path));
    atHome(repository, at(other, SECOND).replace("tmp/project", "tmp/other"), about(other));
    await repository.run(["enable", "--agent", "claude-code"]);
    const report = await repository.json<Report>(["import", agent]);
    expect(report.sessions.map((each) => each.session)).toEqual([id]);
    expect(report.sessions[0]?.turns.length).toBeGreaterThan(0);
    expect((await repository.run(["explain", id, "--conversation"])).stdout).toContain("Conversation");
  },
);

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

test("nothing to import, and an agent without transcripts, are reported", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const none = await repository.run(["import", "claude-code"]);
  expect(none.code).toBe(3);
  expect(none.stderr).toContain("No conversation of Claude Code about this folder was found in ~/.claude/projects.");
  const unknown = await repository.run(["import", "claud"]);
  expect(unknown.code).toBe(2);
});
