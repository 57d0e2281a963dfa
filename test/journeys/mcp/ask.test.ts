/** With `mcp.apply` set to `ask`, the agent's program asks the person, and a clear yes applies the very plan. */
import { describe, expect, test } from "bun:test";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../../support/index.ts";
import { ERAS, type Era, McpClient } from "../../support/mcp.ts";

const env = { BACKTRAIL_WORKER: "off" };
const YES = { action: "accept", content: { apply: true } };

async function recorded(setting?: "ask"): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  if (setting) await repository.run(["config", "set", "mcp.apply", setting], { env });
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  await claude.start();
  await claude.turn("Show the prices", [write("prices.txt", "1\n")]);
  await claude.turn("Cache the prices", [write("cache.txt", "1\n")]);
  return repository;
}

async function states(repository: TemporaryRepository): Promise<string[]> {
  const { proposals } = await repository.json<{ proposals: { state: string }[] }>(["proposals", "--all"], { env });
  return proposals.map(({ state }) => state);
}

const proposal = { turn: "last", reason: "The cache\nreturns old prices." };

for (const era of Object.keys(ERAS) as Era[])
  describe(`a client of ${era}`, () => {
    test("asks with the plan, and a yes applies it", async () => {
      using repository = await recorded("ask");
      const asked: string[] = [];
      const reply = (message: string) => {
        asked.push(message);
        expect(repository.exists("cache.txt")).toBe(true);
        return YES;
      };
      await using client = await McpClient.connect(repository, { era, reply });
      const answer = await client.ask("propose_undo", proposal);
      expect(answer).toContain("The user agreed");
      expect(asked).toHaveLength(1);
      expect(asked[0]).toContain('Its reason: "The cache returns old prices."');
      expect(asked[0]).toContain("delete cache.txt");
      expect([repository.exists("cache.txt"), repository.exists("prices.txt")]).toEqual([false, true]);
      expect(await states(repository)).toEqual(["applied"]);
      await repository.json(["redo", "--yes"], { env });
      expect(repository.exists("cache.txt")).toBe(true);
    });

    test("leaves the proposal as it is after anything but a clear yes", async () => {
      using repository = await recorded("ask");
      const replies: unknown[] = [
        { action: "decline" },
        { action: "cancel" },
        { action: "accept" },
        { action: "accept", content: { apply: false } },
        { action: "decline", content: { apply: true } },
      ];
      const left = [...replies];
      const reply = () => left.shift();
      await using client = await McpClient.connect(repository, { era, reply });
      for (const _ of replies) expect(await client.ask("propose_undo", proposal)).toContain("stays open");
      expect(left).toEqual([]);
      expect([repository.exists("cache.txt"), await states(repository)]).toEqual([true, ["open"]]);
    });

    test("refuses a plan that is not what the person read", async () => {
      using repository = await recorded("ask");
      const reply = () => {
        repository.write("cache.txt", "1\n2\n");
        return YES;
      };
      await using client = await McpClient.connect(repository, { era, reply });
      const { text, isError } = await client.call("propose_undo", proposal);
      expect([text, isError]).toEqual([expect.stringContaining("Nothing was changed"), true]);
      expect([repository.read("cache.txt"), await states(repository)]).toEqual(["1\n2\n", ["open"]]);
    });

    test("is not asked without the setting, nor if its program can't ask", async () => {
      using repository = await recorded();
      const never = () => {
        throw new Error("asked");
      };
      await using quiet = await McpClient.connect(repository, { era, reply: never });
      expect(await quiet.ask("propose_undo", proposal)).toContain("Nothing has changed yet");
      await repository.run(["config", "set", "mcp.apply", "ask"], { env });
      await using mute = await McpClient.connect(repository, { era });
      expect(await mute.ask("propose_undo", proposal)).toContain("Nothing has changed yet");
      expect([repository.exists("cache.txt"), await states(repository)]).toEqual([true, ["open"]]);
    });

    test("reads a session and a turn as resources", async () => {
      using repository = await recorded();
      await using client = await McpClient.connect(repository, { era });
      const { resources } = await client.sdk.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(["backtrail://session/11111111-2222-4333-8444-555555555555"]);
      const { resourceTemplates } = await client.sdk.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort()).toEqual([
        "backtrail://session/{id}",
        "backtrail://turn/{id}",
      ]);
      const read = async (uri: string) => {
        const { contents } = await client.sdk.readResource({ uri });
        return String((contents[0] as { text?: string }).text);
      };
      const session = await read(resources[0]?.uri ?? "");
      expect(session).toContain("> Cache the prices\nfiles: cache.txt");
      const id = /^([k-z]{12}): /m.exec(session)?.[1];
      expect(await read(`backtrail://turn/${id}`)).toContain("prompt:\n> Cache the prices");
      for (const uri of ["backtrail://turn/nothing", "backtrail://session/none", "file:///etc/passwd"])
        expect(client.sdk.readResource({ uri })).rejects.toThrow();
    });
  });
