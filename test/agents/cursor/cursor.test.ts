import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createAgent } from "../../../src/agents/builtin/cursor/adapter.ts";
import { findTranscript } from "../../../src/agents/builtin/cursor/paths.ts";
import profileJson from "../../../src/agents/builtin/cursor/profile.json" with { type: "json" };
import { usersWords } from "../../../src/agents/builtin/cursor/transcript.ts";
import type { Profile } from "../../../src/agents/contract/profile.ts";
import { contextOf, readPayload, toEnvelope } from "../../../src/agents/registry/normalize.ts";
import { temporaryDirectory } from "../../support/index.ts";

const profile = profileJson as unknown as Profile;
const agent = createAgent(profile);
const { analyzer } = agent;
if (!analyzer) throw new Error("no analyzer");
const transcript = readFileSync(join(import.meta.dirname, "transcripts", "two-turns.jsonl"));
const CONVERSATION = "7c1f0a52-3c0e-4f53-9d5b-0b6a2c7d8e01";

function eventOf(name: string, changes: object = {}) {
  const text = readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8");
  const raw = { ...readPayload(text, []), ...changes };
  const envelope = toEnvelope(profile, name, raw);
  return agent.toEvent(envelope, contextOf(profile, envelope, { env: {}, cwd: "/elsewhere" }));
}

describe("payloads", () => {
  test("a turn, from its prompt to its end", () => {
    expect(eventOf("beforeSubmitPrompt")).toMatchObject({
      type: "TurnStart",
      sessionId: CONVERSATION,
      prompt: "Write a greeting",
      model: "claude-4.5-sonnet",
      metadata: { prompt_id: "a4b1c2d3-0001-4a5b-8c6d-000000000001" },
    });
    expect(eventOf("stop")).toMatchObject({ type: "TurnEnd", metadata: {} });
    expect(eventOf("stop-aborted")).toMatchObject({ type: "TurnEnd", metadata: { error: "aborted" } });
    expect(eventOf("sessionEnd")?.type).toBe("SessionEnd");
    expect(eventOf("preCompact")?.type).toBe("Compaction");
  });

  test("tools by what they do", () => {
    expect(eventOf("preToolUse-Shell")?.tool).toMatchObject({ kind: "shell", command: "rm -rf build", id: "tool_01" });
    expect(eventOf("postToolUse-Write")?.tool?.paths).toEqual(["/home/dev/project/greeting.txt"]);
    expect(eventOf("afterFileEdit")).toBeNull();
  });

  test("a subagent belongs to the conversation that started it", () => {
    const own = { conversation_id: "another" };
    expect(eventOf("subagentStart", own)).toMatchObject({
      sessionId: CONVERSATION,
      subagent: { id: "sub_01", type: "generalPurpose", prompt: "Look for other greetings" },
    });
    expect(eventOf("subagentStop", own)?.subagent?.transcriptPath).toEndWith("sub_01.jsonl");
  });

  test("the first root is the project; a background agent is remembered", () => {
    const raw = readPayload(readFileSync(join(import.meta.dirname, "payloads", "sessionStart.json"), "utf8"), []);
    const context = contextOf(profile, toEnvelope(profile, "", raw), { env: {}, cwd: "/elsewhere" });
    expect(context.projectRoot).toBe("/home/dev/project");
    expect(eventOf("sessionStart", { is_background_agent: true })?.metadata).toEqual({
      background: "true",
      composer_mode: "agent",
    });
  });
});

describe("transcripts", () => {
  test("prompts without their wrapping, files of writing tools, no tokens", () => {
    expect(analyzer.readSlice(transcript, 0)).toMatchObject({
      prompts: ["Write a greeting", "Make it formal, and say\nwhy"],
      files: ["/home/dev/project/greeting.txt"],
      end: transcript.length,
    });
    expect(analyzer.countsTokens).toBe(false);
    expect(analyzer.read(transcript).entries.map(({ type }) => type)).toEqual([
      "prompt",
      "answer",
      "tool-use",
      "tool-use",
      "answer",
      "prompt",
      "tool-use",
      "tool-use",
      "answer",
    ]);
    expect(agent.forker).toBeUndefined();
  });

  test("nothing in them throws", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(damage, (hits) => {
        const damaged = Buffer.from(transcript);
        for (const [at, value] of hits) damaged[at % damaged.length] = value;
        analyzer.readSlice(damaged, 0);
        analyzer.read(damaged);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        usersWords(text);
      }),
    );
  });

  test("are found where the payload names none, in the old layout and the new", () => {
    using home = temporaryDirectory();
    const before = process.env["HOME"];
    process.env["HOME"] = home.path;
    try {
      const place = ".cursor/projects/home-dev-my-project/agent-transcripts";
      expect(findTranscript("/home/dev/my project", "c-1")).toBeNull();
      const flat = home.write(`${place}/c-1.jsonl`, "");
      expect(findTranscript("/home/dev/my project", "c-1")).toBe(flat);
      const nested = home.write(`${place}/c-1/c-1.jsonl`, "");
      expect(findTranscript("/home/dev/my project", "c-1")).toBe(nested);
      expect(findTranscript("/home/dev/my project", "../../x")).toBeNull();
    } finally {
      if (before === undefined) delete process.env["HOME"];
      else process.env["HOME"] = before;
    }
  });

  test("are waited for, but not for ever", async () => {
    using place = temporaryDirectory();
    const path = place.write("t.jsonl", "old\n");
    const waiting = agent.preparer?.waitForTurn({} as never, path, 4);
    setTimeout(() => writeFileSync(path, "old\nnew\n"), 30);
    await waiting;
    expect(readFileSync(path, "utf8")).toBe("old\nnew\n");
    await agent.preparer?.waitForTurn({} as never, place.at("missing"), 0);
  });
});
