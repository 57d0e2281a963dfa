/**
 * A conversation handed over from one real agent to another, which Backtrail itself starts in a terminal: what the other
 * agent's model is sent is what was said, done and left open. One story a pair.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Backtrail } from "./backtrail.ts";
import * as claude from "./claude-code.ts";
import * as codex from "./codex.ts";
import * as gemini from "./gemini.ts";
import { makeProject } from "./project.ts";
import { availability, type RealAgent, Rig } from "./rig.ts";
import { answering, reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Try the tests [[second]]";

const claudeHere = await availability(claude.claudeCode);
const codexHere = await availability(codex.codex);
const geminiHere = await availability(gemini.geminiCli);

interface HandedOver {
  handOver: { agent: string; command: string; file: string; characters: number; cut: string[] };
}

function story(
  names: string,
  program: string | null,
  from: {
    agent: RealAgent;
    id: string;
    turn: (rig: Rig, text: string, session?: string) => Promise<{ sessionId: string }>;
  },
  to: { agent: RealAgent; id: string; program: string | null; prepare(rig: Rig): void; answer: RegExp },
  scenarios: (project: string) => Scenario[],
): void {
  describe.skipIf(program === null || to.program === null)(names, () => {
    let rig: Rig;
    let backtrail: Backtrail;
    let session: string;
    let terminal: Terminal | undefined;

    beforeAll(async () => {
      rig = await Rig.start(from.agent, program ?? "", scenarios);
      await makeProject(rig);
      symlinkSync(to.program ?? "", join(dirname(rig.home), "bin", to.agent.command));
      to.agent.furnish(rig.home, rig.project);
      Object.assign(rig.env, to.agent.environment(rig.sandbox.url));
      to.prepare(rig);
      backtrail = new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", from.id]);
      session = (await from.turn(rig, FIRST)).sessionId;
      await from.turn(rig, SECOND, session);
    }, TIMEOUT_MS);

    afterAll(async () => {
      terminal?.close();
      await rig?.stop();
    });

    test("what is handed over: prompts, answers, files, what failed", async () => {
      const { handOver } = await backtrail.json<HandedOver>("resume", session, "--agent", to.id);
      const text = readFileSync(handOver.file, "utf8");
      expect(handOver).toMatchObject({ agent: to.id, cut: [], characters: text.length });
      for (const part of [FIRST, SECOND, "Hello is there.", "- greeting.txt", "Failed: `sh -c 'exit 3'`"]) {
        expect(text).toContain(part);
      }
    });

    test(
      "the other agent is started with it, and that is what its model is sent",
      async () => {
        const before = rig.received.calls().length;
        terminal = await rig.terminal(["backtrail", "resume", session, "--agent", to.id, "--run"]);
        await terminal.waitFor(to.answer);
        const call = rig.received.calls()[before];
        const said = JSON.stringify(call?.conversation);
        for (const part of ["You take over this work", FIRST, SECOND, "Hello is there.", "exit 3"]) {
          expect(said).toContain(part);
        }
      },
      TIMEOUT_MS,
    );
  });
}

story(
  "Claude Code hands over to Codex",
  claudeHere.program,
  {
    agent: claude.claudeCode,
    id: "claude-code",
    turn: (rig, text, session) => claude.prompt(rig, text, ...(session ? ["--resume", session] : [])),
  },
  {
    agent: codex.codex,
    id: "codex",
    program: codexHere.program,
    prepare(rig) {
      const file = join(rig.home, ".codex/config.toml");
      const url = `base_url = "${rig.sandbox.url}/v1"`;
      writeFileSync(file, readFileSync(file, "utf8").replace('name = "local"\n', `name = "local"\n${url}\n`));
    },
    answer: /Understood/,
  },
  scenarios("Write", "file_path", "Bash"),
);

story(
  "Gemini CLI hands over to Claude Code",
  geminiHere.program,
  {
    agent: gemini.geminiCli,
    id: "gemini",
    turn: (rig, text, session) => gemini.prompt(rig, text, ...(session ? ["--resume", session] : [])),
  },
  { agent: claude.claudeCode, id: "claude-code", program: claudeHere.program, prepare: () => {}, answer: /Understood/ },
  scenarios("write_file", "file_path", "run_shell_command"),
);

function scenarios(write: string, field: string, shell: string): (project: string) => Scenario[] {
  return (project) => [
    codex.TITLES,
    answering(/You take over this work/, reply("Understood: hello is there, the tests fail.")),
    scenario("first", [
      reply("I will write it.", toolUse(write, { [field]: join(project, "greeting.txt"), content: "hello\n" })),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply("Trying.", toolUse(shell, { command: "sh -c 'exit 3'", description: "Try the tests" })),
      reply("They fail."),
    ]),
  ];
}
