/** Payloads that no agent should send. The hook answers as always, and records what it can. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harmless, Recording } from "../support/recording.ts";

const NOT_JSON: [name: string, input: string | Uint8Array][] = [
  ["nothing", ""],
  ["white space", " \n\t "],
  ["a torn object", '{"session_id": "abc", "cwd": '],
  ["an array", '[{"session_id":"abc"}]'],
  ["a string", '"stop"'],
  ["null", "null"],
  ["two objects", "{}{}"],
  ["bytes that are no text", Uint8Array.from([0x7b, 0xff, 0xfe, 0x00, 0x80, 0x7d])],
  ["a nest without end", '{"a":'.repeat(200_000)],
];

test.each(NOT_JSON)("%s as payload: the turn is saved all the same, and the log says why", async (_name, input) => {
  using recording = await Recording.begin();
  await recording.prompt("write it");
  recording.repository.write("a.txt", "written\n");
  harmless(await recording.hook("Stop", {}, { input }));

  const [last] = await recording.steps();
  expect(last).toMatchObject({ kind: "turn-end", turn: 1, prompt: "write it", files: { added: ["a.txt"] } });
  expect(recording.logged().at(-1)?.message).toContain("not a JSON object");
  expect(recording.leftovers()).toEqual([]);
});

test("BACKTRAIL_DEBUG=1 puts the reason on stderr, and the hook still exits with 0", async () => {
  using recording = await Recording.begin();
  const debug = { env: { BACKTRAIL_DEBUG: "1" } };
  const torn = await recording.hook("Stop", {}, { input: "{not", ...debug });
  expect([torn.code, torn.stdout]).toEqual([0, ""]);
  expect(torn.stderr).toContain("Payload is not a JSON object (4 characters).");
  const unknown = await recording.hook("Surprise", {}, debug);
  expect([unknown.code, unknown.stderr]).toEqual([0, expect.stringContaining("Ignored event")]);
});

test("values of the wrong type count as absent", async () => {
  using recording = await Recording.begin();
  const wrong = { session_id: 7, cwd: ["x"], transcript_path: { a: 1 }, prompt: false, model: null, agent_id: {} };
  harmless(await recording.hook("UserPromptSubmit", wrong));
  recording.repository.write("a.txt", "written\n");
  harmless(await recording.hook("Stop", { ...wrong, last_assistant_message: [1, 2] }));
  const steps = await recording.steps();
  expect(steps.map(({ kind, session }) => [kind, session])).toEqual([
    ["turn-end", recording.session],
    ["turn-start", recording.session],
  ]);
});

test("an unknown event is acknowledged and only logged", async () => {
  using recording = await Recording.begin();
  harmless(await recording.hook("PhaseOfTheMoon", { phase: "full" }));
  expect(await recording.steps()).toEqual([]);
  expect(recording.logged().at(-1)?.message).toContain("PhaseOfTheMoon");
});

test("an unknown agent is recorded, code only", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  for (const agent of ["somebody-new", "../../etc/passwd", "__proto__", "a\nb", "x".repeat(100_000)]) {
    const run = (verb: string, event: string) =>
      repository.hook(
        agent,
        verb,
        { session_id: `of ${agent.slice(0, 20)}`, cwd: repository.path, hook_event_name: event },
        {
          env: { BACKTRAIL_WORKER: "off" },
        },
      );
    harmless(await run("turn-start", "UserPromptSubmit"));
    harmless(await run("stop", "Stop"));
  }
  const steps = await recording.steps();
  expect(new Set(steps.map((step) => step.session)).size).toBe(5);
  expect(steps.every((step) => !step.hasTranscript)).toBe(true);
});

test("ids never become paths, refs or lines", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const before = readdirSync(repository.home, { recursive: true });
  const ids = [
    "../../../escape",
    "/etc/cron.d/escape",
    "a/b/c",
    "..",
    ".",
    "line\nbreak",
    "nul\u0000byte",
    "\u001b[2J\u202eesrever",
    "refs/heads/main",
    "x".repeat(100_000),
    "\ud800",
    "__proto__",
  ];
  for (const [i, id] of ids.entries()) {
    const fields = { session_id: id, transcript_path: "/nowhere", prompt_id: id };
    harmless(await recording.hook("UserPromptSubmit", { ...fields, prompt: `turn ${i}` }));
    repository.write("a.txt", `${i}\n`);
    const tool = { tool_name: "Bash", tool_input: { command: "rm a.txt" }, tool_use_id: id };
    harmless(await recording.hook("PreToolUse", { ...fields, ...tool }));
    harmless(await recording.hook("SubagentStop", { ...fields, agent_id: id, agent_transcript_path: id }));
    harmless(await recording.hook("Stop", fields));
  }
  const steps = await recording.steps();
  const ends = steps.filter((step) => step.kind === "turn-end");
  expect(ends.map((step) => step.prompt)).toEqual(ids.map((_, i) => `turn ${i}`).reverse());
  expect(recording.heldSteps().sort()).toEqual(steps.map((step) => step.id).sort());
  expect(readdirSync(repository.home, { recursive: true })).toEqual(before);
  expect(repository.git("for-each-ref", "--format=%(refname)", "refs/heads")).toBe("refs/heads/main");
  expect(repository.git("status", "--porcelain")).toBe("?? a.txt");
  const listed = await repository.run(["log", "--steps"]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a terminal
  expect(listed.stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
});

test("keys that reach for prototypes change nothing", async () => {
  using recording = await Recording.begin();
  const evil =
    '"__proto__":{"polluted":"yes","hook_event_name":"SessionEnd","tool":"x"},"constructor":{"prototype":{"v":2}}';
  const whole = JSON.stringify(recording.payload("UserPromptSubmit", { prompt: "as ever" }));
  harmless(await recording.hook("UserPromptSubmit", {}, { input: `{${evil},${whole.slice(1)}` }));
  harmless(await recording.hook("UserPromptSubmit", {}, { input: `{${evil}}` }));
  harmless(await recording.hook("Stop"));
  const steps = await recording.steps();
  expect(steps.at(-1)).toMatchObject({ kind: "turn-start", prompt: "as ever" });
  expect(steps[0]?.kind).toBe("turn-end");
});

test("a prompt of ten megabytes is shortened in the list", async () => {
  using recording = await Recording.begin();
  const prompt = `begin ${"\u001b[31m<command-name>x ".repeat(500_000)}`;
  harmless(await recording.hook("UserPromptSubmit", { prompt }));
  harmless(await recording.hook("Stop"));
  const steps = await recording.steps();
  expect(steps.map((step) => step.kind)).toEqual(["turn-end", "turn-start"]);
  expect(steps[1]?.prompt?.startsWith("begin <command-name>x")).toBe(true);
  expect(steps[1]?.prompt?.length).toBeLessThan(5_000);
});

test("a payload as the last argument counts where standard input is empty", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const run = (payload: Record<string, unknown>) =>
    repository.run(["hooks", "claude-code", "x", JSON.stringify(payload)], { env: recording.variables() });
  harmless(await run(recording.payload("UserPromptSubmit", { prompt: "by argument" })));
  harmless(await run(recording.payload("Stop")));
  expect((await recording.steps()).map((step) => step.prompt)).toEqual(["by argument", "by argument"]);
});

test("a payload on standard input counts before one in the arguments", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const run = (input: Record<string, unknown>, argument: Record<string, unknown>) =>
    repository.run(["hooks", "claude-code", "x", JSON.stringify(argument)], {
      input: JSON.stringify(input),
      env: recording.variables(),
    });
  const [read, passed] = ["on standard input", "in an argument"].map((prompt) =>
    recording.payload("UserPromptSubmit", { prompt }),
  );
  harmless(await run(read ?? {}, passed ?? {}));
  expect((await recording.steps()).map((step) => step.prompt)).toEqual(["on standard input"]);
});

test("an agent that is called by another name is known by its transcript", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const header = { sessionId: "s-1", projectHash: "h", startTime: "2026-01-05T09:00:00.000Z" };
  const message = { id: "m1", timestamp: "2026-01-05T09:00:01.000Z", type: "user", content: "Hello" };
  mkdirSync(join(repository.home, ".gemini/tmp/x/chats"), { recursive: true });
  const transcript = join(repository.home, ".gemini/tmp/x/chats/session-1.jsonl");
  writeFileSync(transcript, `${JSON.stringify(header)}\n${JSON.stringify(message)}\n`);
  const payload = {
    session: "none",
    id: "s-1",
    cwd: repository.path,
    session_id: "s-1",
    hook_event_name: "AfterAgent",
  };
  const run = (more: object) =>
    repository.hook("wrapper", "stop", { ...payload, ...more }, { env: { BACKTRAIL_WORKER: "off" } });
  harmless(await run({ transcript_path: transcript }));
  expect((await recording.steps()).map((step) => step.agent)).toEqual(["gemini"]);
});

test("outside of an enabled repository, no event has an effect", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const other = repository.home;
  const env = { CLAUDE_PROJECT_DIR: other };
  for (const input of ["", "{", JSON.stringify(recording.payload("Stop", { cwd: other }))]) {
    harmless(await recording.hook("Stop", {}, { input, env, cwd: other }));
  }
  expect(await recording.steps()).toEqual([]);
  expect(recording.logged()).toEqual([]);
});
