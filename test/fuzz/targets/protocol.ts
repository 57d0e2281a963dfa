/** Answers of external agents' programs: whatever they say, events, slices and replies keep their shape. */
import { chmodSync, writeFileSync } from "node:fs";
import { agentFrom } from "../../../src/agents/external/agent.ts";
import { infoFrom } from "../../../src/agents/external/info.ts";
import { contextOf, toEnvelope, toEvent } from "../../../src/agents/registry/normalize.ts";
import { UserError } from "../../../src/base/errors.ts";
import { temporaryDirectory } from "../../support/index.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { demand, type Target } from "../target.ts";

const INFO = {
  protocol_version: 1,
  name: "fuzzed",
  type: "Fuzzed",
  description: "says anything",
  is_preview: false,
  protected_dirs: [".fuzzed"],
  hook_names: ["stop", "prompt"],
  capabilities: { hooks: true, transcript_analyzer: true, token_calculator: true, hook_response_writer: true },
};
const ANSWERS = [
  INFO,
  {
    type: 3,
    session_id: "s",
    session_ref: "/x/y.jsonl",
    prompt: "p",
    timestamp: "2026-01-01T00:00:00Z",
    metadata: { a: "b" },
  },
  { type: 6, session_id: "s", tool_use_id: "t", subagent_id: "a", tool_input: { prompt: "p" } },
  { prompts: ["a"], files: ["b.ts"], summary: "c", input_tokens: 1, output_tokens: 2 },
];

export const protocol: Target = {
  name: "protocol",
  cost: 40,
  async open() {
    const place = temporaryDirectory();
    const before = process.env["BACKTRAIL_HOME"];
    process.env["BACKTRAIL_HOME"] = place.at("home");
    const path = place.write("backtrail-agent-fuzzed", `#!/bin/sh\nexec cat '${place.at("answer")}'\n`);
    chmodSync(path, 0o755);
    const program = { name: "fuzzed", path };
    return {
      input(random) {
        const text = JSON.stringify(random.pick(ANSWERS));
        return random.once(2) ? Buffer.from(damagedJson(random, text)) : damaged(random, Buffer.from(text));
      },
      async run(input) {
        writeFileSync(place.at("answer"), input);
        let info = INFO as ReturnType<typeof infoFrom>;
        try {
          info = infoFrom(program, true);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
        demand(
          info.protected_dirs.every((name) => !name.startsWith("/") && !name.split("/").includes("..")),
          "A protected directory lies outside.",
        );
        const agent = agentFrom(program, { ...info, capabilities: INFO.capabilities });
        const envelope = toEnvelope(agent.profile, "stop", { cwd: place.path });
        const context = contextOf(agent.profile, envelope, { env: {}, cwd: place.path });
        const event = toEvent(agent, envelope, context);
        if (event) demand(typeof event.sessionId === "string", "An event has no session.");
        agent.analyzer?.readSlice(Buffer.from("{}\n"), 0);
        demand((agent.responder?.notice(envelope, "hello") ?? "").length <= 64 << 10, "A reply is too long.");
      },
      close() {
        if (before === undefined) delete process.env["BACKTRAIL_HOME"];
        else process.env["BACKTRAIL_HOME"] = before;
        place.remove();
      },
    };
  },
};
