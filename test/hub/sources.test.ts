/** The index from git alone equals the index from the machines, and what was forgotten stays away. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { settled } from "../journeys/commits.ts";
import { TemporaryDirectory } from "../support/directory.ts";
import { ScriptedClaude, type TemporaryRepository, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { Team } from "./team.ts";

const TURNS =
  "SELECT number, agent, model, started_at, ended_at, status, file_count, input_tokens, output_tokens, api_calls, level, encode(digest, 'hex') FROM backtrail.turns ORDER BY started_at, number";
const TEXTS =
  "SELECT number, session, prompt, paths, checkpoints, search FROM backtrail.turn_texts ORDER BY started_at, number";
const MESSAGES =
  "SELECT number, position, kind, tool, text FROM backtrail.messages ORDER BY started_at, number, position";

interface Rebuilt {
  equal: boolean;
  sources: { turns: number; same: number; different: string[]; forgotten: number }[];
}

describe.skipIf(postgresPrograms === null)("sources", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  async function commitTurn(
    machine: TemporaryRepository,
    claude: ScriptedClaude,
    prompt: string,
    file: string,
  ): Promise<void> {
    await claude.turn(prompt, [write(file, `${prompt}\n`)]);
    machine.commit(prompt);
    await settled(machine);
  }

  test("a lost database comes back from git, row by row as the machines had sent it", async () => {
    using place = new TemporaryDirectory();
    await using team = await Team.start(cluster);
    const ada = await team.member("ada", "--email", "ada@example.com");
    const shared = place.at("shop.git");
    ada.git("init", "--quiet", "--bare", shared);
    const claude = new ScriptedClaude(ada);
    await commitTurn(ada, claude, "Add a greeting", "hello.txt");
    await commitTurn(ada, claude, "continue", "more.txt");
    await commitTurn(ada, claude, "continue", "most.txt");
    await ada.json(["sync", "push", shared]);
    await ada.json(["team", "share", "everything"]);
    const sent = [TURNS, TEXTS, MESSAGES].map((sql) => team.rows(sql));
    expect(sent.map((rows) => rows.length)).toEqual([3, 3, expect.any(Number)]);
    expect(sent[2]?.length).toBeGreaterThan(3);

    await team.hub(["source", "add", shared, "--as", "git.example/acme/shop"]);
    expect(await team.hub<Rebuilt>(["rebuild"])).toMatchObject({
      equal: true,
      sources: [{ turns: 3, same: 3, different: [] }],
    });

    // Another database, and nothing but git.
    await using fresh = await Team.start(cluster);
    await fresh.invite("ada", "--email", "ada@example.com");
    await fresh.hub(["source", "add", shared, "--as", "git.example/acme/shop"]);
    expect([TURNS, TEXTS, MESSAGES].map((sql) => fresh.rows(sql))).toEqual(sent);
    expect(fresh.rows("SELECT DISTINCT person_id, source FROM backtrail.turns")).toEqual(["1|git"]);
    expect(await fresh.hub(["backup-check"])).toMatchObject({ ok: true });
  }, 300_000);

  test("git shows no more than its author shares, and nothing that was forgotten", async () => {
    using place = new TemporaryDirectory();
    await using team = await Team.start(cluster);
    const ada = await team.member("ada", "--email", "ada@example.com");
    const shared = place.at("shop.git");
    ada.git("init", "--quiet", "--bare", shared);
    await commitTurn(ada, new ScriptedClaude(ada), "Call it falcon", "falcon.txt");
    await ada.json(["sync", "push", shared]);
    await ada.json(["team", "share", "counts", "--from-now"]);
    await team.hub(["source", "add", shared, "--as", "git.example/acme/shop"]);
    expect(team.rows("SELECT level, source FROM backtrail.turns")).toEqual(["0|git"]);
    expect(team.rows(TEXTS)).toEqual([]);

    const { sessions } = await ada.json<{ sessions: { id: string }[] }>(["status"]);
    expect((await ada.run(["forget", sessions[0]?.id ?? "", "--yes"])).code).toBe(0);
    await ada.json(["team", "send"]);
    expect(team.rows(TURNS)).toEqual([]);
    // The remote still has the conversation.
    const { sources } = await team.hub<Rebuilt>(["rebuild"]);
    expect(sources).toMatchObject([{ turns: 0, forgotten: 1 }]);
    expect(team.rows(TURNS)).toEqual([]);
  }, 300_000);

  test("an unreachable source is reported and retried", async () => {
    using place = new TemporaryDirectory();
    await using team = await Team.start(cluster);
    await expect(team.hub(["source", "add", place.at("nowhere.git"), "--as", "shop"])).rejects.toThrow(
      /The source is kept[\s\S]*could not be reached/,
    );
    const { sources } = await team.hub<{ sources: { error: string | null }[] }>(["source", "list"]);
    expect(sources).toMatchObject([{ error: expect.stringContaining("could not be reached") }]);
    await expect(team.hub(["source", "add", "https://ada:secret@localhost/x.git"])).rejects.toThrow("password");
    await team.hub(["source", "remove", place.at("nowhere.git")]);
    expect(team.rows("SELECT action FROM backtrail.audit ORDER BY id")).toEqual(["add-source", "remove-source"]);
  }, 300_000);
});
