/** What leaves a machine is what its preview shows, byte by byte; what is forgotten is gone by itself. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ScriptedClaude, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { Team, until } from "./team.ts";

const LEVELS = ["counts", "prompts", "everything"] as const;

describe.skipIf(postgresPrograms === null)("what leaves", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("is what the preview shows, at every level", async () => {
    await using team = await Team.start(cluster);
    // Real machine, real hub; on the way, every request is written down.
    const sent: string[] = [];
    const between = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url);
        const text = await request.text();
        if (pathname === "/v1/turns" && request.method === "POST") sent.push(text);
        const body = request.method === "GET" ? {} : { body: text };
        const answer = await fetch(`${team.url}${pathname}${search}`, {
          method: request.method,
          headers: request.headers,
          ...body,
        });
        return new Response(await answer.text(), { status: answer.status });
      },
    });
    try {
      const ada = await team.machine();
      const link = (await team.invite("ada")).replace(team.url, `http://127.0.0.1:${between.port}`);
      await ada.json(["team", "join", link, "--device", "laptop"]);
      const claude = new ScriptedClaude(ada);
      await claude.turn("Fix the login for jo@example.com — naïve \u{1F600}", [write("src/login.ts", "x\n")]);
      await claude.turn("Add a test", [write("test/login.ts", "y\n")]);
      for (const level of LEVELS) {
        const shown = await ada.json<{ turns: object[] }>(["team", "preview", level, "--all", "--limit", "0"]);
        sent.length = 0;
        await ada.json(["team", "share", level]);
        await ada.json(["team", "send"]);
        const turns = sent.flatMap((text) => (JSON.parse(text) as { turns: object[] }).turns);
        expect(turns).toHaveLength(2);
        const bytes = (documents: readonly object[]) => documents.map((one) => JSON.stringify(one)).sort();
        expect(bytes(turns)).toEqual(bytes(shown.turns));
      }
    } finally {
      await between.stop(true);
    }
  }, 300_000);

  test("is gone from the hub after `forget`, without another command", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    await new ScriptedClaude(ada).turn("Call it falcon", [write("falcon.txt", "x\n")]);
    await ada.json(["team", "share", "everything"]);
    await ada.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["1"]);
    const { sessions } = await ada.json<{ sessions: { id: string }[] }>(["status"]);
    // The hub is away for a moment: the machine goes on trying by itself.
    await team.end();
    const forgotten = await ada.run(["forget", sessions[0]?.id ?? "", "--yes"], {
      env: { BACKTRAIL_WORKER: undefined },
    });
    expect([forgotten.code, forgotten.stderr]).toEqual([0, expect.stringContaining("hub forgets it too")]);
    await team.serve();
    await until(() => team.rows("SELECT count(*) FROM backtrail.sessions")[0] === "0");
    expect(team.rows("SELECT count(*) FROM backtrail.tombstones")).toEqual(["1"]);
  }, 300_000);
});
