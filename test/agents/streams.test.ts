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

type Status = RunResult["status"];

const told = (status: Status, session: string | null, text: string, more: Partial<Told> = {}): Told => ({
  status,
  session,
  text,
  ...more,
});
const completed = (session: string | null, text: string, tools: string[], more: Partial<Told> = {}) =>
  told("completed", session, text, { tools, ...more });
const failed = (session: string | null, text: string, failure: RegExp) => told("failed", session, text, { failure });
const interrupted = (session: string | null, text: string, tools: string[] = []) =>
  told("interrupted", session, text, { tools });

const TOLD: Record<string, Record<string, Told>> = {
  "claude-code": {
    new: completed("2f0fa518-f7db-4098-affa-4bda40438198", "Written.", ["Write"], { tokens: [26, 46], cost: 0.011944 }),
    failed: failed("a85455ae-882f-44a9-a7a2-71c4b5d181d3", "API Error: 400 no way", /400 no way/),
  },
  gemini: {
    new: completed("ae1f9fe3-351a-427a-9c0c-3431036d00b4", "Created a.txt.", ["write_file"], { tokens: [661, 58] }),
    resumed: completed("ae1f9fe3-351a-427a-9c0c-3431036d00b4", "Edited a.txt and wrote b.txt.", [
      "replace",
      "run_shell_command",
    ]),
    failed: failed("b208b319-5a52-4a11-ba6b-4fd8faf70ef5", "", /fake failure 400/),
    interrupted: interrupted("888644fa-349c-4cbb-a823-d271d84a5d76", ""),
  },
  codex: {
    new: completed("01a1e25d-d997-7812-86ef-732b92154785", "Created a.txt.", ["file_change"], { tokens: [25853, 139] }),
    resumed: completed("01a1e25d-d997-7812-86ef-732b92154785", "Edited a.txt and wrote b.txt.", [
      "file_change",
      "command_execution",
    ]),
    failed: failed("01a1e25e-61b5-7e62-a1ab-5bd3766869d2", "", /fake failure 400/),
    interrupted: interrupted("01a1e25f-080c-7981-90c3-e82fb6a894b6", ""),
  },
  opencode: {
    new: completed("ses_e1daf1e9bffelw83uI01MHJNdD", "T1 done: wrote a.txt", ["write"], { tokens: [11437, 19] }),
    resumed: completed("ses_e1daf1e9bffelw83uI01MHJNdD", "T2 done: edited a.txt, made b.txt", ["edit", "bash"]),
    failed: failed("ses_e1dae708effeqyhdcT3oLijk2H", "", /^fake error 400$/),
  },
  kilo: {
    new: completed("ses_e0f871302ffexpnDHTCB3Q2v5I", "Hello is there.", ["write", "read", "edit", "bash"]),
    resumed: completed("ses_e0f871302ffexpnDHTCB3Q2v5I", "It is bigger.", ["edit", "bash", "task"]),
  },
  pi: {
    new: completed("01a1e24f-73b6-7066-abde-bd10492d79e5", "T1 done: wrote a.txt", ["write"], {
      tokens: [1387, 19],
      cost: 0.0015636,
    }),
    failed: failed("01a1e24f-9170-7755-a817-735548e71e1d", "", /fake error 400/),
    interrupted: interrupted("01a1e250-3b6d-7451-8465-ba7643aea2db", "slow slow slow slow slow "),
  },
  "copilot-cli": {
    new: completed("34b0095b-504f-436b-8ce5-8b74058fe603", "T1 done: wrote a.txt", ["create"]),
    // What the subagent said is not the answer.
    subagent: completed("34b0095b-504f-436b-8ce5-8b74058fe603", "T3 done: sub-agent returned", ["task", "create"]),
    failed: failed("9cab8e1f-2cb1-4b64-b657-94a497121cd7", "", /^400 fake error 400$/),
  },
  qwen: {
    new: completed("adbb29c2-0c18-4a04-858a-6c28bf4a88f6", "T1 done: wrote a.txt", ["write_file"], {
      tokens: [35314, 19],
    }),
    resumed: completed("adbb29c2-0c18-4a04-858a-6c28bf4a88f6", "T2 done: edited a.txt, made b.txt", [
      "edit",
      "run_shell_command",
    ]),
    subagent: completed("adbb29c2-0c18-4a04-858a-6c28bf4a88f6", "SUB done: wrote c.txt", ["agent", "write_file"]),
    failed: failed("83c74e1a-77eb-4a8c-a591-ad5ca60f030d", "[API Error: 400 fake error 400]", /fake error 400/),
  },
  "kimi-code": {
    // Only the process's exit tells that it is done.
    new: interrupted("session_881ec1bd-982a-4c29-bba6-36fc15bd420a", "T1 done: wrote a.txt", ["Write"]),
    resumed: interrupted("session_881ec1bd-982a-4c29-bba6-36fc15bd420a", "T2 done: edited a.txt, made b.txt", [
      "Edit",
      "Bash",
    ]),
  },
  cline: {
    new: completed(null, "T1 done: wrote a.txt", ["editor"], { tokens: [6988, 19] }),
    failed: failed(null, "fake error 400", /fake error 400/),
  },
  "factoryai-droid": {
    new: completed("41d7dee7-0485-4dd6-a06a-681f809e2e58", "Written.", ["Create"], { tokens: [26, 46] }),
    failed: failed("46d5edb3-58c1-4ead-b527-eba9c9cc7407", "", /no way/),
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
        const { usage } = result;
        if (told.tokens) expect([usage?.tokens.input, usage?.tokens.output]).toEqual(told.tokens);
        if (told.cost !== undefined) expect(usage?.cost?.usd).toBeCloseTo(told.cost, 8);
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
