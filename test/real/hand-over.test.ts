/**
 * A conversation handed over from one real agent to another, which Backtrail itself starts in a terminal: what the other
 * agent's model is sent is what was said, done and left open. One story a pair.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentDriver } from "./agent-driver.ts";
import { Backtrail } from "./backtrail.ts";
import * as claude from "./claude-code.ts";
import * as codex from "./codex.ts";
import * as gemini from "./gemini.ts";
import { makeProject } from "./project.ts";
import type { RealAgent, Rig } from "./rig.ts";
import { answering, reply, type Scenario, scenario } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Try the tests [[second]]";

interface HandoffResult {
  handOver: { agent: string; command: string; file: string; characters: number; cut: string[] };
}

/** The agent that takes over, and what it needs in the other's rig. */
interface Successor {
  agent: RealAgent;
  driver: AgentDriver;
  prepare?(rig: Rig): void;
}

async function story(from: AgentDriver, { agent, driver: to, prepare }: Successor): Promise<void> {
  const { program } = await from.available();
  const successor = (await to.available()).program;
  describe.skipIf(program === null || successor === null)(`${from.name} hands over to ${to.name}`, () => {
    let rig: Rig;
    let backtrail: Backtrail;
    let session: string;
    let terminal: Terminal | undefined;

    beforeAll(async () => {
      rig = await from.start(program ?? "", (project) => scenarios(project, from));
      await makeProject(rig);
      symlinkSync(successor ?? "", join(dirname(rig.home), "bin", agent.command));
      agent.furnish(rig.home, rig.project);
      Object.assign(rig.env, agent.environment(rig.sandbox.url));
      prepare?.(rig);
      backtrail = new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", from.id]);
      session = (await from.turn(rig, FIRST)).sessionId;
      await from.turn(rig, SECOND, session);
    }, TIMEOUT_MS);

    afterAll(async () => {
      terminal?.close();
      await rig?.stop();
    });

    test("a handoff has prompts, answers, files and failures", async () => {
      const { handOver } = await backtrail.json<HandoffResult>("resume", session, "--agent", to.id);
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
        await terminal.waitFor("Understood");
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

await story(claude.driver, {
  agent: codex.codex,
  driver: codex.driver,
  prepare(rig) {
    const file = join(rig.home, ".codex/config.toml");
    const url = `base_url = "${rig.sandbox.url}/v1"`;
    writeFileSync(file, readFileSync(file, "utf8").replace('name = "local"\n', `name = "local"\n${url}\n`));
  },
});

await story(gemini.driver, { agent: claude.claudeCode, driver: claude.driver });

function scenarios(project: string, { tools }: AgentDriver): Scenario[] {
  return [
    codex.TITLES,
    answering(/You take over this work/, reply("Understood: hello is there, the tests fail.")),
    scenario("first", [
      reply("I will write it.", tools.write(join(project, "greeting.txt"), "hello\n")),
      reply("Hello is there."),
    ]),
    scenario("second", [reply("Trying.", tools.shell("sh -c 'exit 3'")), reply("They fail.")]),
  ];
}
