/** Search finds what no agent keeps on this machine: logs of unrecorded runs, and checkpoints of colleagues. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryRepository } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";
import { Shared, work } from "./synced.ts";

interface Found {
  hits: { session: string; agent: string; field: string; turn: number; repository: string; fate: unknown }[];
  pending: number;
}

/** A search catches up for a short time only, so it may have to be asked again. */
async function settled(search: () => Promise<{ code: number | null; stdout: string }>): Promise<Found> {
  for (let times = 0; ; times++) {
    const { code, stdout } = await search();
    expect(code).toBe(0);
    const found = JSON.parse(stdout) as Found;
    if (found.pending === 0 || times === 20) return found;
  }
}

test("a run that was not recorded is found by its prompt, answer and commands", async () => {
  using world = new StandIn();
  world.agent("claude", `init abcd1234; say "It is a quokka."; done_ "Done with the wombat."`);
  const env = { BACKTRAIL_WORKER: "off" };
  const find = (...words: string[]) => settled(() => world.repository.run(["search", "--json", ...words], { env }));
  expect((await world.run(["Look for the axolotl"], env)).code).toBe(0);
  for (const [word, field] of [
    ["axolotl", "prompt"],
    ["quokka", "answer"],
    ["wombat", "answer"],
  ] as const) {
    const { hits } = await find(word);
    expect(hits).toMatchObject([{ session: "abcd1234", agent: "claude-code", field, turn: 1, fate: null }]);
  }
  // The session goes on: its log has grown.
  expect((await world.run(["And the narwhal?", "--session", "abcd1234"], env)).code).toBe(0);
  expect((await find("narwhal")).hits).toMatchObject([{ session: "abcd1234", turn: 2 }]);
  expect((await find("axolotl")).hits).toHaveLength(1);
});

test("a conversation that a colleague pushed is found once it was fetched", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Explain the axolotlCache", "hello.txt");
  await ada.json(["sync", "push", "origin"]);
  ada.git("push", "--quiet", "origin", "main");
  const bob = await shared.machine();
  await bob.json(["sync", "fetch"]);
  const env = { BACKTRAIL_WORKER: "off" };
  const found = (repository: typeof bob) =>
    settled(() => repository.run(["search", "axolotl", "field:prompt", "--json"], { env }));
  const theirs = await found(bob);
  expect(theirs).toMatchObject({ hits: [{ agent: "claude-code", field: "prompt", turn: 1, fate: null }], pending: 0 });
  // On the machine that recorded it, it is in three places and found once.
  expect((await found(ada)).hits).toMatchObject([{ session: theirs.hits[0]?.session, fate: { state: "kept" } }]);
});

test("OpenCode's database is read, and left as it is", async () => {
  using repository = temporaryRepository();
  const path = join(repository.home, ".local/share/opencode/opencode.db");
  mkdirSync(dirname(path), { recursive: true });
  using database = new Database(path);
  database.run("pragma journal_mode = wal");
  database.run("create table session (id text, parent_id text, directory text, title text, time_updated integer)");
  database.run("create table message (id text, session_id text, time_created integer, data text)");
  database.run("create table part (id text, message_id text, session_id text, data text)");
  const session = "ses_e1daf1e9bffelw83uI01MHJNdD";
  const say = (number: number, role: string, text: string) => {
    const info = { role, time: { created: 1_760_000_000_000 + number, completed: 1_760_000_000_001 + number } };
    database.run("insert into message values (?, ?, ?, ?)", [`msg_${number}`, session, number, JSON.stringify(info)]);
    const part = { type: "text", text };
    database.run("insert into part values (?, ?, ?, ?)", [
      `prt_${number}`,
      `msg_${number}`,
      session,
      JSON.stringify(part),
    ]);
    database.run("update session set time_updated = ?", [number]);
  };
  database.run("insert into session values (?, null, ?, 'The axolotl', 0)", [session, repository.path]);
  say(1, "user", "Where is the axolotl?");
  say(2, "assistant", "In the quokkaPond.");
  const env = { BACKTRAIL_WORKER: "off" };
  const find = async (...words: string[]) =>
    (await settled(() => repository.run(["search", "--json", ...words], { env }))).hits;
  const before = database.serialize();
  expect(await find("axolotl")).toMatchObject([
    { session, agent: "opencode", field: "prompt", turn: 1, repository: repository.path, fate: null },
  ]);
  expect(await find("pond")).toMatchObject([{ field: "answer" }]);
  expect(database.serialize().equals(before)).toBe(true);
  say(3, "user", "And the wombat?");
  expect(await find("wombat")).toMatchObject([{ session, turn: 2 }]);
  expect(await find("axolotl")).toHaveLength(1);
  expect((await repository.run(["resume", session])).stdout).toContain(`opencode -s ${session}`);
  expect(readdirSync(dirname(path)).sort()).toEqual(["opencode.db", "opencode.db-shm", "opencode.db-wal"]);
});
