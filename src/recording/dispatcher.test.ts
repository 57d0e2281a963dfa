import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { deadPid, dispatchingPlace, type ScriptedSession } from "../../test/support/dispatching.ts";
import { ownHome } from "../../test/support/own-process.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import { readTranscript } from "../steps/conversation/transcript.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { saveManually } from "./save.ts";
import { marked, saveSession } from "./session/store.ts";

ownHome();

test("a turn: the state before it, the state after it, its files, its words, its conversation", async () => {
  using made = await dispatchingPlace();
  const { repository, workspace } = made;
  const one = made.session();
  expect((await one.send("SessionStart", { metadata: { source: "startup" } })).notice).toContain("recording");
  await one.begin("Please write it");
  repository.write("new", "x");
  repository.write("README.md", "changed");
  await one.end("Written.");
  const [before, after] = one.steps;
  expect(one.kinds).toEqual(["turn-start", "turn-end"]);
  expect(before).toMatchObject({ turn: 1, prompt: "Please write it", parent: null });
  expect(after).toMatchObject({ turn: 1, parent: before?.id ?? "", response: "Written.", interrupted: false });
  expect(after?.files).toEqual({ added: ["new"], modified: ["README.md"], deleted: [] });
  expect(after?.tokens?.output).toBe(20);
  expect(one.state).toMatchObject({ phase: "IDLE", turn: 1, steps: 2, title: "Please write it", openTurn: null });
  const stored = await readTranscript(workspace, one.key, 0, after?.transcript?.offset ?? 0);
  expect(stored.equals(Buffer.from(await Bun.file(one.transcript.path).bytes()))).toBe(true);
  await one.send("SessionEnd");
  expect(one.state.phase).toBe("ENDED");
  expect(one.kinds).toHaveLength(2);
});

test("events that are reported twice make no second step", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  const one = made.session();
  const twice = async (work: () => Promise<unknown>) => {
    await work();
    await work();
  };
  await twice(() => one.send("SessionStart", { metadata: { source: "startup" } }));
  // Longer than what is kept of a prompt, with what is never kept.
  const prompt = `\u001b[31m${"long ".repeat(2_000)}`;
  await twice(() => one.send("TurnStart", { prompt, metadata: { prompt_id: "p1" } }));
  repository.write("there", "x");
  await twice(() => one.tool("ToolStart", "shell", "rm there", "t1"));
  const task = { id: "a1", type: "worker", description: null, prompt: null, transcriptPath: null, toolUseId: null };
  await twice(() => one.send("SubagentStart", { subagent: task }));
  await twice(() => one.send("SubagentEnd", { subagent: task }));
  await twice(() => one.send("Compaction"));
  one.transcript.assistant([{ type: "text", text: "Done." }]);
  await twice(() => one.send("TurnEnd"));
  await twice(() => one.send("SessionEnd"));
  expect(one.kinds).toEqual(["turn-start", "tool", "task", "task", "tool", "turn-end"]);
  expect(one.state).toMatchObject({ turn: 1, phase: "ENDED" });
});

test("the same words as a new prompt are a new turn", async () => {
  using made = await dispatchingPlace();
  const one = made.session();
  await one.begin("again", { prompt_id: "p1" });
  await one.end();
  await one.begin("again", { prompt_id: "p2" });
  await one.begin("again", { prompt_id: "p3" });
  expect(one.state.turn).toBe(3);
  expect(one.kinds).toEqual(["turn-start", "turn-end", "turn-start", "turn-end", "turn-start"]);
});

test("an open turn is closed by the next prompt, the session's end or its next start", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  for (const [event, interrupted] of [
    ["TurnStart", true],
    ["SessionEnd", false],
    ["SessionStart", true],
  ] as const) {
    const one = made.session();
    await one.begin("first");
    repository.write(event, "x");
    await one.send(event, { prompt: event === "TurnStart" ? "second" : null, metadata: { source: "resume" } });
    expect(one.steps[1]).toMatchObject({ kind: "turn-end", turn: 1, prompt: "first", interrupted });
    expect(one.steps[1]?.files.added).toEqual([event]);
    expect(one.kinds).toHaveLength(event === "TurnStart" ? 3 : 2);
  }
});

test("two sessions that start at once close a killed agent's turn only once", async () => {
  using made = await dispatchingPlace();
  const { repository, workspace } = made;
  const dead = made.session();
  dead.pid = await deadPid();
  await dead.begin("cut off");
  repository.write("half", "x");
  const [two, three] = [made.session(), made.session()];
  await Promise.all([two.begin("two"), three.begin("three")]);
  expect(dead.kinds).toEqual(["turn-start", "turn-end"]);
  expect(dead.steps[1]).toMatchObject({ interrupted: true, turn: 1, files: { added: ["half"] } });
  expect(dead.state).toMatchObject({ phase: "IDLE", openTurn: null });
  expect(marked(workspace, "active").sort()).toEqual([two.key, three.key].sort());
});

test("subagents: their steps hang under the turn's first, with their own words and files", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  const one = made.session();
  await one.begin("Delegate");
  const asked = {
    id: "",
    type: "worker",
    description: "Write b",
    prompt: "Write b now",
    transcriptPath: null,
    toolUseId: null,
  };
  await one.send("ToolStart", {
    tool: { kind: "task", name: "Task", id: "t1", command: null, paths: [] },
    subagent: asked,
  });
  const task = { id: "a1", type: "worker", description: null, prompt: null, transcriptPath: null, toolUseId: null };
  await one.send("SubagentStart", { subagent: task });
  repository.write("b", "x");
  await one.send("ToolEnd", {
    tool: { kind: "todo", name: "TodoWrite", id: "t2", command: null, paths: [] },
    subagent: task,
  });
  await one.send("SubagentEnd", { subagent: task });
  repository.write("c", "x");
  await one.end();
  const [start, begun, progress, ended, end] = one.steps;
  expect(one.steps.map((step) => step.subagent?.when ?? null)).toEqual([null, "start", "progress", "end", null]);
  for (const step of [begun, progress, ended]) {
    expect(step).toMatchObject({ kind: "task", parent: start?.id ?? "", prompt: "Write b now" });
    expect(step?.subagent).toMatchObject({ id: "a1", description: "Write b" });
  }
  expect(ended?.files.added).toEqual(["b"]);
  expect(end?.files.added).toEqual(["b", "c"]);
});

test("a subagent without a start event gets a step when its tool ends", async () => {
  using made = await dispatchingPlace();
  const one = made.session();
  await one.begin("Delegate");
  const tool = { kind: "task" as const, name: "Task", id: "t1", command: null, paths: [] };
  const asked = {
    id: "t1",
    type: "worker",
    description: "Write b",
    prompt: "Write b now",
    transcriptPath: null,
    toolUseId: "t1",
  };
  await one.send("ToolStart", { tool, subagent: asked });
  made.repository.write("b", "x");
  await one.send("ToolEnd", { tool });
  await one.end();
  expect(one.steps.find((step) => step.kind === "task")).toMatchObject({
    prompt: "Write b now",
    toolUseId: "t1",
    subagent: { type: "worker", description: "Write b", when: "end" },
  });
});

test("the description of a subagent that never started is not given to another", async () => {
  using made = await dispatchingPlace();
  const one = made.session();
  await one.begin("first");
  const asked = { id: "", type: "worker", description: "Refused", prompt: "No", transcriptPath: null, toolUseId: null };
  await one.send("ToolStart", {
    tool: { kind: "task", name: "Task", id: "t1", command: null, paths: [] },
    subagent: asked,
  });
  await one.end();
  await one.begin("second");
  await one.send("SubagentStart", { subagent: { ...asked, id: "a1", description: null, prompt: null } });
  expect(one.steps.at(-1)?.subagent).toMatchObject({ id: "a1", description: null });
});

test("a compaction is a step, and a transcript that it rewrote begins a new generation", async () => {
  using made = await dispatchingPlace();
  const one = made.session();
  await one.begin("first");
  await one.send("Compaction");
  expect(one.steps.at(-1)).toMatchObject({ kind: "tool", command: "/compact" });
  rmSync(one.transcript.path);
  one.transcript.user("summary", "p");
  await one.send("SessionStart", { metadata: { source: "compact" } });
  expect(one.state.phase).toBe("ACTIVE");
  await one.end();
  expect(one.steps.map((step) => step.transcript?.generation ?? null)).toEqual([null, 0, 1]);
});

test("a tier without a rule for the end of a turn: the turn is ended all the same", async () => {
  using made = await dispatchingPlace();
  const one = made.session();
  one.tiers = { tools: { rules: [{ on: "ToolEnd", tools: ["write"] }] } };
  one.tier = "tools";
  await one.begin("Write it");
  made.repository.write("new", "x");
  await one.end("Written.");
  expect(one.state).toMatchObject({ phase: "IDLE", openTurn: null });
  expect(one.steps).toMatchObject([{ kind: "turn-end", turn: 1, interrupted: false, prompt: "Write it" }]);
});

test("the minimal tier saves at a session's start and at turn ends, the aggressive tier after every tool", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  const minimal = made.session();
  minimal.tier = "minimal";
  await minimal.send("SessionStart", { metadata: { source: "startup" } });
  await minimal.begin("quietly");
  repository.write("a", "x");
  await minimal.tool("ToolStart", "shell", "rm README.md");
  await minimal.end();
  expect(minimal.kinds).toEqual(["baseline", "turn-end"]);
  expect(minimal.steps[1]?.files.added).toEqual(["a"]);
  const aggressive = made.session();
  aggressive.tier = "aggressive";
  await aggressive.begin("closely");
  repository.write("b", "x");
  await aggressive.tool("ToolEnd", "write");
  await aggressive.tool("ToolEnd", "read");
  await aggressive.end();
  expect(aggressive.kinds).toEqual(["turn-start", "tool", "turn-end"]);
});

test("before a command that destroys, the work is there; before another nothing is taken", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  const one = made.session();
  await one.begin("clean up");
  repository.write("precious", "x");
  await one.tool("ToolStart", "shell", "ls");
  await one.tool("ToolStart", "shell", "rm precious");
  rmSync(repository.at("precious"));
  await one.end();
  expect(one.kinds).toEqual(["turn-start", "tool", "turn-end"]);
  expect(repository.git("show", `${one.steps[1]?.snapshot.work}:precious`)).toBe("x");
  expect(one.steps[2]?.files).toEqual({ added: [], modified: [], deleted: [] });
});

test("two sessions in one work tree: each turn knows what it changed itself", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  const [one, two] = [made.session(), made.session()];
  const wrote = (who: ScriptedSession, name: string) => {
    repository.write(name, "x");
    const id = `toolu_${name}`;
    const input = { file_path: repository.at(name), content: "x" };
    who.transcript.assistant([{ type: "tool_use", id, name: "Write", input }]);
    const result = { type: "create", filePath: repository.at(name), content: "x" };
    who.transcript.user([{ type: "tool_result", tool_use_id: id, content: "ok" }], "p", { toolUseResult: result });
  };
  await one.begin("one");
  await two.begin("two");
  wrote(one, "of-one");
  wrote(two, "of-two");
  await one.end();
  await two.end();
  expect(one.steps[1]?.files.added).toEqual(["of-one"]);
  expect(two.steps[1]?.files.added).toEqual(["of-two"]);
  const third = made.session();
  const { notice } = await third.send("SessionStart", { metadata: { source: "startup" } });
  expect(notice).toContain("Also open in this work tree: claude-code");
});

test("a hook that was killed in the middle is finished by the next one: the turn's end is there once", async () => {
  using made = await dispatchingPlace();
  const { repository, workspace } = made;
  const one = made.session();
  await one.begin("first");
  repository.write("new", "x");
  one.transcript.assistant([{ type: "text", text: "Done." }]);
  const script = repository.write(
    ".git/killed.ts",
    `import { ScriptedSession } from ${JSON.stringify(join(import.meta.dirname, "../../test/support/dispatching.ts"))};
const session = new ScriptedSession(${JSON.stringify({ home: repository.home, path: repository.path })}, ${JSON.stringify(workspace)});
Object.defineProperty(session, "id", { value: ${JSON.stringify(one.id)} });
await session.send("TurnEnd", { transcriptPath: ${JSON.stringify(one.transcript.path)} });`,
  );
  const child = Bun.spawn([process.execPath, script], {
    cwd: repository.path,
    env: repository.environment({ BACKTRAIL_FAULT: "save:journal" }),
    stderr: "inherit",
  });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(one.kinds).toEqual(["turn-start"]);
  await one.begin("second");
  expect(one.kinds).toEqual(["turn-start", "turn-end", "turn-start"]);
  expect(one.steps[1]).toMatchObject({ turn: 1, interrupted: false, files: { added: ["new"] } });
  expect(one.state.turn).toBe(2);
});

test("saves by hand beside a running turn: nothing of either is lost", async () => {
  using made = await dispatchingPlace();
  const { workspace } = made;
  const one = made.session();
  await one.begin("first");
  const saves = ["a", "b", "c"].map((name) => saveManually(workspace, name));
  await Promise.all([...saves, one.end()]);
  expect([...one.kinds].sort()).toEqual(["manual", "manual", "manual", "turn-end", "turn-start"]);
  expect(one.state).toMatchObject({ steps: 5, openTurn: null, phase: "IDLE" });
});

test("a manual save waits for a running hook and continues from its step", async () => {
  using made = await dispatchingPlace();
  const { workspace } = made;
  const one = made.session();
  await one.begin("first");
  const hook = tryAcquire(sessionLock(workspace, one.key));
  const saving = saveManually(workspace, "mine");
  expect(await Promise.race([saving, Bun.sleep(150)])).toBeUndefined();
  saveSession(workspace, { ...one.state, turn: 7, revision: 40 });
  hook?.release();
  expect((await saving).step.turn).toBe(7);
  expect(one.state.revision).toBe(41);
});

test("without a session, a save has no agent and no conversation", async () => {
  using made = await dispatchingPlace();
  const first = await saveManually(made.workspace, "mine");
  const second = await saveManually(made.workspace, null);
  expect(first).toMatchObject({ chat: "unavailable", agent: null, step: { session: null, agent: null, name: "mine" } });
  expect(second.step.parent).toBe(first.step.id);
});

test("a transcript that cannot be read costs the conversation, not the code", async () => {
  using made = await dispatchingPlace();
  const { repository } = made;
  const one = made.session();
  await one.send("TurnStart", { prompt: "p", transcriptPath: repository.path });
  repository.write("new", "x");
  await one.send("TurnEnd", { transcriptPath: repository.path });
  expect(one.steps.map((step) => step.transcript)).toEqual([null, null]);
  expect(one.steps[1]?.files.added).toEqual(["new"]);
});
