/** A full database, wrong clocks, and versions that do not fit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { mayMount } from "../faults/small-disk.ts";
import { ScriptedClaude, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { exampleTurn, ServedHub } from "./served.ts";
import { status, Team, until } from "./team.ts";

const repository = "example.com/shop";

describe.skipIf(postgresPrograms === null)("trouble", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test.skipIf(!mayMount())(
    "a full disk of the database: machines keep their turns and send them when there is room",
    async () => {
      const disk = join(cluster.directory, "small");
      mkdirSync(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=777", "tmpfs", disk]);
      try {
        const space = join(disk, "space");
        mkdirSync(space);
        execFileSync("chown", ["--reference", cluster.data, space]);
        cluster.query(cluster.url("postgres"), `CREATE TABLESPACE small LOCATION '${space}'`);
        await using team = await Team.start(cluster, "small");
        const ada = await team.member("ada");
        await ada.json(["team", "share", "everything"]);
        const filler = join(disk, "filler");
        execFileSync("sh", ["-c", `cat /dev/zero > '${filler}' 2>/dev/null || true`]);
        const claude = new ScriptedClaude(ada);
        const long = Array.from({ length: 3_000 }, (_, i) => `word${i}`).join(" ");
        for (let i = 1; i <= 12; i++) await claude.turn(`${long} ${i}`, [write(`${i}.txt`, `${i}\n`)]);
        const { code, stderr } = await ada.run(["team", "send"]);
        expect(code).toBe(1);
        expect(stderr).toContain("The hub's database has no room left.");
        const { waiting, failure } = await status(ada);
        expect([waiting.turns, failure?.kind]).toEqual([12, "busy"]);
        // A hub whose disk is full is not asked again within five minutes.
        expect(Date.parse(failure?.next ?? "") - Date.now()).toBeGreaterThan(200_000);
        expect(team.log).toContain('"state":"53100"');
        expect(team.log).not.toContain('"status":500');
        rmSync(filler);
        await ada.json(["team", "send"]);
        expect(team.rows("SELECT count(*), count(DISTINCT number) FROM backtrail.turns")).toEqual(["12|12"]);
        expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, failure: null });
      } finally {
        await cluster.kill();
        execFileSync("umount", ["-l", disk]);
      }
    },
    300_000,
  );
});

describe.skipIf(postgresPrograms === null)("clocks and versions", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("the last choice of a level wins, whatever the machines' clocks say", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    await ada.json(["team", "share", "everything"]);
    await new ScriptedClaude(ada).turn("Prompt", [write("a.txt", "a\n")]);
    await ada.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["1"]);
    const at = async (clock: string, level: string) => {
      const env = { BACKTRAIL_CLOCK: clock };
      await ada.run(["team", "share", level], { env });
      await ada.run(["team", "send"], { env });
      return team.rows("SELECT level, chosen_at <= now() FROM backtrail.shares");
    };
    expect(await at("2019-03-01T10:00:00.000Z", "counts")).toEqual(["0|t"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual(["0"]);
    expect(await at("2041-03-01T10:00:00.000Z", "prompts")).toEqual(["1|t"]);
    expect(await at(new Date().toISOString(), "counts")).toEqual(["0|t"]);
  }, 300_000);

  test("turns of a machine whose clock is wrong are stored once, and found", async () => {
    const url = cluster.create();
    await using hub = await ServedHub.start(url);
    const { client } = await hub.person("ada");
    await client.share({ repository, level: "everything", chosenAt: "2041-01-01T00:00:00.000Z" });
    const times = [
      "1970-01-01T00:00:00.000Z",
      "2019-12-31T23:59:59.999Z",
      "2041-05-05T00:00:00.000Z",
      "9999-12-31T23:59:59.999Z",
    ];
    const turns = times.map((startedAt, i) => ({ ...exampleTurn(`clock-${i}`, 1), startedAt, endedAt: startedAt }));
    for (const revision of [5, 1, 9]) await client.turns({ repository, revision, turns });
    expect(cluster.query(url, "SELECT count(*) FROM backtrail.turns")).toEqual([String(times.length)]);
    expect((await client.search({ q: "common", limit: 50 })).items).toHaveLength(times.length);
    expect(hub.log).toEqual([]);
  }, 300_000);

  test("a hub keeps running while a newer one updates the schema, but does not start on the new schema", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada", "--reads", "all");
    team.rows("INSERT INTO public.backtrail_migrations (version) VALUES (1000)");
    expect((await fetch(`${team.url}/readyz`)).status).toBe(200);
    expect((await ada.run(["team", "activity"])).code).toBe(0);
    await team.end();
    expect(await team.serve().catch((error: Error) => error.message)).toContain("newer");
    expect((await ada.run(["team", "activity"])).code).toBe(1);
  }, 300_000);

  test("a machine and a hub of different versions: each is told which one to update, and nothing is lost", async () => {
    await using team = await Team.start(cluster);
    // Real machine, real hub; on the way the machine's version becomes another one.
    let version = "1";
    const between = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url);
        const headers = new Headers(request.headers);
        headers.set("backtrail-protocol", version);
        const body = request.method === "GET" ? {} : { body: await request.text() };
        const answer = await fetch(`${team.url}${pathname}${search}`, { method: request.method, headers, ...body });
        const type = { "content-type": answer.headers.get("content-type") ?? "" };
        return new Response(await answer.text(), { status: answer.status, headers: type });
      },
    });
    try {
      const ada = await team.machine();
      const link = await team.invite("ada");
      await ada.json([
        "team",
        "join",
        link.replace(team.url, `http://127.0.0.1:${between.port}`),
        "--device",
        "laptop",
      ]);
      await new ScriptedClaude(ada).turn("Prompt", [write("a.txt", "a\n")]);
      for (const [other, advice] of [
        ["0", "This machine's Backtrail is older than the hub: update it."],
        ["2", "The hub is older than this machine's Backtrail: ask its administrator to update it."],
      ] as const) {
        version = other;
        const { code, stderr } = await ada.run(["team", "send"]);
        expect(code).toBe(1);
        expect(stderr).toContain(advice);
        expect(await status(ada)).toMatchObject({ waiting: { turns: 1 }, failure: { kind: "outdated", next: null } });
      }
      version = "1";
      await ada.json(["team", "send"]);
      expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, failure: null });
      await until(() => team.rows("SELECT count(*) FROM backtrail.turns")[0] === "1");
    } finally {
      await between.stop(true);
    }
  }, 300_000);
});
