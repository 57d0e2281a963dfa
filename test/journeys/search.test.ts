/** Search through the built executable: recorded and unrecorded sessions, changes of the shell, fates, filters. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { gitWith, settled } from "./commits.ts";

interface Found {
  hits: {
    id: string;
    session: string;
    agent: string;
    repository: string;
    turn: number;
    time: string;
    field: string;
    snippet: string;
    path: string | null;
    fate: { state: string; commit: string | null; check: string | null } | null;
  }[];
  total: number;
  pending: number;
}

/** Without a worker, so that a search indexes everything itself. */
const env = { BACKTRAIL_WORKER: "off" };

async function recorded() {
  const repository = temporaryRepository();
  expect((await repository.run(["enable", "--agent", "claude-code"], { env })).code).toBe(0);
  return { repository, agent: new ScriptedClaude(repository), [Symbol.dispose]: () => repository.remove() };
}

/** A search catches up for a short time only, so on a busy machine it may have to be asked again. */
async function found({ repository }: { repository: TemporaryRepository }, ...args: string[]): Promise<Found> {
  for (let times = 0; ; times++) {
    const result = await repository.run(["search", "--json", ...args], { env });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const all = JSON.parse(result.stdout) as Found;
    if (all.pending === 0 || times === 20) return all;
  }
}

const fields = ({ hits }: Found) => hits.map(({ field }) => field).sort();

test("prompts, answers, commands, outputs and changed lines are found, each in its field", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn(
    "Add tokenRefreshSession please",
    [write("src/session.ts", "export const quokkaLimit = 3;\n"), bash("echo wombatOutput > made-by-shell.txt")],
    "I added the narwhalAnswer.",
  );
  for (const [word, field] of [
    ["refresh", "prompt"],
    ["narwhal", "answer"],
  ] as const) {
    const result = await found(recording, word);
    expect(fields(result)).toEqual([field]);
    expect(result.hits[0]).toMatchObject({
      agent: "claude-code",
      session: agent.session,
      repository: repository.path,
      turn: 1,
      fate: { state: "kept", commit: null, check: null },
    });
    expect(result.hits[0]?.id).toMatch(/^[k-z]{12}$/);
  }
  expect(fields(await found(recording, "quokka"))).toEqual(["added", "command"]);
  const shell = await found(recording, "--added", "wombatOutput");
  expect(shell.hits).toMatchObject([{ field: "added", path: "made-by-shell.txt", snippet: "wombatOutput" }]);
  expect((await found(recording, "nowhereToBeFound")).total).toBe(0);
});

test("a line that only a shell command removed is found, with its turn and its fate", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  repository.write("list.txt", "one\nplatypusLine(42)\nthree\n");
  repository.commit("A list");
  await agent.start();
  await agent.turn("Clean up", [bash("sed -i /platypus/d list.txt")], "Done.");
  const before = await found(recording, "--removed", "platypusLine(");
  expect(before.hits).toMatchObject([{ field: "removed", path: "list.txt", turn: 1, fate: { state: "kept" } }]);
  const id = before.hits[0]?.id ?? "";
  expect((await repository.run(["undo", id, "--yes"], { env })).code).toBe(0);
  expect((await found(recording, "--removed", "platypusLine(")).hits).toMatchObject([
    { id, fate: { state: "undone" } },
  ]);
  expect((await found(recording, "platypus is:undone")).total).toBeGreaterThan(0);
  expect((await found(recording, "platypus is:kept field:removed")).total).toBe(0);
});

test("a turn is committed by the commit that has its changes, not by one before it or after its undo", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  const commit = (later = 0) => {
    const date = new Date(Date.now() + later).toISOString();
    repository.git("add", "--all");
    gitWith(repository, { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date }, "commit", "-qm", "A file");
    return repository.git("rev-parse", "HEAD");
  };
  const fateOf = async (word: string) => (await found(recording, "--added", word)).hits[0]?.fate;
  await agent.start();
  await agent.turn("First", [write("a.txt", "okapiOne\n")]);
  const one = commit();
  await agent.turn("Second", [write("a.txt", "okapiOne\nokapiTwo\n")]);
  await settled(repository);
  expect(await fateOf("okapiOne")).toMatchObject({ state: "kept", commit: one });
  expect(await fateOf("okapiTwo")).toMatchObject({ state: "kept", commit: null });
  const two = commit();
  await agent.turn("Third", [write("a.txt", "okapiOne\nokapiTwo\nokapiThree\n")]);
  expect((await repository.run(["undo", "last", "--yes"], { env })).code).toBe(0);
  await agent.turn("Fourth", [write("a.txt", "okapiOne\nokapiTwo\nokapiFour\n")]);
  // Clocks of git have seconds.
  const four = commit(60_000);
  await settled(repository);
  expect(await fateOf("okapiTwo")).toMatchObject({ state: "kept", commit: two });
  expect(await fateOf("okapiThree")).toMatchObject({ state: "undone", commit: null });
  expect(await fateOf("okapiFour")).toMatchObject({ commit: four });
});

test("a hit among changed lines shows the line that matched, not its neighbours", async () => {
  using recording = await recorded();
  const { agent } = recording;
  await agent.start();
  await agent.turn("Cache", [
    write("a.ts", "const okapi = new Map();\nexport function cached(id) {\n  return 1;\n}\n"),
  ]);
  const { hits } = await found(recording, "--added", "cached(");
  expect(hits).toMatchObject([{ snippet: "export function cached(id) {", path: "a.ts" }]);
});

test("sessions that Backtrail did not record are found, and stay found when the agent deletes its file", async () => {
  using recording = await recorded();
  const { repository } = recording;
  const file = join(repository.home, ".claude/projects/-elsewhere/11111111-2222-4333-8444-555555555555.jsonl");
  mkdirSync(dirname(file), { recursive: true });
  const line = (type: string, uuid: string, content: unknown) =>
    JSON.stringify({
      ...{ type, uuid, parentUuid: null, sessionId: "11111111-2222-4333-8444-555555555555", isSidechain: false },
      ...{ cwd: "/elsewhere", timestamp: "2026-01-02T03:04:05.000Z", message: { role: type, content } },
    });
  writeFileSync(file, `${line("user", "a", "Where is the axolotlCache?")}\n`);
  const first = await found(recording, "axolotl");
  expect(first.hits).toMatchObject([
    { field: "prompt", session: "11111111-2222-4333-8444-555555555555", repository: "/elsewhere", fate: null },
  ]);
  writeFileSync(
    file,
    `${line("user", "a", "Where is the axolotlCache?")}\n${line("user", "b", "And the capybara?")}\n`,
  );
  expect((await found(recording, "capybara")).hits).toMatchObject([{ turn: 2 }]);
  expect((await found(recording, "capybara", "--here")).total).toBe(0);
  rmSync(file);
  expect((await found(recording, "axolotl")).total).toBe(1);
});

test("the terminal shows hits by session, and says what to do if there is none", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn("Rename the pelican", [write("bird.txt", "pelican\n")], "Renamed.");
  const shown = await repository.run(["search", "pelican"], { env });
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain("prompt   Rename the pelican");
  expect(shown.stdout).toContain("added    + pelican");
  // Hits of one turn stand below one line about it.
  expect(shown.stdout).toMatch(/turn 1 {2}just now\n( {4}(command|prompt).*\n){2}/);
  const none = await repository.run(["search", "pelcian"], { env });
  expect(none).toMatchObject({ code: 3, stdout: "" });
  expect(none.stderr).toContain(`Nothing found.\nhint: "pelcian" occurs nowhere. Did you mean "pelican"?`);
  expect((await repository.run(["search", '"pelican rename"'], { env })).stderr).toBe("Nothing found.\n");
  const filtered = await repository.run(["search", "pelican", "agent:codex"], { env });
  expect(filtered.stderr).toMatch(/Without the filters, the search finds at most \d+ hits?\./);
  expect((await repository.run(["search", "pelican", "--alive"], { env })).stdout).toContain("1 of 1 line still there");
  repository.write("bird.txt", "swan\n");
  expect((await repository.run(["search", "pelican", "--alive"], { env })).stdout).toContain("0 of 1 line still there");
  expect((await repository.run(["search"], { env })).code).toBe(2);
  expect((await repository.run(["search", "is:undoen"], { env })).stderr).toContain("Did you mean is:undone?");
});

test("sessions are found by text deep inside a long answer", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn(
    "Explain",
    [],
    `${"Some words. ".repeat(400)}The Capybara Constant is 42. ${"More words. ".repeat(400)}`,
  );
  const listed = async () => {
    const { stdout } = await repository.run(["sessions", "--search", "capybara Constant", "--json"], { env });
    return (JSON.parse(stdout) as { sessions: { id: string; match: { where: string; excerpt: string } }[] }).sessions;
  };
  // Without an index, only the beginning of the answer is known.
  expect(await listed()).toEqual([]);
  await found(recording, "capybara");
  const excerpt = expect.stringContaining("The Capybara Constant is 42.");
  expect(await listed()).toMatchObject([{ id: agent.session, match: { where: "result", excerpt } }]);
});

test("a forgotten session is gone from the index at once, and does not come back with the agent's file", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn("Tell the secretOstrich", [write("bird.txt", "secretOstrich\n")], "Told.");
  expect((await found(recording, "ostrich")).total).toBeGreaterThan(1);
  expect((await repository.run(["forget", agent.session, "--yes"], { env })).code).toBe(0);
  const index = join(repository.home, "backtrail/state/search/index.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(index + suffix)) expect(readFileSync(index + suffix).includes("ostrich")).toBe(false);
  }
  expect((await found(recording, "ostrich")).total).toBe(0);
  expect((await repository.run(["search", "--rebuild"], { env })).code).toBe(0);
  expect((await found(recording, "ostrich")).total).toBe(0);
});

test("what a forgotten turn said is not taken for the next turn's", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  for (const bird of ["ostrich", "pelican", "flamingo"])
    await agent.turn(`Tell the ${bird}`, [write("bird.txt", `${bird}\n`)], `Told the ${bird}.`);
  const [before] = (await found(recording, "pelican", "field:answer")).hits;
  expect(before).toMatchObject({ turn: 2, fate: { state: "kept" } });
  expect((await repository.run(["forget", before?.id ?? "", "--yes"], { env })).code).toBe(0);
  const [after] = (await found(recording, "pelican", "field:answer")).hits;
  expect(after?.turn).toBe(2);
  const [next] = (await found(recording, "flamingo", "field:answer")).hits;
  expect(next).toMatchObject({ turn: 3, fate: { state: "kept" } });
  expect(after?.id).not.toBe(next?.id);
});

test("secrets are not in the index", async () => {
  using recording = await recorded();
  await recording.agent.start();
  const key = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  await recording.agent.turn(`Use the token ${key} for the walrus`, [], "Used.");
  const { hits } = await found(recording, "walrus");
  expect(hits[0]?.snippet).toContain("[secret:");
  expect((await found(recording, key)).total).toBe(0);
});

test("a damaged, empty, deleted or foreign index is made again; one of a later version is left alone", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn("Feed the flamingo", [], "Fed.");
  expect((await found(recording, "flamingo")).total).toBe(1);
  const index = join(repository.home, "backtrail/state/search/index.db");
  const whole = readFileSync(index);
  const damages: [string, () => void][] = [
    ["torn", () => writeFileSync(index, whole.subarray(0, whole.length / 2))],
    ["zeros", () => writeFileSync(index, Buffer.alloc(whole.length))],
    [
      "damaged pages",
      () => writeFileSync(index, Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length, 7)])),
    ],
    ["text", () => writeFileSync(index, "not a database")],
    ["empty", () => writeFileSync(index, "")],
    ["deleted", () => rmSync(index)],
  ];
  for (const [name, damage] of damages) {
    for (const suffix of ["-wal", "-shm"]) rmSync(index + suffix, { force: true });
    damage();
    const result = await repository.run(["search", "flamingo", "--json"], { env });
    expect({ name, code: result.code, total: JSON.parse(result.stdout).total }).toEqual({ name, code: 0, total: 1 });
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(index + suffix, { force: true });
  using later = new Database(index);
  later.run("pragma user_version = 99");
  const refused = await repository.run(["search", "flamingo"], { env });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("A later version of Backtrail created the search index.");
  expect((await repository.run(["search", "flamingo", "--rebuild"], { env })).code).toBe(0);
});

test("an index that can't be written is still searched", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn("Count the heron", [], "One.");
  expect((await found(recording, "heron")).total).toBe(1);
  const folder = join(repository.home, "backtrail/state/search");
  chmodSync(join(folder, "index.db"), 0o400);
  chmodSync(folder, 0o500);
  try {
    const result = await repository.run(["search", "heron", "--json"], { env });
    expect({ code: result.code, total: JSON.parse(result.stdout).total }).toEqual({ code: 0, total: 1 });
  } finally {
    chmodSync(folder, 0o700);
  }
});

test("text copied by a rewind or a fork is found once, and new text in the copy is found there", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn("Bring the walrus", [write("a.txt", "1\n")], "The walrus is here.");
  await agent.turn("Feed the walrus", [write("a.txt", "2\n")], "It ate.");
  const { receipt } = await repository.json<{ receipt: { chat: { session: string } } }>(["rewind", "1", "--yes"], {
    env,
  });
  const { fork } = await repository.json<{ fork: { name: string } }>(["fork", "last"], { env });
  await repository.run(["fork", "drop", fork.name, "--yes"], { env });
  await repository.json(["fork", "last"], { env });
  const sessions = async (word: string) =>
    [...new Set((await found(recording, word)).hits.map(({ session }) => session))].sort();
  expect(await sessions("walrus")).toEqual([agent.session]);

  const copy = new ScriptedClaude(repository, receipt.chat.session);
  expect(readFileSync(copy.transcript.path, "utf8")).toContain("Bring the walrus");
  await copy.turn("Wash the walrus too", [write("a.txt", "3\n")], "It shines.");
  expect(await sessions("shines")).toEqual([copy.session]);
  expect(await sessions("walrus")).toEqual([agent.session, copy.session].sort());
});

test("a copy that does not name its directory is known as a copy, too", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await agent.start();
  await agent.turn("Bring the walrus", [write("a.txt", "1\n")], "The walrus is here.");
  await agent.turn("Feed the walrus", [write("a.txt", "2\n")], "It ate.");
  const { receipt } = await repository.json<{ receipt: { chat: { session: string } } }>(["rewind", "1", "--yes"], {
    env,
  });
  const { path } = new ScriptedClaude(repository, receipt.chat.session).transcript;
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"cwd":"[^"]*",/g, ""));
  const { hits } = await found(recording, "walrus");
  expect([...new Set(hits.map(({ session }) => session))]).toEqual([agent.session]);
});
