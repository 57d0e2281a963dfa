/** Transcripts that are not what they should be: the code is recorded all the same, the conversation where it can be. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { joinSegments, readSegments } from "../../src/steps/conversation/files.ts";
import { harmless, permissionsCount, Recording } from "../support/recording.ts";

/** A turn whose hooks name `path` as the transcript; its steps, newest first. */
async function turnWith(recording: Recording, path: string) {
  harmless(await recording.hook("UserPromptSubmit", { prompt: "write it", transcript_path: path }));
  recording.repository.write("a.txt", "written\n");
  harmless(await recording.hook("Stop", { transcript_path: path, last_assistant_message: "Done." }));
  return recording.steps();
}

const WHOLE_TURN = [
  { kind: "turn-end", prompt: "write it", files: { added: ["a.txt"] }, hasTranscript: false },
  { kind: "turn-start", prompt: "write it", hasTranscript: false },
];

test("a missing one", async () => {
  using recording = await Recording.begin();
  expect(await turnWith(recording, recording.transcript.path)).toMatchObject(WHOLE_TURN);
});

test("a directory in its place", async () => {
  using recording = await Recording.begin();
  mkdirSync(recording.transcript.path, { recursive: true });
  expect(await turnWith(recording, recording.transcript.path)).toMatchObject(WHOLE_TURN);
  expect(recording.logged().at(-1)?.message).toContain("not a regular file");
});

test("a pipe in its place is never waited for", async () => {
  using recording = await Recording.begin();
  mkdirSync(dirname(recording.transcript.path), { recursive: true });
  execFileSync("mkfifo", [recording.transcript.path]);
  expect(await turnWith(recording, recording.transcript.path)).toMatchObject(WHOLE_TURN);
});

test.each(["/dev/zero", "/dev/null", "/proc/self/environ", "/", "", "\u0000", "x".repeat(5_000), "a\nb/../.."])(
  "%p as its path",
  async (path) => {
    using recording = await Recording.begin();
    const steps = await turnWith(recording, path);
    expect(steps.map((step) => step.kind)).toEqual(["turn-end", "turn-start"]);
    expect(steps[0]?.files.added).toEqual(["a.txt"]);
  },
);

test("a relative path counts from the agent's directory", async () => {
  using recording = await Recording.begin();
  recording.transcript.user("before", "p1");
  const steps = await turnWith(recording, relative(recording.repository.path, recording.transcript.path));
  expect(steps.map((step) => step.hasTranscript)).toEqual([true, true]);
});

test.skipIf(!permissionsCount)("an unreadable one", async () => {
  using recording = await Recording.begin();
  recording.transcript.user("write it", "p1");
  chmodSync(recording.transcript.path, 0);
  harmless(await recording.hookOfNobody("UserPromptSubmit", { prompt: "write it" }));
  recording.repository.write("a.txt", "written\n");
  harmless(await recording.hookOfNobody("Stop"));
  expect(await recording.steps()).toMatchObject(WHOLE_TURN);
  expect(recording.logged().at(-1)?.message).toMatch(/EACCES|permission denied/i);
});

test("a last line that is torn waits for the next step, and comes whole", async () => {
  using recording = await Recording.begin();
  const { transcript } = recording;
  await recording.prompt("first");
  const stop = recording.answer("Done with the first.");
  appendFileSync(transcript.path, '{"type":"user","uuid":"torn","mess');
  harmless(await recording.hook("Stop", stop));
  appendFileSync(transcript.path, 'age":{"role":"user","content":"late"}}\n');
  await recording.prompt("second");
  harmless(await recording.hook("Stop", recording.answer("Done with the second.")));
  const steps = await recording.steps();
  expect(steps.map((step) => [step.kind, step.prompt])).toEqual([
    ["turn-end", "second"],
    ["turn-start", "second"],
    ["turn-end", "first"],
    ["turn-start", "first"],
  ]);
  expect(storedTranscript(recording)).toEqual([await Bun.file(transcript.path).text()]);
});

test("lines that are no JSON, or not what they should be, are kept and passed over", async () => {
  using recording = await Recording.begin();
  const { transcript } = recording;
  await recording.prompt("first");
  const rubbish = [
    "not json",
    "\u0000\u0001",
    "null",
    "[]",
    "7",
    '{"type":"assistant","uuid":"u","message":{"content":{"a":1},"usage":"x"}}',
    '{"type":"user","uuid":7,"message":null}',
    '{"__proto__":{"type":"user"},"type":"assistant","uuid":"p","message":{"content":[null,7,{"type":"tool_use"}]}}',
    `${"[".repeat(100_000)}`,
    `{"type":"user","uuid":"long","message":{"content":"${"x".repeat(1_000_000)}"}}`,
    "",
  ];
  appendFileSync(transcript.path, `${rubbish.join("\n")}\n`);
  harmless(await recording.hook("Stop", recording.answer("Done.")));
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", prompt: "first", hasTranscript: true });
  expect(storedTranscript(recording)).toEqual([await Bun.file(transcript.path).text()]);
});

test("one that became shorter starts again, and the stored part stays", async () => {
  using recording = await Recording.begin();
  const { transcript } = recording;
  await recording.prompt("first");
  harmless(await recording.hook("Stop", recording.answer("Done.")));
  const before = await Bun.file(transcript.path).text();
  truncateSync(transcript.path, 0);
  await recording.prompt("second");
  harmless(await recording.hook("Stop", recording.answer("Done again.")));
  expect(storedTranscript(recording)).toEqual([before, await Bun.file(transcript.path).text()]);
});

test("a transcript that moves in the middle of a turn is followed", async () => {
  using recording = await Recording.begin();
  await recording.prompt("first");
  const elsewhere = join(recording.repository.home, "elsewhere.jsonl");
  writeFileSync(elsewhere, '{"type":"user","uuid":"e","message":{"role":"user","content":"there"}}\n');
  harmless(await recording.hook("Stop", { transcript_path: elsewhere }));
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", prompt: "first", hasTranscript: true });
});

/** The conversation as it is stored, one text a generation. */
function storedTranscript({ repository }: Recording): string[] {
  const conversations = repository.at(".git/backtrail/conversations");
  const [key = ""] = readdirSync(conversations);
  const directory = join(conversations, key);
  return readdirSync(join(directory, "transcript"))
    .sort()
    .map((generation) => joinSegments(readSegments(directory, "transcript", Number(generation), 1e9), 1e9).toString());
}
