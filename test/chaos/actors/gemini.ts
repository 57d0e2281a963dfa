/** Gemini CLI, as it tells of itself: hooks with their payloads, and the transcript that it writes. */
import { existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { token } from "../content.ts";
import type { World } from "../world.ts";
import type { Actions, Scene } from "./action.ts";
import { hookCall, type Session, uuid } from "./agents.ts";
import { shellWork, writeByTool } from "./work.ts";

const MODEL = "gemini-3.8-flash";
const TOKENS = { input: 179, output: 32, cached: 0, thoughts: 3, tool: 0, total: 214 };

const hook: typeof hookCall = (session, verb, event, fields, then) =>
  hookCall(session, verb, event, { timestamp: new Date().toISOString(), ...fields }, then);

function append(world: World, session: Session, line: unknown): void {
  world.append(session.transcript, `${JSON.stringify(line)}\n`);
  session.lines += 1;
}

function begin(world: World, session: Session): void {
  const timestamp = new Date().toISOString();
  mkdirSync(dirname(session.transcript), { recursive: true });
  world.script.add(`mkdir -p ${world.script.quote(dirname(session.transcript))}`);
  append(world, session, {
    sessionId: session.id,
    projectHash: "0",
    startTime: timestamp,
    lastUpdated: timestamp,
    kind: "main",
  });
}

function openTurn({ agents, world }: Scene): Session | null {
  const session = agents.current("gemini");
  return session?.prompt && world.places().includes(session.cwd) ? session : null;
}

export const GEMINI: Actions = {
  "gemini is asked": {
    weight: 4,
    run({ world, random, agents }) {
      const session = agents.sessionFor(world, random, "gemini", (cwd, id) =>
        join(world.home, ".gemini", "tmp", basename(cwd), "chats", `session-2026-11-16T03-30-${id.slice(0, 8)}.jsonl`),
      );
      if (session.lines === 0) begin(world, session);
      const prompt = `please ${token(random)}`;
      const id = uuid(random);
      return hook(session, "before-agent", "BeforeAgent", { prompt }, () => {
        session.prompt = prompt;
        append(world, session, { id, timestamp: new Date().toISOString(), type: "user", content: [{ text: prompt }] });
      });
    },
  },
  "gemini writes": {
    weight: 4,
    meanwhile: true,
    run(scene) {
      const session = openTurn(scene);
      if (!session) return null;
      const { world, random } = scene;
      const { path, content } = writeByTool(world, session.cwd, random);
      const timestamp = new Date().toISOString();
      const call = {
        id: token(random),
        name: "write_file",
        args: { file_path: path, content },
        status: "success",
        timestamp,
      };
      const said = { id: uuid(random), timestamp, type: "gemini", content: "I write.", thoughts: [], tokens: TOKENS };
      append(world, session, { ...said, model: MODEL, toolCalls: [call] });
      const tool = { tool_name: "write_file", tool_input: call.args, tool_response: { llmContent: "ok" } };
      return hook(session, "after-tool", "AfterTool", tool);
    },
  },
  "gemini runs a command": {
    weight: 3,
    run(scene) {
      const session = openTurn(scene);
      if (!session) return null;
      const { command, perform } = shellWork(scene.world, session.cwd, scene.random);
      const tool = { tool_name: "run_shell_command", tool_input: { command } };
      return hook(session, "before-tool", "BeforeTool", tool, perform);
    },
  },
  "gemini answers": {
    weight: 4,
    run(scene) {
      const session = openTurn(scene);
      if (!session) return null;
      const { world, random } = scene;
      const answer = `done ${token(random)}`;
      const said = {
        id: uuid(random),
        timestamp: new Date().toISOString(),
        type: "gemini",
        content: answer,
        thoughts: [],
      };
      append(world, session, { ...said, tokens: TOKENS, model: MODEL });
      const prompt = session.prompt ?? "";
      session.prompt = null;
      const invocation = hook(session, "after-agent", "AfterAgent", {
        prompt,
        prompt_response: answer,
        stop_hook_active: false,
      });
      return { ...invocation, told: { agent: "gemini", session: session.id, prompt, answer } };
    },
  },
  "gemini is killed": { weight: 1, run: ({ agents }) => agents.vanish("gemini") },
  "gemini ends": {
    weight: 0.5,
    run({ agents }) {
      const session = agents.current("gemini");
      if (!session || !existsSync(session.cwd)) return null;
      agents.vanish("gemini");
      return hook(session, "session-end", "SessionEnd", { reason: "exit" });
    },
  },
};
