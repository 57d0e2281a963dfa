/** The plugin itself, loaded as OpenCode loads it, with an OpenCode and a Backtrail that only write down. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, findWorkspace } from "../../../src/git/workspace.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/index.ts";
import { hookFile, type RecordedLine } from "./recorded.ts";

interface Message {
  info: Record<string, unknown> & { id: string };
  parts: Record<string, unknown>[];
}

interface Hooks {
  "chat.message"(input: object, output: object): Promise<void>;
  "tool.execute.before"(input: object, output: object): Promise<void>;
  "tool.execute.after"(input: object, output: object): Promise<void>;
  "experimental.session.compacting"(input: object): Promise<void>;
  event(input: { event: { type: string; properties: object } }): Promise<void>;
  dispose(): Promise<void>;
}

let place: TemporaryDirectory;
let home: string;
let project: string;
let sessions: Record<string, { info: Record<string, unknown>; messages: Message[] }>;
let loaded = 0;

beforeEach(() => {
  place = temporaryDirectory();
  home = place.path;
  project = join(home, "project");
  place.write("project/.git/HEAD", "ref: refs/heads/main\n");
  place.write("project/.git/backtrail/store.json", "{}");
  mkdirSync(join(home, "told"));
  sessions = { ses_a: { info: { id: "ses_a", title: "A", time: { created: 1, updated: 2 }, cost: 3 }, messages: [] } };
});
afterEach(() => place.remove());

/** The last of them to be called; each is told apart by its number. */
const RECORD = "n=$(ls told | wc -l); cat > told/$(printf %03d $n).json";

async function load(command: (verb: string) => string = () => `cd ${home}; ${RECORD}`): Promise<Hooks> {
  const path = place.write(`plugin-${loaded++}.mjs`, hookFile.content(command));
  const module = (await import(path)) as Record<string, unknown>;
  expect(Object.keys(module)).toEqual(["Backtrail"]);
  const client = {
    session: {
      get: async ({ path: { id } }: { path: { id: string } }) => ({ data: sessions[id]?.info }),
      messages: async ({ path: { id }, query }: { path: { id: string }; query?: { limit: number } }) => ({
        data: structuredClone(sessions[id]?.messages.slice(-(query?.limit ?? 1000))),
      }),
    },
  };
  return await (module["Backtrail"] as (input: object) => Promise<Hooks>)({ client, directory: project });
}

function told(): Record<string, unknown>[] {
  const names = place.names("told");
  return names.map((name) => JSON.parse(place.read(`told/${name}`)) as Record<string, unknown>);
}

function written(id = "ses_a"): RecordedLine[] {
  const text = place.read(`project/.git/backtrail/opencode/${id}.jsonl`);
  return text.split("\n").flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line)] : []));
}

function user(id: string, text: string): Message {
  return { info: { id, role: "user", summary: { diffs: [] } }, parts: [{ type: "text", text }] };
}

function answer(id: string, text: string, more: object = { time: { completed: 1 } }): Message {
  return { info: { id, role: "assistant", ...more }, parts: [{ type: "text", text }] };
}

/** As OpenCode does it: the prompt is stored only after the plugin has heard of it. */
async function ask(hooks: Hooks, text: string, session = "ses_a"): Promise<Message[]> {
  const messages = sessions[session]?.messages ?? [];
  const message = user(`msg_${messages.length}`, text);
  await hooks["chat.message"]({ sessionID: session }, { message: message.info, parts: message.parts });
  messages.push(message);
  return messages;
}

function happens(hooks: Hooks, type: string, sessionID = "ses_a", more: object = {}): Promise<void> {
  return hooks.event({ event: { type, properties: { sessionID, ...more } } });
}

test("turns are reported one after the other, and a turn's end once", async () => {
  const hooks = await load();
  (await ask(hooks, "One")).push(answer("msg_1", "Yes"));
  void happens(hooks, "session.idle");
  void happens(hooks, "session.idle");
  await ask(hooks, "Two");
  await hooks.dispose();
  expect(told().map(({ event, prompt }) => [event, prompt])).toEqual([
    ["session.created", undefined],
    ["chat.message", "One"],
    ["session.idle", undefined],
    ["chat.message", "Two"],
    ["dispose", undefined],
  ]);
  expect(told()[0]).toMatchObject({ sessionID: "ses_a", directory: project, source: "new" });
});

test("a turn ends once, by its status or by its event, whichever comes first", async () => {
  const hooks = await load();
  const becomes = (type: string) => happens(hooks, "session.status", "ses_a", { status: { type } });
  const ends = () => told().filter(({ event }) => event === "session.idle").length;
  (await ask(hooks, "One")).push(answer("msg_1", "Yes"));
  await becomes("busy");
  expect(ends()).toBe(0);
  await becomes("idle");
  expect(ends()).toBe(1);
  await happens(hooks, "session.idle");
  (await ask(hooks, "Two")).push(answer("msg_3", "Yes"));
  await happens(hooks, "session.idle");
  await becomes("idle");
  expect(ends()).toBe(2);
});

test("a message is written once, before its turn's end is reported, without volatile fields", async () => {
  const hooks = await load();
  (await ask(hooks, "One")).push(answer("msg_1", "Yes"));
  await happens(hooks, "session.idle");
  const info = sessions["ses_a"]?.info;
  Object.assign(info ?? {}, { cost: 9, time: { created: 1, updated: 9 } });
  Object.assign(sessions["ses_a"]?.messages[0]?.info ?? {}, { summary: { diffs: ["changed"] } });
  await ask(hooks, "Two");
  expect(written().map(({ type, info }) => [type, info.id])).toEqual([
    ["session", "ses_a"],
    ["message", "msg_0"],
    ["message", "msg_1"],
  ]);
  expect(written()[0]?.info).toEqual({ id: "ses_a", title: "A", time: { created: 1 } });
});

test("the end of a turn waits for the last words", async () => {
  const hooks = await load();
  const messages = await ask(hooks, "One");
  messages.push(answer("msg_1", "Y", { time: {} }));
  setTimeout(
    () => messages.splice(1, 1, answer("msg_1", "Yes", { time: {}, error: { name: "MessageAbortedError" } })),
    60,
  );
  await happens(hooks, "session.error", "ses_a", { error: { name: "MessageAbortedError" } });
  await happens(hooks, "session.idle");
  expect(told().at(-1)).toMatchObject({ event: "session.idle", error: "MessageAbortedError" });
  expect(written().at(-1)?.parts?.[0]).toMatchObject({ text: "Yes" });
  expect(written().some((line) => line.late)).toBe(false);
});

test("a message that changes after its turn is written again as late, and a removed message is removed", async () => {
  const first = await load();
  (await ask(first, "One")).push(answer("msg_1", "Yes"));
  await happens(first, "session.idle");
  await first.dispose();
  appendFileSync(join(project, ".git/backtrail/opencode/ses_a.jsonl"), '{"type":"mess');
  // Another process, after the messages were changed.
  sessions["ses_a"]?.messages.splice(0, 2, answer("msg_1", "No"));
  const second = await load();
  await ask(second, "Two");
  expect(written().slice(3)).toMatchObject([
    { late: true, type: "message", info: { id: "msg_1" } },
    { type: "removed", id: "msg_0" },
  ]);
  expect(
    told()
      .filter(({ event }) => event === "session.created")
      .map(({ source }) => source),
  ).toEqual(["new", "resume"]);
  await second.dispose();
});

test("commands are reported before they run, other tools when they are done, reading never", async () => {
  const hooks = await load();
  await ask(hooks, "One");
  const call = { sessionID: "ses_a", callID: "c" };
  await hooks["tool.execute.before"]({ ...call, tool: "bash" }, { args: { command: "rm x" } });
  await hooks["tool.execute.before"]({ ...call, tool: "write" }, { args: { filePath: "/x", content: "long" } });
  await hooks["tool.execute.after"]({ ...call, tool: "write", args: { filePath: "/x", content: "long" } }, {});
  const files = [{ filePath: "/y", movePath: "/z" }];
  await hooks["tool.execute.after"]({ ...call, tool: "apply_patch", args: {} }, { metadata: { files } });
  await hooks["tool.execute.after"]({ ...call, tool: "read", args: { filePath: "/x" } }, {});
  expect(
    told()
      .slice(2)
      .map(({ event, tool }) => [event, tool]),
  ).toEqual([
    ["tool.execute.before", { name: "bash", callID: "c", paths: [], input: { command: "rm x" } }],
    ["tool.execute.after", { name: "write", callID: "c", paths: ["/x"], input: {} }],
    ["tool.execute.after", { name: "apply_patch", callID: "c", paths: ["/y", "/z"], input: {} }],
  ]);
});

test("a subagent belongs to the session at the top, and to the tool use that started it", async () => {
  const hooks = await load();
  await ask(hooks, "One");
  const call = { sessionID: "ses_a", callID: "c7", tool: "task" };
  await hooks["tool.execute.before"](call, { args: { prompt: "Dig", description: "d", subagent_type: "general" } });
  sessions["ses_b"] = { info: { id: "ses_b", parentID: "ses_a", agent: "general", title: "Digger" }, messages: [] };
  sessions["ses_c"] = { info: { id: "ses_c", parentID: "ses_b", agent: "explore", title: "Below" }, messages: [] };
  (await ask(hooks, "Dig", "ses_b")).push(answer("msg_1", "Dug"));
  await ask(hooks, "Deeper", "ses_c");
  void happens(hooks, "session.idle", "ses_b");
  await hooks["tool.execute.after"]({ ...call, args: {} }, {});
  const transcript = join(project, ".git/backtrail/opencode/ses_b.jsonl");
  const digger = { id: "ses_b", agent: "general", title: "Digger", transcript };
  expect(told().slice(3)).toMatchObject([
    { event: "subagent.message", sessionID: "ses_a", subagent: { ...digger, prompt: "Dig", callID: "c7" } },
    { event: "subagent.message", sessionID: "ses_a", subagent: { id: "ses_c", prompt: "Deeper" } },
    { event: "subagent.idle", sessionID: "ses_a", subagent: digger },
    { event: "tool.execute.after", sessionID: "ses_a" },
  ]);
  expect(written("ses_b").at(-1)?.info.id).toBe("msg_1");
});

test("a compaction is reported with the conversation before it, not when it is requested", async () => {
  const hooks = await load();
  const messages = await ask(hooks, "One");
  messages.push(answer("msg_1", "Yes"));
  await happens(hooks, "session.idle");
  messages.push({ info: { id: "msg_2", role: "user" }, parts: [{ type: "compaction" }] });
  await hooks["experimental.session.compacting"]({ sessionID: "ses_a" });
  await happens(hooks, "session.idle");
  expect(told().at(-1)?.["event"]).toBe("experimental.session.compacting");
  expect(written().at(-1)?.info.id).toBe("msg_1");
  messages.push(answer("msg_3", "In short", { parentID: "msg_2", summary: true, time: { completed: 1 } }));
  await ask(hooks, "Two");
  expect(
    written()
      .slice(-2)
      .map(({ info }) => info.id),
  ).toEqual(["msg_2", "msg_3"]);
});

test("a deleted session is reported once", async () => {
  const hooks = await load();
  await ask(hooks, "One");
  await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "ses_a" } } } });
  await hooks.dispose();
  expect(
    told()
      .slice(2)
      .map(({ event }) => event),
  ).toEqual(["session.deleted"]);
});

test("where Backtrail isn't enabled, nothing is reported or written", async () => {
  rmSync(join(project, ".git/backtrail/store.json"));
  const hooks = await load();
  await ask(hooks, "One");
  await happens(hooks, "session.idle");
  await hooks.dispose();
  expect(told()).toEqual([]);
  expect(place.names("project/.git/backtrail")).toEqual([]);
});

test("a linked work tree has its store beside the repository's git directory", async () => {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: home, env: { ...process.env, HOME: home } });
  rmSync(project, { recursive: true });
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  git("init", "-q", "main");
  git("-C", "main", ...identity, "commit", "-q", "--allow-empty", "-m", "x");
  git("-C", "main", "worktree", "add", "-q", project);
  const store = findWorkspace(project)?.storeDir ?? "";
  expect(store).toBe(join(home, "main/.git/backtrail"));
  mkdirSync(store);
  writeFileSync(join(store, "store.json"), "{}");
  await ask(await load(), "One");
  expect(told()[0]?.["transcript"]).toBe(join(store, "opencode/ses_a.jsonl"));
});

test("a folder without git has its store among the user's data", async () => {
  rmSync(join(project, ".git"), { recursive: true });
  const before = process.env["BACKTRAIL_HOME"];
  process.env["BACKTRAIL_HOME"] = join(home, "own");
  try {
    const { storeDir } = await createWorkspace(project);
    mkdirSync(storeDir, { recursive: true });
    writeFileSync(join(storeDir, "store.json"), "{}");
    await ask(await load(), "One");
    expect(told()[0]?.["transcript"]).toBe(join(storeDir, "opencode/ses_a.jsonl"));
  } finally {
    if (before === undefined) delete process.env["BACKTRAIL_HOME"];
    else process.env["BACKTRAIL_HOME"] = before;
  }
});

test("no failure of Backtrail stops OpenCode", async () => {
  for (const command of ["exit 3", "kill -9 $$", "echo '{broken'", "/nowhere/backtrail hooks"]) {
    const hooks = await load(() => command);
    await ask(hooks, "One");
    await happens(hooks, "session.idle");
    await hooks["chat.message"](undefined as unknown as object, {});
    await hooks["tool.execute.after"]({ sessionID: "ses_a", tool: "bash" }, undefined as unknown as object);
    await hooks.event({ event: undefined as unknown as { type: string; properties: object } });
    await hooks.dispose();
  }
  const failing = await load((verb) => `cd ${home}; ${RECORD}; echo '{broken' ${verb}`);
  await ask(failing, "Two");
  await failing.dispose();
  // A directory where the transcript should be.
  rmSync(join(project, ".git/backtrail/opencode"), { recursive: true });
  mkdirSync(join(project, ".git/backtrail/opencode/ses_a.jsonl"), { recursive: true });
  const hooks = await load();
  await ask(hooks, "Three");
  await hooks.dispose();
  expect(told().flatMap(({ prompt }) => prompt ?? [])).toEqual(["Two", "Three"]);
  sessions = {};
  await (await load())["chat.message"]({ sessionID: "../../x" }, { parts: [] });
  expect(place.exists("x.jsonl")).toBe(false);
});

test("loaded from two places it tells everything once", async () => {
  const hooks = [await load(), await load()];
  expect(hooks[1]).toEqual({} as Hooks);
  if (hooks[0]) await ask(hooks[0], "One");
  expect(told()).toHaveLength(2);
});
