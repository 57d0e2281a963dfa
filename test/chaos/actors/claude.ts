/** Claude Code, as it tells of itself: hooks with their payloads, and the transcript that it writes. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../../fuzz/random.ts";
import { messageOf } from "../../support/claude/transcript.ts";
import { token } from "../content.ts";
import type { Invocation } from "../invocation.ts";
import { slug } from "../script.ts";
import type { World } from "../world.ts";
import type { Actions, Scene } from "./action.ts";
import { hookCall, type Session, uuid } from "./agents.ts";
import { shellWork, writeByTool } from "./work.ts";

const USAGE = { input_tokens: 10, cache_creation_input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 20 };

function line(world: World, random: Random, session: Session, type: string, message: unknown): void {
  const id = uuid(random);
  if (!existsSync(dirname(session.transcript))) {
    mkdirSync(dirname(session.transcript), { recursive: true });
    world.script.add(`mkdir -p ${world.script.quote(dirname(session.transcript))}`);
  }
  const whole = {
    parentUuid: session.last,
    isSidechain: false,
    type,
    message,
    uuid: id,
    timestamp: new Date().toISOString(),
    userType: "external",
    entrypoint: "cli",
    cwd: session.cwd,
    sessionId: session.id,
    version: "2.1.325",
    gitBranch: "main",
  };
  session.last = id;
  session.lines += 1;
  world.append(session.transcript, `${JSON.stringify(whole)}\n`);
}

function assistant(world: World, random: Random, session: Session, block: Record<string, unknown>): void {
  const stop = block["type"] === "tool_use" ? "tool_use" : "end_turn";
  const id = `msg_${token(random)}`;
  line(world, random, session, "assistant", messageOf(id, block, stop, USAGE));
}

function toolResult(world: World, random: Random, session: Session, id: string): void {
  const result = [{ type: "tool_result", tool_use_id: id, content: "ok" }];
  line(world, random, session, "user", { role: "user", content: result });
}

function ask({ world, random, agents }: Scene): Invocation {
  const session = agents.sessionFor(world, random, "claude-code", (cwd, id) =>
    join(world.home, ".claude", "projects", slug(cwd), `${id}.jsonl`),
  );
  const prompt = `please ${token(random)}`;
  return hookCall(session, "user-prompt-submit", "UserPromptSubmit", { prompt }, () => {
    session.prompt = prompt;
    line(world, random, session, "user", { role: "user", content: prompt });
  });
}

function openTurn({ agents, world }: Scene): Session | null {
  const session = agents.current("claude-code");
  return session?.prompt && existsSync(session.cwd) && world.places().includes(session.cwd) ? session : null;
}

export const CLAUDE: Actions = {
  "claude is asked": {
    weight: 6,
    run: ask,
  },
  "claude writes": {
    weight: 6,
    meanwhile: true,
    run(scene) {
      const session = openTurn(scene);
      if (!session) return ask(scene);
      const { world, random } = scene;
      const { path, content } = writeByTool(world, session.cwd, random);
      const id = `toolu_${token(random)}`;
      const input = { file_path: path, content };
      assistant(world, random, session, { type: "tool_use", id, name: "Write", input });
      const tool = {
        tool_name: "Write",
        tool_input: input,
        tool_use_id: id,
        tool_response: { type: "update", filePath: path },
      };
      return hookCall(session, "post-tool-use", "PostToolUse", tool, () => {
        toolResult(world, random, session, id);
      });
    },
  },
  "claude runs a command": {
    weight: 5,
    run(scene) {
      const session = openTurn(scene);
      if (!session) return ask(scene);
      const { world, random } = scene;
      const { command, perform } = shellWork(world, session.cwd, random);
      const id = `toolu_${token(random)}`;
      assistant(world, random, session, { type: "tool_use", id, name: "Bash", input: { command } });
      const tool = { tool_name: "Bash", tool_input: { command }, tool_use_id: id };
      return hookCall(session, "pre-tool-use", "PreToolUse", tool, () => {
        perform();
        toolResult(world, random, session, id);
      });
    },
  },
  "claude answers": {
    weight: 6,
    run(scene) {
      const session = openTurn(scene);
      if (!session) return null;
      const { world, random } = scene;
      const answer = `done ${token(random)}`;
      assistant(world, random, session, { type: "text", text: answer });
      const { prompt } = session;
      session.prompt = null;
      const invocation = hookCall(session, "stop", "Stop", { stop_hook_active: false, last_assistant_message: answer });
      return { ...invocation, told: { agent: "claude-code", session: session.id, prompt: prompt ?? "", answer } };
    },
  },
  "claude ends": {
    weight: 1,
    run({ agents }) {
      const session = agents.current("claude-code");
      if (!session || !existsSync(session.cwd)) return null;
      agents.vanish("claude-code");
      return hookCall(session, "session-end", "SessionEnd", { reason: "prompt_input_exit" });
    },
  },
  "claude is killed": { weight: 1, run: ({ agents }) => agents.vanish("claude-code") },
};
