/** Three people share turns through a hub: what leaves, who sees it, and what `forget` and a lower level remove. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { settled } from "../journeys/commits.ts";
import { ScriptedClaude, type TemporaryRepository, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { status, Team, until } from "./team.ts";

const SECRET = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");

interface Hits {
  hits: { person: string; prompt: string | null; field: string; snippet: string; fate: { state: string } }[];
}

describe.skipIf(postgresPrograms === null)("a team", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  async function work(machine: TemporaryRepository, prompt: string, file: string): Promise<void> {
    await new ScriptedClaude(machine).turn(prompt, [write(file, `${prompt}\n`)]);
  }

  const search = (machine: TemporaryRepository, ...words: string[]) =>
    machine.run(["search", "--team", ...words, "--json"]).then(({ stdout }) => (JSON.parse(stdout) as Hits).hits);

  test("counts leave by default, prompts and conversations only if chosen, and secrets never", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada", "--reads", "all");
    const bob = await team.member("bob", "--reads", "all");
    const eve = await team.member("eve", "--role", "reader", "--reads", "all", "--level", "counts");

    await work(ada, `Use ${SECRET} in the parseConfig helper`, "src/parse-config.ts");
    expect(await status(ada)).toMatchObject({
      level: "counts",
      repository: "git.example/acme/shop",
      waiting: { turns: 1 },
    });
    await ada.json(["team", "send"]);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, sent: 1, failure: null });
    expect(team.rows("SELECT file_count, status, level FROM backtrail.turns")).toEqual(["1|kept|0"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["0"]);
    expect(await search(bob, "parseConfig")).toEqual([]);

    await ada.json(["team", "share", "prompts"]);
    expect(await search(bob, "config", "helper")).toMatchObject([{ person: "ada", field: "prompt" }]);
    await ada.json(["team", "share", "everything"]);
    await work(bob, "Fix the login", "login.ts");
    await bob.json(["team", "share", "everything"]);
    expect(await search(ada, "login")).toMatchObject([
      { person: "bob", prompt: "Fix the login", fate: { state: "kept" } },
    ]);

    // A reader of counts finds no text, but sees that something was done.
    expect(await search(eve, "login")).toEqual([]);
    const { rows } = await eve.json<{ rows: { turns: number; people: number }[] }>([
      "team",
      "activity",
      "--days",
      "4000",
    ]);
    expect(rows.reduce((sum, { turns }) => sum + turns, 0)).toBe(2);
    expect((await eve.run(["team", "share"])).code).toBe(4);

    const dump = team.rows(
      "SELECT x::text FROM backtrail.turn_texts x UNION ALL SELECT m::text FROM backtrail.messages m",
    );
    expect(dump.length).toBeGreaterThan(3);
    expect(dump.join("\n")).not.toContain(SECRET);
    expect(dump.join("\n")).toContain("[secret:");
    expect(team.log).toBe("");
  }, 300_000);

  test("a turn reaches the hub without any command", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    await work(ada, "Add a greeting", "hello.txt");
    await ada.run(["worker", ada.path], { env: { BACKTRAIL_WORKER: undefined } });
    await until(() => team.rows("SELECT count(*) FROM backtrail.turns WHERE ended_at IS NOT NULL")[0] === "1");
    await until(async () => (await status(ada)).sent === 1);
  }, 300_000);

  test("a preview is exactly what is stored, and previewing sends nothing", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    await work(ada, "Add a greeting", "hello.txt");
    const { turns } = await ada.json<{ turns: object[] }>(["team", "preview", "everything"]);
    expect(turns).toMatchObject([{ fileCount: 1, text: { prompt: "Add a greeting", paths: ["hello.txt"] } }]);
    expect(team.rows("SELECT count(*) FROM backtrail.turns")).toEqual(["0"]);
    const counts = await ada.json<{ turns: { text: null; messages: null }[] }>(["team", "preview"]);
    expect(counts.turns).toMatchObject([{ text: null, messages: null }]);
    expect(JSON.stringify(counts)).not.toContain("greeting");
  }, 300_000);

  test("a lower level and a forgotten session are gone from the hub, and do not come back", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada", "--reads", "all");
    await work(ada, "Call it falcon", "falcon.txt");
    await ada.json(["team", "share", "everything"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["1"]);
    await ada.json(["team", "share", "counts"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["0"]);
    expect(team.rows("SELECT count(*) FROM backtrail.messages")).toEqual(["0"]);
    await ada.json(["team", "share", "prompts"]);
    expect(await search(ada, "falcon")).toHaveLength(1);

    const { sessions } = await ada.json<{ sessions: { id: string }[] }>(["status"]);
    expect((await ada.run(["forget", sessions[0]?.id ?? "", "--yes"])).code).toBe(0);
    await ada.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.sessions")).toEqual(["0"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["0"]);
    expect(team.rows("SELECT count(*) FROM backtrail.tombstones")).toEqual(["1"]);
  }, 300_000);

  test("why and explain know colleagues' commits, as far as they may be read", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    const bob = await team.member("bob", "--reads", "all");
    const eve = await team.member("eve", "--role", "reader", "--reads", "all", "--level", "counts");
    await work(ada, "Add a greeting", "hello.txt");
    ada.commit("Greet");
    await settled(ada);
    await ada.json(["team", "share", "prompts"]);
    for (const other of [bob, eve]) {
      other.git("fetch", "--quiet", ada.path, "main");
      other.git("reset", "--quiet", "--hard", "FETCH_HEAD");
    }
    const turn = { person: "ada", prompt: "Add a greeting", paths: ["hello.txt"] };
    expect(await bob.json(["explain"])).toMatchObject({ team: [turn] });
    expect(await bob.json(["why", "hello.txt:1"])).toMatchObject({ team: [turn] });
    expect((await bob.run(["explain"])).stdout).toContain("> Add a greeting");
    expect((await eve.run(["explain"])).code).toBe(3);
    await team.end();
    expect((await bob.run(["explain"])).code).toBe(3);
  }, 300_000);

  test("an unreachable hub loses nothing: what waits is named, and goes later, once", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    expect(await team.end()).toBe(0);
    await work(ada, "Offline work", "a.txt");
    const failed = await ada.run(["team", "send"]);
    expect(failed.code).toBe(1);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 1 }, failure: { kind: "unreachable" } });
    expect(await ada.run(["team", "live"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("error: The hub could not be reached"),
    });
    await team.serve();
    await ada.json(["team", "send"]);
    await ada.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turns")).toEqual(["1"]);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, failure: null });
  }, 300_000);

  test("a machine that was offline for weeks sends everything without a command", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    await team.end();
    const days = [0, 9, 17, 25];
    for (const day of days) {
      const claude = new ScriptedClaude(ada);
      claude.minute = day * 24 * 60;
      await claude.turn(`Work of day ${day}`, [write(`${day}.txt`, "x\n")]);
      expect((await ada.run(["team", "send"], { minute: claude.minute + 1 })).code).toBe(1);
    }
    expect(await status(ada)).toMatchObject({ waiting: { turns: 4 }, failure: { kind: "unreachable", count: 4 } });
    await team.serve();
    // What the worker does after each turn, once the pause of four hours is over.
    await ada.run(["worker", ada.path], { env: { BACKTRAIL_WORKER: undefined }, minute: 26 * 24 * 60 });
    await until(() => team.rows("SELECT count(*) FROM backtrail.turns")[0] === "4");
    await until(async () => (await status(ada)).waiting.turns === 0);
    expect(team.rows("SELECT DISTINCT started_at::date FROM backtrail.turns ORDER BY 1")).toHaveLength(4);
  }, 300_000);

  test("a role changes on all of a person's machines, and the audit log has the change", async () => {
    await using team = await Team.start(cluster);
    const eve = await team.member("eve", "--role", "reader");
    await work(eve, "Try it", "a.txt");
    expect((await eve.run(["team", "status"])).stdout).toContain("readers of a team send nothing");
    expect((await eve.run(["team", "preview"])).stderr).toContain("readers send nothing");
    expect((await eve.run(["team", "share"])).code).toBe(4);
    await team.hub(["role", "eve", "member"]);
    await eve.json(["team", "share"]);
    expect(await status(eve)).toMatchObject({ team: { role: "member" }, sent: 1, failure: null });
    await team.hub(["role", "eve", "reader"]);
    await work(eve, "Try again", "b.txt");
    expect((await eve.run(["team", "send"])).code).toBe(1);
    expect(await status(eve)).toMatchObject({ waiting: { turns: 1 }, failure: { kind: "refused" } });
    expect(team.rows("SELECT count(*) FROM backtrail.turns")).toEqual(["1"]);
    // What waited meanwhile is not lost.
    await team.hub(["role", "eve", "member"]);
    await eve.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turns")).toEqual(["2"]);

    await team.invite("bob");
    expect(await team.hub(["token", "revoke", "bob"])).toEqual({ revoked: 0, invitations: 1 });
    const log = team.rows("SELECT action FROM backtrail.audit WHERE person_id IS NULL ORDER BY id");
    expect(log).toEqual(["add", "invite", "role", "role", "role", "add", "invite", "revoke"]);
    const { entries } = await team.hub<{ entries: { action: string }[] }>(["audit", "--person", "eve", "--limit", "1"]);
    expect(entries).toMatchObject([{ person: "eve", device: "eve's laptop", action: "send", detail: { turns: 1 } }]);
    team.rows("UPDATE backtrail.audit SET at = at - interval '3 days' WHERE person_id IS NOT NULL");
    expect(await team.hub(["audit", "--keep", "4"])).toEqual({ deleted: 0 });
    await team.hub(["audit", "--keep", "2"]);
    expect(team.rows("SELECT count(*) FROM backtrail.audit WHERE person_id IS NOT NULL")).toEqual(["0"]);
  }, 300_000);

  test("an invitation works once, and a revoked token no longer", async () => {
    await using team = await Team.start(cluster);
    const link = await team.invite("ada");
    const [ada, other] = [await team.machine(), await team.machine()];
    await ada.json(["team", "join", link]);
    const again = await other.run(["team", "join", link]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("Ask for another one")]);
    await team.hub(["token", "revoke", "ada"]);
    expect((await ada.run(["team", "send"])).code).toBe(1);
    expect(await status(ada)).toMatchObject({ failure: { kind: "revoked", next: null } });
    expect(team.rows("SELECT count(*) FROM backtrail.devices WHERE secret_digest IS NOT NULL")).toEqual(["1"]);
    await ada.json(["team", "leave", "--yes"]);
    await ada.json(["team", "join", await team.invite("ada")]);
    expect(await status(ada)).toMatchObject({ team: { person: "ada", role: "member" } });
  }, 300_000);
});
