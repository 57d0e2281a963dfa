// @ts-nocheck
/**
 * Backtrail's extension for Pi. It tells Backtrail of turns and tools; where Backtrail isn't enabled, nothing comes of it.
 * Written by `backtrail enable`, removed by `backtrail disable`.
 */
import { spawn } from "node:child_process";

/** By event: the shell command that tells Backtrail of it, and the tools that it is about. */
const HOOKS = {};

const MAX_CALL_MS = 25_000;

export default function backtrail(pi) {
  const self = {};
  // Both came with the same version. Before it, a run's end was the end of the turn, unless the run was tried again.
  const settles = typeof pi.registerEntryRenderer === "function";
  let stopReason;

  /** Nothing may come back from a handler but a message for a prompt: an error would block a tool. */
  function on(event, handler) {
    pi.on(event, async (given, ctx) => {
      try {
        const context = await handler(given, ctx);
        if (event === "before_agent_start" && context) return messageOf(context);
      } catch {}
      return undefined;
    });
  }

  async function tell(event, ctx, more = {}) {
    const hook = HOOKS[event];
    const session = sessionOf(ctx);
    if (!hook || !session) return;
    // Installed in two places, it would tell of everything twice.
    const teller = tellerOf(session);
    globalThis[teller] ??= self;
    if (globalThis[teller] !== self) return;
    const reply = await run(hook.command, ctx.cwd, { event, ...session, ...more });
    if (!reply.startsWith("{")) return;
    const { notice, context } = JSON.parse(reply);
    if (notice && ctx.hasUI) ctx.ui.notify(notice, "info");
    return context;
  }

  async function tool(event, { toolName, toolCallId, input }, ctx) {
    if (toolName === "subagent") {
      const subagent = { id: toolCallId, agent: input?.agent, task: input?.task };
      await tell(event === "tool_call" ? "subagent_call" : "subagent_result", ctx, { subagent });
      return;
    }
    if (!new RegExp(`^(?:${HOOKS[event]?.matcher ?? ""})$`).test(toolName)) return;
    const { path, command } = input ?? {};
    await tell(event, ctx, { toolName, toolCallId, input: { path, command } });
  }

  on("session_start", ({ reason }, ctx) => tell("session_start", ctx, { reason }));
  on("before_agent_start", ({ prompt }, ctx) => tell("before_agent_start", ctx, { prompt }));
  on("tool_call", (event, ctx) => tool("tool_call", event, ctx));
  on("tool_result", (event, ctx) => tool("tool_result", event, ctx));
  on("session_before_compact", ({ reason }, ctx) => tell("session_before_compact", ctx, { reason }));
  on("agent_end", async ({ messages }, ctx) => {
    stopReason = messages?.findLast((message) => message.role === "assistant")?.stopReason;
    if (!settles && stopReason !== "error") await tell("agent_end", ctx, { stopReason });
  });
  on("agent_settled", ({ aborted }, ctx) => tell("agent_settled", ctx, { aborted, stopReason }));
  on("session_shutdown", async ({ reason }, ctx) => {
    const session = sessionOf(ctx);
    if (reason !== "reload") await tell("session_shutdown", ctx, { reason });
    if (session && globalThis[tellerOf(session)] === self) delete globalThis[tellerOf(session)];
  });
}

/** Which session it is and where in its tree it stands; null where Pi keeps none, as for another Pi's subagents. */
function sessionOf({ sessionManager, cwd, model }) {
  const sessionFile = sessionManager.getSessionFile();
  if (!sessionFile) return null;
  return {
    sessionId: sessionManager.getSessionId(),
    sessionFile,
    parentSession: sessionManager.getHeader()?.parentSession,
    leafId: sessionManager.getLeafId(),
    cwd,
    model: model?.id,
  };
}

function tellerOf({ sessionId }) {
  return Symbol.for(`backtrail ${sessionId}`);
}

/** Text for the model, beside the prompt. */
function messageOf(content) {
  return { message: { customType: "backtrail", content, display: true } };
}

/** Calls Backtrail; what it prints, or nothing where it can't be called. */
function run(command, cwd, payload) {
  return new Promise((done) => {
    const env = { ...process.env, PI_PID: String(process.pid) };
    const child = spawn("/bin/sh", ["-c", command], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), MAX_CALL_MS);
    let reply = "";
    const end = () => {
      clearTimeout(timer);
      done(reply);
    };
    child.once("error", end);
    child.once("close", end);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      if (reply.length < 65_536) reply += text;
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}
