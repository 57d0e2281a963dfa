/**
 * Backtrail's plugin for OpenCode. It tells Backtrail of turns, tools and subagents, and keeps every conversation as
 * JSON lines in Backtrail's store, since OpenCode's own is a database. Where Backtrail isn't enabled it does nothing.
 * Written by `backtrail enable`, removed by `backtrail disable`.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";

/** By event: the shell command that tells Backtrail of it, and the tools that it is about. */
const HOOKS = {};
/** The agent that runs the plugin, by its id in Backtrail; others are made from OpenCode. */
const AGENT = "opencode";

const MAX_CALL_MS = 25_000;
const MAX_ANSWER_MS = 5_000;
/** The end of a turn is announced a moment before its last message is written. */
const SETTLING_MS = 500;
const POLL_MS = 25;
/** Enough for what came since the last look within a turn. */
const RECENT_MESSAGES = 40;
const CHANGING = ["cost", "tokens", "summary", "revert", "share"];

/** OpenCode takes every export for a plugin, so there is this one alone. */
export const Backtrail = async ({ client, directory }) => {
  // Installed in two places, it would tell of everything twice.
  const mark = Symbol.for(`backtrail ${directory}`);
  if (globalThis[mark]) return {};
  globalThis[mark] = true;

  const sessions = new Map();
  let queue = Promise.resolve();

  /** One thing after the other, whatever goes wrong in it. */
  function next(task) {
    queue = queue.then(task).catch(() => {});
    return queue;
  }

  async function ask(method, request) {
    const answer = Promise.resolve(client.session[method](request)).catch(() => undefined);
    return (await within(MAX_ANSWER_MS, answer))?.data;
  }

  /** What is known of a session; null where nothing of it is recorded. */
  async function meet(id) {
    const known = sessions.get(id);
    if (known) return known;
    const store = storeFor(directory);
    if (store === null || !/^[A-Za-z0-9_-]{1,128}$/.test(id)) return null;
    const info = await ask("get", { path: { id } });
    if (!info) return null;
    const parent = info.parentID ? await meet(info.parentID) : null;
    const session = {
      id,
      info,
      root: parent?.root ?? id,
      transcript: new Transcript(join(store, AGENT, `${id}.jsonl`)),
      begun: false,
      turnOpen: false,
      error: null,
      tasks: [],
    };
    sessions.set(id, session);
    return session;
  }

  /** Brings the transcript up to date: with messages that are still being written only where `whole` says so. */
  async function record(session, { whole = false, recent = false } = {}) {
    const path = { id: session.id };
    const info = recent ? session.info : ((await ask("get", { path })) ?? session.info);
    const messages = await ask("messages", recent ? { path, query: { limit: RECENT_MESSAGES } } : { path });
    session.info = info;
    try {
      session.transcript.write(info, messages ?? [], { whole, complete: !recent && messages !== undefined });
    } catch {
      // A conversation that can't be written is no reason to lose the code.
    }
  }

  async function recordEnd(session) {
    const deadline = Date.now() + SETTLING_MS;
    for (;;) {
      await record(session, { whole: true });
      if (session.transcript.isSettled || Date.now() > deadline) return;
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
  }

  function tell(event, session, more = {}) {
    const hook = HOOKS[event];
    const root = sessions.get(session.root) ?? session;
    const payload = { event, sessionID: root.id, directory, transcript: root.transcript.path, ...more };
    if (session !== root) payload.subagent = { ...subagentOf(session), ...more.subagent };
    if (!hook) return Promise.resolve();
    return run(hook.command, directory, payload)
      .then(show)
      .catch(() => {});
  }

  /** Backtrail may have a word for the user, and text for the model, which is given back. */
  function show(reply) {
    if (!reply.startsWith("{")) return undefined;
    const { notice, context } = JSON.parse(reply);
    const shown = notice && client.tui?.showToast?.({ body: { message: notice, variant: "info" } });
    Promise.resolve(shown).catch(() => {});
    return context;
  }

  async function beginTurn(session, message, parts) {
    const prompt = textOf(parts);
    session.turnOpen = true;
    session.error = null;
    if (session.id !== session.root) {
      const task = takeTask(sessions.get(session.root), prompt);
      await tell("subagent.message", session, { subagent: { prompt, callID: task?.callID } });
      return;
    }
    const source = existsSync(session.transcript.path) ? "resume" : "new";
    await record(session);
    session.transcript.close();
    if (!session.begun) await tell("session.created", session, { source });
    session.begun = true;
    const model = message?.model?.modelID;
    const context = await tell("chat.message", session, { messageID: message?.id, prompt, model });
    const own = parts?.find((part) => part.type === "text");
    // A part of the prompt's own message, as OpenCode makes them for text that the user did not type.
    if (context && own) parts.push({ ...own, id: own.id && `${own.id}b`, text: context, synthetic: true });
  }

  async function endTurn(session) {
    // Announced at least twice, as a status and as an event; an interruption and a compaction announce it again.
    if (!session.turnOpen) return;
    session.turnOpen = false;
    await recordEnd(session);
    const isSubagent = session.id !== session.root;
    await tell(isSubagent ? "subagent.idle" : "session.idle", session, { error: session.error ?? undefined });
    session.transcript.close();
  }

  async function tool(event, { tool: name, sessionID, callID }, args, metadata) {
    if (!new RegExp(`^(?:${HOOKS[event]?.matcher ?? ""})$`).test(name)) return;
    const session = sessions.get(sessionID);
    if (!session) return;
    if (name === "task" && event.endsWith("before")) {
      const root = sessions.get(session.root) ?? session;
      root.tasks = [...root.tasks, { callID, prompt: args?.prompt }].slice(-20);
    }
    if (session.id === session.root && event.endsWith("before")) await record(session, { recent: true });
    const files = Array.isArray(metadata?.files)
      ? metadata.files.flatMap((file) => [file?.filePath, file?.movePath])
      : [];
    const paths = [args?.filePath, ...files].filter((path) => typeof path === "string");
    await tell(event, session, { tool: { name, callID, paths, input: { command: args?.command } } });
  }

  async function onEvent({ type, properties }) {
    const session = sessions.get(properties?.sessionID ?? properties?.info?.id);
    if (!session) return;
    if (type === "session.error") session.error = properties.error?.name ?? "error";
    const isIdle = type === "session.idle" || (type === "session.status" && properties.status?.type === "idle");
    if (isIdle) await next(() => endTurn(session));
    if (type === "session.deleted") {
      sessions.delete(session.id);
      if (session.id === session.root) await next(() => tell("session.deleted", session));
    }
  }

  return {
    "chat.message": (input, output) =>
      next(async () => {
        const session = await meet(input.sessionID);
        if (session) await beginTurn(session, output.message, output.parts);
      }),
    "tool.execute.before": (input, output) => next(() => tool("tool.execute.before", input, output.args)),
    "tool.execute.after": (input, output) =>
      next(() => tool("tool.execute.after", input, input.args, output?.metadata)),
    "experimental.session.compacting": (input) =>
      next(async () => {
        const session = await meet(input.sessionID);
        if (!session || session.id !== session.root) return;
        await record(session);
        await tell("experimental.session.compacting", session);
      }),
    event: ({ event }) => onEvent(event).catch(() => {}),
    dispose: async () => {
      await queue;
      const begun = [...sessions.values()].filter((session) => session.begun);
      sessions.clear();
      for (const session of begun) {
        if (session.turnOpen) await next(() => record(session, { whole: true }));
        await next(() => tell("dispose", session));
      }
      delete globalThis[mark];
    },
  };
};

/**
 * A conversation as lines that are only ever added: a message that changed is added again, and the last one counts.
 * `late` says that the message belongs to a turn that was over before.
 */
class Transcript {
  #marks = new Map();
  #closed = new Set();
  #needsNewline = false;
  isSettled = false;

  constructor(path) {
    this.path = path;
    let text = "";
    try {
      text = readFileSync(path, "utf8");
    } catch {}
    this.#needsNewline = text !== "" && !text.endsWith("\n");
    for (const line of text.split("\n")) this.#recall(line);
    this.close();
  }

  /** What is written from now on belongs to another turn. */
  close() {
    this.#closed = new Set(this.#marks.keys());
  }

  write(info, messages, { whole, complete }) {
    const lines = [];
    const marks = new Map(this.#marks);
    const add = (id, record) => {
      const line = JSON.stringify(AGENT === "opencode" ? record : { agent: AGENT, ...record });
      if (marks.get(id) === line.length + digest(line)) return;
      marks.set(id, line.length + digest(line));
      lines.push(this.#closed.has(id) ? `{"late":true,${line.slice(1)}` : line);
    };
    add("session", sessionRecord(info));
    for (const { info: message, parts } of messages) {
      const isOver = isFinished(message) && !isBegunCompaction(message, parts, messages);
      if (whole || isOver) add(message.id, messageRecord(message, parts));
    }
    const present = new Set(messages.map((message) => message.info.id));
    for (const id of complete ? [...marks.keys()] : []) {
      if (id === "session" || present.has(id)) continue;
      marks.delete(id);
      lines.push(JSON.stringify({ type: "removed", id }));
    }
    this.isSettled = isFinished(messages.at(-1)?.info) && messages.at(-1)?.info.role === "assistant";
    if (lines.length > 0) this.#append(`${lines.join("\n")}\n`);
    this.#marks = marks;
  }

  #append(text) {
    mkdirSync(dirname(this.path), { recursive: true });
    const missing = this.#needsNewline ? "\n" : "";
    // A line that is broken off in the middle must not spoil the next one.
    this.#needsNewline = true;
    appendFileSync(this.path, missing + text, { mode: 0o600 });
    this.#needsNewline = false;
  }

  #recall(line) {
    try {
      const { late: _, ...record } = JSON.parse(line);
      const text = JSON.stringify(record);
      if (record.type === "removed") this.#marks.delete(record.id);
      else this.#marks.set(record.type === "session" ? "session" : record.info.id, text.length + digest(text));
    } catch {}
  }
}

/** Without what changes with every message. */
function sessionRecord(info) {
  const kept = Object.entries(info).filter(([key]) => !CHANGING.includes(key));
  return { type: "session", info: { ...Object.fromEntries(kept), time: { created: info.time?.created } } };
}

/** Without a turn's changes, which are worked out again and again and are Backtrail's own business. */
function messageRecord(info, parts) {
  const { summary, ...rest } = info;
  return { type: "message", info: summary === true ? info : rest, parts };
}

function isFinished(message) {
  return message !== undefined && (message.role !== "assistant" || Boolean(message.time?.completed || message.error));
}

/** It stands in the conversation before there is a summary, and would be carried out again. */
function isBegunCompaction({ id }, parts, messages) {
  if (!parts.some((part) => part.type === "compaction")) return false;
  return !messages.some(({ info }) => info.parentID === id && isFinished(info));
}

function subagentOf({ id, info, transcript }) {
  return { id, agent: info.agent, title: info.title, transcript: transcript.path };
}

function takeTask(root, prompt) {
  const at = root?.tasks.findIndex((task) => task.prompt === prompt) ?? -1;
  return at < 0 ? undefined : root.tasks.splice(at, 1)[0];
}

function textOf(parts) {
  const texts = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic);
  return texts.map((part) => part.text).join("\n");
}

function digest(text) {
  return createHash("sha256").update(text).digest("base64");
}

function within(ms, promise) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    promise.then((value) => {
      clearTimeout(timer);
      done(value);
    });
  });
}

/** Calls Backtrail; what it prints, or nothing where it can't be called. */
function run(command, cwd, payload) {
  return new Promise((done) => {
    const env = { ...process.env, OPENCODE_PID: String(process.pid) };
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
    child.stdin.end(JSON.stringify(AGENT === "opencode" ? payload : { ...payload, agent: AGENT }));
  });
}

/** Backtrail's store for a directory: beside git's own, or for a folder without git among the user's data. */
function storeFor(directory) {
  try {
    for (let at = realpathSync(directory); ; at = dirname(at)) {
      const common = gitDirectory(at) ?? privateDirectory(at);
      if (common !== null) return existsSync(join(common, "backtrail/store.json")) ? join(common, "backtrail") : null;
      if (dirname(at) === at) return null;
    }
  } catch {
    return null;
  }
}

function gitDirectory(directory) {
  const git = join(directory, ".git");
  const kind = statSync(git, { throwIfNoEntry: false });
  if (!kind) return null;
  const own = kind.isDirectory()
    ? git
    : resolve(
        directory,
        readFileSync(git, "utf8")
          .replace(/^gitdir: /, "")
          .trim(),
      );
  return existsSync(join(own, "HEAD")) ? sharedBy(own) : null;
}

/** A worktree shares the repository's, and the fork of a folder that folder's. */
function sharedBy(own) {
  const common = join(own, "commondir");
  return existsSync(common) ? resolve(own, readFileSync(common, "utf8").trim()) : own;
}

function privateDirectory(directory) {
  const { BACKTRAIL_HOME: moved, XDG_DATA_HOME: xdg } = process.env;
  const data = xdg && isAbsolute(xdg) ? xdg : join(process.env.HOME || homedir(), ".local/share");
  const key = createHash("sha256").update(directory).digest("hex").slice(0, 20);
  const path = join(moved ? join(moved, "data") : join(data, "backtrail"), "folders", `${key}.git`);
  return existsSync(join(path, "HEAD")) ? sharedBy(path) : null;
}
