/** The MCP server as clients of both protocol generations see it, one and two at a time. */
import { describe, expect, test } from "bun:test";
import { ScriptedClaude, temporaryDirectory, write } from "../../support/index.ts";
import { ERAS, type Era, McpClient } from "../../support/mcp.ts";
import { type TemporaryRepository, temporaryRepository } from "../../support/repository.ts";

const TOOLS = ["diff", "last_green", "propose_rewind", "propose_undo", "recall", "savepoint", "turn", "turns", "why"];
const eras = Object.keys(ERAS) as Era[];

async function recorded(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  await claude.start();
  await claude.turn("Write one file", [write("one.txt", "1\n")]);
  await claude.turn("Write another file", [write("two.txt", "2\n")]);
  return repository;
}

for (const era of eras)
  describe(`a client of ${era}`, () => {
    test("sees every tool with all four annotations, a schema and a description", async () => {
      using repository = await recorded();
      await using client = await McpClient.connect(repository, { era });
      const { tools } = await client.sdk.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS);
      for (const { annotations, inputSchema, description } of tools) {
        const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
        expect([readOnlyHint, idempotentHint].map((hint) => typeof hint)).toEqual(["boolean", "boolean"]);
        expect([destructiveHint, openWorldHint]).toEqual([false, false]);
        expect(inputSchema.type).toBe("object");
        expect((description ?? "").length).toBeLessThan(400);
      }
    });

    test("reads turns, one turn, a diff and the reason of a line", async () => {
      using repository = await recorded();
      await using client = await McpClient.connect(repository, { era });
      const listed = await client.ask("turns");
      expect(listed).toContain("2 turns, newest first");
      const ids = [...listed.matchAll(/^([k-z]{12}): /gm)].map(([, id]) => id ?? "");
      expect(ids).toHaveLength(2);
      expect(listed).toContain("> Write another file\nfiles: two.txt");

      const one = await client.ask("turn", { id: ids[1] });
      expect(one).toContain("prompt:\n> Write one file");
      const before = /^state before: ([k-z]{12})$/m.exec(one)?.[1];
      expect(await client.ask("diff", { a: before, b: ids[1] })).toContain("> +1");
      expect(await client.ask("diff", { a: before })).toContain("added two.txt");
      expect(await client.ask("why", { file: "one.txt", line: 1 })).toContain("> Write one file");
      const recalled = await client.ask("recall", { query: "another" });
      expect(recalled).toMatch(new RegExp(`^${ids[0]}: prompt, claude-code, kept, .*\n> .*another file`, "im"));
      expect(await client.ask("recall", { query: "neverwritten" })).toContain("Nothing was found");
      expect(await client.ask("last_green")).toContain("No state has been checked here");
    });

    test("gets an answer, not a fault, where something is wrong", async () => {
      using repository = await recorded();
      await using client = await McpClient.connect(repository, { era });
      for (const [name, input] of [
        ["turn", { id: "nothing" }],
        ["why", { file: "../outside.txt", line: 1 }],
        ["why", { file: "/etc/passwd", line: 1 }],
        ["why", { file: "one.txt", line: 99 }],
        ["diff", { a: "nothing" }],
        ["turns", { cursor: "nothing" }],
        ["turns", { since: "some day" }],
        ["savepoint", { name: "last" }],
        ["propose_undo", { turn: "nothing", reason: "It is wrong." }],
        ["propose_undo", { turn: "last" }],
        ["why", { file: 5 }],
      ] as const) {
        const answer = await client.call(name, input);
        expect([name, answer.isError, answer.text.length < 1_200]).toEqual([name, true, true]);
      }
    });
  });

test("a long list is given in parts of at most 4 KB", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  for (let n = 0; n < 14; n++)
    await claude.turn(`Prompt ${n} ${"ü".repeat(400)}`, [write(`${n}.txt`, "a line\n".repeat(200))]);
  await using client = await McpClient.connect(repository);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const text = await client.ask("turns", cursor === undefined ? {} : { cursor });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
    seen.push(...[...text.matchAll(/^> Prompt (\d+)/gm)].map(([, n]) => n ?? ""));
    cursor = /cursor "(.*)"/.exec(text)?.[1];
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 14 }, (_, n) => String(13 - n)));

  const whole: string[] = [];
  do {
    const text = await client.ask("diff", { a: "HEAD", ...(cursor === undefined ? {} : { cursor }) });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
    whole.push(text);
    cursor = /cursor "(.*)"/.exec(text)?.[1];
  } while (cursor !== undefined);
  expect(whole.join("\n").match(/^> \+a line$/gm)).toHaveLength(14 * 200);
});

test("outside of recorded repositories, every tool reports that", async () => {
  using repository = temporaryRepository();
  using elsewhere = temporaryDirectory();
  for (const cwd of [repository.path, elsewhere.path]) {
    await using client = await McpClient.connect(repository, { cwd });
    for (const name of ["turns", "last_green"])
      expect(await client.call(name)).toEqual({ text: expect.stringContaining("records nothing in"), isError: true });
  }
});

test("two clients at once see the same record, and each other's proposals", async () => {
  using repository = await recorded();
  await using one = await McpClient.connect(repository, { era: "2025" });
  await using two = await McpClient.connect(repository, { era: "2026-07-28", name: "codex-mcp-client" });
  const [a, b] = await Promise.all([one.ask("turns"), two.ask("turns")]);
  expect(a).toBe(b);
  const proposal = async (client: McpClient) =>
    /^Proposal ([k-z]{12})/.exec(await client.ask("propose_undo", { turn: "last", reason: "Not needed." }))?.[1];
  const first = await proposal(one);
  expect(await proposal(two)).toBe(first);
  const { proposals } = await repository.json<{ proposals: { id: string; revision: number }[] }>(["proposals"]);
  expect(proposals).toMatchObject([{ id: first, revision: 2 }]);
});
