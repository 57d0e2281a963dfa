import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { temporaryRepository } from "../repository.ts";
import { bash, edit, ScriptedClaude, write } from "./agent.ts";

test("hooks are run as the settings say, and the transcript is a chain", async () => {
  using repository = temporaryRepository();
  const log = repository.at("events");
  const hook = (matcher?: string) => [
    { ...(matcher ? { matcher } : {}), hooks: [{ type: "command", command: `tr -d '\\n' >> ${log}; echo >> ${log}` }] },
  ];
  repository.write(
    ".claude/settings.local.json",
    JSON.stringify({
      hooks: { SessionStart: hook(), UserPromptSubmit: hook(), PreToolUse: hook("Bash|Task"), Stop: hook() },
    }),
  );
  const agent = new ScriptedClaude(repository);
  await agent.start();
  await agent.turn(
    "make it so",
    [write("a.txt", "one\n"), edit("a.txt", "one", "$& two"), bash("cp a.txt b.txt")],
    "So.",
  );
  await agent.end();

  expect(repository.read("b.txt")).toBe("$& two\n");
  const events = repository.read("events").trim().split("\n");
  const payloads = events.map((line) => JSON.parse(line));
  expect(payloads.map((payload) => payload.tool_name ?? payload.hook_event_name)).toEqual([
    "SessionStart",
    "UserPromptSubmit",
    "Bash",
    "Stop",
  ]);
  expect(payloads.at(-1).last_assistant_message).toBe("So.");

  const lines = readFileSync(agent.transcript.path, "utf8").trim().split("\n");
  const chain = lines.map((line) => JSON.parse(line));
  expect(chain.map((line) => line.type).join(" ")).toBe("user assistant user assistant user assistant user assistant");
  expect(chain.map((line) => line.parentUuid)).toEqual([null, ...chain.slice(0, -1).map((line) => line.uuid)]);
});
