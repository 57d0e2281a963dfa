/** Runs, recorded sessions and subagents as one tree: listed, filtered, searched, shown, compared, gone back in. */
import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { hooked, hookedAgent } from "../support/hooked.ts";
import { executable } from "../support/index.ts";
import { Recording } from "../support/recording.ts";
import { StandIn } from "../support/stand-in.ts";

interface Listed {
  id: string;
  agent: string;
  status: string;
  parent: string | null;
  prompt: string;
  tags: string[];
  turns: number;
  steps: number;
  tokens: { input: number } | null;
  cost: { usd: number; estimated: boolean } | null;
  log: string | null;
  recorded: boolean;
  tasks: { type: string; description: string; ended: boolean }[];
  children: string[];
  match?: { where: string; excerpt: string };
}

async function listed(world: { repository: StandIn["repository"] }, ...args: string[]): Promise<Listed[]> {
  const result = await world.repository.run(["sessions", "--json", ...args]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return (JSON.parse(result.stdout) as { sessions: Listed[] }).sessions;
}

/** The agent starts another run itself, from a shell of its own. */
const NESTING = `case "$asked" in
*nested*) '${executable()}' run "what it started" --tag kid >/dev/null;;
esac`;

test("a run in an enabled repository is one session, and what it starts is its child, in the log and in the record", async () => {
  using world = new StandIn();
  await hooked(world, NESTING);
  expect(await world.run(["something nested", "--tag", "top", "--tag", "night"])).toMatchObject({
    code: 0,
    stderr: "",
  });
  const [parent, child, ...others] = await listed(world);
  expect(others).toEqual([]);
  expect(parent).toMatchObject({
    agent: "claude-code",
    status: "completed",
    parent: null,
    prompt: "something nested",
    tags: ["top", "night"],
    turns: 1,
    recorded: true,
    tokens: { input: 10, output: 5 },
    cost: { usd: 0.25, estimated: false },
    children: [child?.id],
  });
  expect(parent?.steps).toBeGreaterThan(1);
  expect(child).toMatchObject({ parent: parent?.id, prompt: "what it started", tags: ["kid"], recorded: true });
  expect(child?.log).toContain(`/${parent?.id}/${child?.id}.jsonl`);
  // The record says the same as the log.
  const status = JSON.parse((await world.repository.run(["status", "--json"])).stdout) as { sessions: Listed[] };
  expect(status.sessions.find(({ id }) => id === child?.id)?.parent).toBe(parent?.id as string);
  expect(world.log(`${parent?.id}/${child?.id}`)[1]).toEqual({ type: "aiwr_meta", parent_id: parent?.id });

  const text = (await world.repository.run(["sessions"])).stdout.split("\n");
  expect(text[0]).toMatch(
    /^[0-9a-f-]{8,} {2}just now {2}claude-code {2}completed {2}run, 1 turn, \d steps {2}\$0\.25 {2}#top {2}#night$/,
  );
  expect(text[1]).toBe("  something nested");
  expect(text[2]).toMatch(
    /^ {2}└─ [0-9a-f-]{8,} {2}just now {2}claude-code {2}completed {2}run, 1 turn, \d steps {2}\$0\.25 {2}#kid$/,
  );
  expect(text[3]).toBe("       what it started");

  // Its turns are steps like any others, by the session's id as well.
  const id = parent?.id ?? "";
  const log = await world.repository.run(["log", "--session", id.slice(0, 9)]);
  expect(log.stdout).toContain("something nested");
  expect(log.stdout).toMatch(/ {2}@1 .* run$/m);
  const shown = await world.repository.run(["show", id]);
  expect(shown.stdout).toContain("run       completed, #top, #night");
  world.repository.write("notes.txt", "all wrong\n");
  const rewound = await world.repository.run(["rewind", id.slice(0, 12), "--code-only", "--yes"]);
  expect(rewound.code).toBe(0);
  expect(world.repository.read("notes.txt")).toBe("what it started\nsomething nested\n");
  const diff = await world.repository.run(["diff", id, "--stat"]);
  expect(diff).toMatchObject({ code: 0 });
});

test("a child started before the log has its session's name waits for the name", async () => {
  using world = new StandIn();
  await hooked(world);
  // The hooks have told the session; its line in the stream comes while the child is looking for its parent.
  const early = hookedAgent().replace(
    'init "$id"',
    `case "$asked" in *nested*) '${executable()}' run "what it started" >/dev/null & sleep 0.3;; esac\ninit "$id"; wait`,
  );
  world.agent("claude", early);
  expect((await world.run(["something nested"])).code).toBe(0);
  const [parent, child] = await listed(world);
  expect(child).toMatchObject({ prompt: "what it started", parent: parent?.id });
  expect(child?.log).toContain(`/${parent?.id}/${child?.id}.jsonl`);
});

test("continued, a session counts its turns and what they took together", async () => {
  using world = new StandIn();
  await hooked(world);
  await world.run(["one", "--tag", "a"]);
  const [first] = await listed(world);
  await world.run(["two", "--session", first?.id ?? "", "--tag", "b"]);
  const sessions = await listed(world);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({
    prompt: "one",
    turns: 2,
    cost: { usd: 0.5 },
    tokens: { input: 20 },
    tags: ["a", "b"],
  });
  const whole = await world.repository.run(["sessions", "show", first?.id.slice(0, 8) ?? ""]);
  expect(whole.stdout).toContain("Prompt 2\n  two\n");
  expect(whole.stdout).toContain("Result 2\n  Did: two\n");
  // A run's turn is taken back like any other.
  expect((await world.repository.run(["undo", "last", "--yes"])).code).toBe(0);
  expect(world.repository.read("notes.txt")).toBe("one\n");
});

test("sessions are chosen by agent, status, tag and time, and found by their words", async () => {
  using world = new StandIn();
  world.agent(
    "claude",
    `case "$*" in
*fail*) init failed-1; printf '{"type":"result","subtype":"error","is_error":true,"result":"The model is down"}\\n'; exit 1;;
esac
init good-1; done_ "Everything is well"`,
  );
  world.agent(
    "gemini",
    `printf '%s\\n' '{"type":"init","session_id":"gem-1"}' '{"type":"message","role":"assistant","content":"Spread over pie","delta":true}' '{"type":"message","role":"assistant","content":"ces","delta":true}' '{"type":"result","status":"success"}'`,
  );
  await world.run(["--tag", "nightly", "--tag", "ui", "do well"]);
  await world.run(["please fail", "--tag", "nightly"]);
  await world.run(["the other one", "--agent", "gemini"]);
  const ids = async (...args: string[]) => (await listed(world, ...args)).map(({ id }) => id).sort();
  expect(await ids()).toEqual(["failed-1", "gem-1", "good-1"]);
  expect(await ids("--agent", "claude")).toEqual(["failed-1", "good-1"]);
  expect(await ids("--agent", "gemini", "claude-code")).toEqual(["failed-1", "gem-1", "good-1"]);
  expect(await ids("--status", "failed")).toEqual(["failed-1"]);
  expect(await ids("--status", "failed", "completed", "--agent", "gemini")).toEqual(["gem-1"]);
  expect(await ids("--tag", "nightly")).toEqual(["failed-1", "good-1"]);
  expect(await ids("--tag", "nightly", "ui")).toEqual(["good-1"]);
  expect(await ids("--since", "1h")).toHaveLength(3);
  expect(await ids("--since", "2999-01-01")).toEqual([]);
  expect(await ids("--until", "yesterday")).toEqual([]);
  expect(await ids("--search", "PLEASE f")).toEqual(["failed-1"]);
  expect(await ids("--search", "is well")).toEqual(["good-1"]);
  expect(await ids("--search", "over pieces")).toEqual(["gem-1"]);
  expect(await ids("--search", "nobody said that")).toEqual([]);
  const [hit] = await listed(world, "--search", "everything");
  expect(hit?.match).toEqual({ where: "result", excerpt: "Everything is well" });
  const text = await world.repository.run(["sessions", "--search", "everything"]);
  expect(text.stdout).toContain("  result: Everything is well\n");

  const wrong = await world.repository.run(["sessions", "--status", "lost"]);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain('"lost" is not a status.');
  expect((await world.repository.run(["sessions", "--since", "soon"])).code).toBe(2);
  expect((await world.repository.run(["sessions", "show", "nope"])).code).toBe(3);
  // Nothing is recorded here, so there is no step; but the run can be shown.
  expect((await world.repository.run(["sessions", "show", "good"])).stdout).toContain("Result\n  Everything is well\n");
});

test("two attempts side by side", async () => {
  using world = new StandIn();
  await hooked(world, 'printf x > "file-$asked.txt"');
  await world.run(["red"]);
  await world.run(["blue"]);
  const [blue, red] = await listed(world);
  const diff = await world.repository.run(["sessions", "diff", red?.id ?? "", blue?.id ?? ""]);
  expect(diff.code).toBe(0);
  expect(diff.stdout).toMatch(/^prompt 1 {2}red {32,}blue$/m);
  expect(diff.stdout).toMatch(/^result 1 {2}Did: red {27,}Did: blue$/m);
  expect(diff.stdout).toMatch(/^cost +\$0\.25 +\$0\.25$/m);
  expect(diff.stdout).toContain("Files that both changed\n  notes.txt\n");
  const json = JSON.parse(
    (await world.repository.run(["sessions", "diff", red?.id ?? "", blue?.id ?? "", "--json"])).stdout,
  ) as { files: unknown; one: { session: Listed } };
  expect(json.files).toEqual({ both: ["notes.txt"], one: ["file-red.txt"], other: ["file-blue.txt"] });
  expect(json.one.session.id).toBe(red?.id as string);
});

test("subagents stand below their session, and an agent that an agent started is its child", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.hook("SessionStart");
  await recording.hook("UserPromptSubmit", { prompt: "use a helper" });
  await recording.hook("SubagentStop", { agent_id: "a1", agent_type: "Explore" });
  await recording.hook("Stop");
  const inner = randomUUID();
  // Started by hand in the outer agent's shell, which has our variable.
  for (const [verb, event] of [
    ["session-start", "SessionStart"],
    ["user-prompt-submit", "UserPromptSubmit"],
    ["stop", "Stop"],
  ] as const) {
    await repository.run(["hooks", "claude-code", verb], {
      input: JSON.stringify({ session_id: inner, cwd: repository.path, hook_event_name: event, prompt: "inside" }),
      env: { BACKTRAIL_SESSION_ID: recording.session },
    });
  }
  const sessions = await listed({ repository });
  expect(sessions.find(({ id }) => id === inner)?.parent).toBe(recording.session);
  const outer = sessions.find(({ id }) => id === recording.session);
  expect(outer).toMatchObject({ parent: null, children: [inner], log: null });
  // Continued from within the other one, it is still nobody's child.
  await repository.run(["hooks", "claude-code", "session-start"], {
    input: JSON.stringify(recording.payload("SessionStart", { source: "resume" })),
    env: { BACKTRAIL_SESSION_ID: inner },
  });
  expect((await listed({ repository })).find(({ id }) => id === recording.session)?.parent).toBeNull();
  expect(outer?.tasks).toEqual([expect.objectContaining({ id: "a1", type: "Explore", ended: true })]);
  const text = (await repository.run(["sessions"])).stdout;
  expect(text).toContain("  ├─ Explore\n");
  expect(text).toContain("       inside\n");
});

test("what agents call themselves and say can't reach the terminal, and loops end", async () => {
  using world = new StandIn();
  const day = "2024-12-22";
  const evil = "\u001b]0;owned\u0007\u001b[31m red \u202e";
  const start = (prompt: string) =>
    `${JSON.stringify({ type: "aiwr_start", prompt, agent: `cl\u001b[2Jaude`, model: null })}\n`;
  const child = (of: string) => `${JSON.stringify({ type: "aiwr_meta", parent_id: of })}\n`;
  const tags = `${JSON.stringify({ type: "aiwr_tags", tags: ["\u001b[31mtag", 7] })}\n`;
  world.repository.write(`.aiwr/logs/${day}/aaaa.jsonl`, start(evil) + child("bbbb") + tags);
  world.repository.write(`.aiwr/logs/${day}/bbbb.jsonl`, start("b") + child("aaaa"));
  world.repository.write(`.aiwr/logs/${day}/cccc.jsonl`, "\u0000\u0001 no json\n");
  world.repository.write(
    ".aiwr/logs/.index.jsonl",
    `{"v":1,"log":"cccc","agent":"claude","prompt":"x","parent":"cccc","at":1e300,"status":"over","ended":"no","tokens":[1],"tags":"x"}\n{"v":1,"log":"`,
  );
  for (const args of [["sessions"], ["sessions", "show", "aaaa"], ["sessions", "diff", "aaaa", "bbbb"]]) {
    const result = await world.repository.run(args);
    expect(result.code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(result.stdout + result.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
  expect((await listed(world)).map(({ id }) => id).sort()).toEqual(["aaaa", "bbbb", "cccc"]);
});
