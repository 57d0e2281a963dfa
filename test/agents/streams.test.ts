/** What every agent's stream is read as: recorded from the real CLIs, read by nothing but their profiles. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getAgent } from "../../src/agents/registry/registry.ts";
import { RunResult, type StreamEvent } from "../../src/run/result.ts";
import { LineSplitter } from "../../src/run/stream.ts";

interface Told {
  session: string | null;
  status: RunResult["status"];
  text: string;
  tools?: string[];
  failure?: RegExp;
  tokens?: [input: number, output: number];
  cost?: number;
}

const TOLD: Record<string, Record<string, Told>> = {
  "claude-code": {
    new: {
      session: "2f0fa518-f7db-4098-affa-4bda40438198",
      status: "completed",
      text: "Written.",
      tools: ["Write"],
      tokens: [26, 46],
      cost: 0.011944,
    },
    failed: {
      session: "a85455ae-882f-44a9-a7a2-71c4b5d181d3",
      status: "failed",
      text: "API Error: 400 no way",
      failure: /400 no way/,
    },
  },
  gemini: {
    new: {
      session: "ae1f9fe3-351a-427a-9c0c-3431036d00b4",
      status: "completed",
      text: "Created a.txt.",
      tools: ["write_file"],
      tokens: [661, 58],
    },
    resumed: {
      session: "ae1f9fe3-351a-427a-9c0c-3431036d00b4",
      status: "completed",
      text: "Edited a.txt and wrote b.txt.",
      tools: ["replace", "run_shell_command"],
    },
    failed: {
      session: "b208b319-5a52-4a11-ba6b-4fd8faf70ef5",
      status: "failed",
      text: "",
      failure: /fake failure 400/,
    },
    interrupted: { session: "888644fa-349c-4cbb-a823-d271d84a5d76", status: "interrupted", text: "" },
  },
  codex: {
    new: {
      session: "01a1e25d-d997-7812-86ef-732b92154785",
      status: "completed",
      text: "Created a.txt.",
      tools: ["file_change"],
      tokens: [25853, 139],
    },
    resumed: {
      session: "01a1e25d-d997-7812-86ef-732b92154785",
      status: "completed",
      text: "Edited a.txt and wrote b.txt.",
      tools: ["file_change", "command_execution"],
    },
    failed: {
      session: "01a1e25e-61b5-7e62-a1ab-5bd3766869d2",
      status: "failed",
      text: "",
      failure: /fake failure 400/,
    },
    interrupted: { session: "01a1e25f-080c-7981-90c3-e82fb6a894b6", status: "interrupted", text: "" },
  },
  opencode: {
    new: {
      session: "ses_e1daf1e9bffelw83uI01MHJNdD",
      status: "completed",
      text: "T1 done: wrote a.txt",
      tools: ["write"],
      tokens: [11437, 19],
    },
    resumed: {
      session: "ses_e1daf1e9bffelw83uI01MHJNdD",
      status: "completed",
      text: "T2 done: edited a.txt, made b.txt",
      tools: ["edit", "bash"],
    },
    failed: { session: "ses_e1dae708effeqyhdcT3oLijk2H", status: "failed", text: "", failure: /^fake error 400$/ },
  },
  kilo: {
    new: {
      session: "ses_e0f871302ffexpnDHTCB3Q2v5I",
      status: "completed",
      text: "Hello is there.",
      tools: ["write", "read", "edit", "bash"],
    },
    resumed: {
      session: "ses_e0f871302ffexpnDHTCB3Q2v5I",
      status: "completed",
      text: "It is bigger.",
      tools: ["edit", "bash", "task"],
    },
  },
  pi: {
    new: {
      session: "01a1e24f-73b6-7066-abde-bd10492d79e5",
      status: "completed",
      text: "T1 done: wrote a.txt",
      tools: ["write"],
      tokens: [1387, 19],
      cost: 0.0015636,
    },
    failed: { session: "01a1e24f-9170-7755-a817-735548e71e1d", status: "failed", text: "", failure: /fake error 400/ },
    interrupted: {
      session: "01a1e250-3b6d-7451-8465-ba7643aea2db",
      status: "interrupted",
      text: "slow slow slow slow slow ",
    },
  },
  "copilot-cli": {
    new: {
      session: "34b0095b-504f-436b-8ce5-8b74058fe603",
      status: "completed",
      text: "T1 done: wrote a.txt",
      tools: ["create"],
    },
    // What the subagent said is not the answer.
    subagent: {
      session: "34b0095b-504f-436b-8ce5-8b74058fe603",
      status: "completed",
      text: "T3 done: sub-agent returned",
      tools: ["task", "create"],
    },
    failed: {
      session: "9cab8e1f-2cb1-4b64-b657-94a497121cd7",
      status: "failed",
      text: "",
      failure: /^400 fake error 400$/,
    },
  },
  qwen: {
    new: {
      session: "adbb29c2-0c18-4a04-858a-6c28bf4a88f6",
      status: "completed",
      text: "T1 done: wrote a.txt",
      tools: ["write_file"],
      tokens: [35314, 19],
    },
    resumed: {
      session: "adbb29c2-0c18-4a04-858a-6c28bf4a88f6",
      status: "completed",
      text: "T2 done: edited a.txt, made b.txt",
      tools: ["edit", "run_shell_command"],
    },
    subagent: {
      session: "adbb29c2-0c18-4a04-858a-6c28bf4a88f6",
      status: "completed",
      text: "SUB done: wrote c.txt",
      tools: ["agent", "write_file"],
    },
    failed: {
      session: "83c74e1a-77eb-4a8c-a591-ad5ca60f030d",
      status: "failed",
      text: "[API Error: 400 fake error 400]",
      failure: /fake error 400/,
    },
  },
  "kimi-code": {
    new: {
      session: "session_881ec1bd-982a-4c29-bba6-36fc15bd420a",
      // Only the process's exit tells that it is done.
      status: "interrupted",
      text: "T1 done: wrote a.txt",
      tools: ["Write"],
    },
    resumed: {
      session: "session_881ec1bd-982a-4c29-bba6-36fc15bd420a",
      status: "interrupted",
      text: "T2 done: edited a.txt, made b.txt",
      tools: ["Edit", "Bash"],
    },
  },
  cline: {
    new: {
      session: null,
      status: "completed",
      text: "T1 done: wrote a.txt",
      tools: ["editor"],
      tokens: [6988, 19],
    },
    failed: { session: null, status: "failed", text: "fake error 400", failure: /fake error 400/ },
  },
  "factoryai-droid": {
    new: {
      session: "41d7dee7-0485-4dd6-a06a-681f809e2e58",
      status: "completed",
      text: "Written.",
      tools: ["Create"],
      tokens: [26, 46],
    },
    failed: { session: "46d5edb3-58c1-4ead-b527-eba9c9cc7407", status: "failed", text: "", failure: /no way/ },
  },
};

const folder = (agent: string) => join(import.meta.dirname, agent, "streams");

for (const [agent, streams] of Object.entries(TOLD)) {
  describe(agent, () => {
    for (const [name, told] of Object.entries(streams)) {
      test(`its stream, ${name}`, async () => {
        const run = (await getAgent(agent))?.profile.run;
        if (!run) throw new Error("The profile has no run section.");
        const result = new RunResult(run.stream);
        const moments: StreamEvent[] = [];
        const lines = new LineSplitter({ line: (value) => moments.push(...result.take(value)), tooLong() {} });
        lines.push(readFileSync(join(folder(agent), `${name}.jsonl`)));
        lines.end();
        const tools = moments.flatMap((moment) => (moment.kind === "tool" ? [moment.name] : []));
        const { status, text, sessionId } = result;
        expect({ session: sessionId, status, text, tools }).toEqual({
          session: told.session,
          status: told.status,
          text: told.text,
          tools: told.tools ?? [],
        });
        if (told.failure) expect(result.failure ?? "").toMatch(told.failure);
        else expect(result.failure).toBeNull();
        const { tokens, cost } = result.usage;
        if (told.tokens) expect([tokens.input, tokens.output]).toEqual(told.tokens);
        if (told.cost !== undefined) expect(cost?.usd).toBeCloseTo(told.cost, 8);
      });
    }

    test("every recorded stream is described", () => {
      const recorded = existsSync(folder(agent)) ? readdirSync(folder(agent)) : [];
      expect(recorded.sort()).toEqual(
        Object.keys(streams)
          .map((name) => `${name}.jsonl`)
          .sort(),
      );
    });
  });
}
