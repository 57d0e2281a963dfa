/** Somebody uses an agent that Backtrail has never heard of, and describes it without a line of code. */
import { expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runProgram, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };
const SESSION = "5f0c2b1e-1111-4222-8333-444444444444";

/** What the person changes in the scaffold: this agent has names of its own for everything. */
function describe(profile: Record<string, unknown>): Record<string, unknown> {
  return {
    ...profile,
    display_name: "Fable",
    detection: { min_score: 50, score_rules: [{ score: 60, path_exists: "$.fable" }] },
    hooks: {
      settings: { project: { path: ".fable/settings.json", format: "claude-settings" } },
      install: {
        Begin: { verb: "begin" },
        Asked: { verb: "asked" },
        Answered: { verb: "answered" },
        Bye: { verb: "bye" },
      },
      fields: {
        event: ["$.what"],
        session_id: ["$.fable.session"],
        cwd: ["$.where"],
        transcript_path: ["$.fable.log"],
        prompt: ["$.words"],
      },
      events: { Begin: "SessionStart", Asked: "TurnStart", Answered: "TurnEnd", Bye: "SessionEnd" },
      tools: { scribble: "write", peek: "read" },
    },
    transcript: {
      format: "jsonl",
      directory: ".fable/tales",
      title_prefix: "[Fork] ",
      recognised_by: [["$.tale", "$.kind"]],
      lines: {
        type: ["$.kind"],
        types: { asked: "prompt", told: "answer", did: "tool-use", saw: "tool-result" },
        text: ["$.words"],
        id: ["$.nr"],
        session_id: ["$.tale"],
        model: ["$.teller"],
        tool_name: ["$.deed"],
        tool_use_id: ["$.deed_nr"],
        file_paths: ["$.on"],
        tokens: { input: ["$.cost.heard"], output: ["$.cost.said"] },
      },
      fork: true,
    },
    resume: ["fable", "continue", "{session}"],
  };
}

/** An agent of its own kind: it runs the commands in its settings file and writes its own transcript. */
class Fable {
  #nr = 0;
  readonly repository: TemporaryRepository;
  readonly transcript: string;

  constructor(repository: TemporaryRepository) {
    this.repository = repository;
    this.transcript = join(repository.home, ".fable", "tales", `${SESSION}.jsonl`);
    mkdirSync(dirname(this.transcript), { recursive: true });
  }

  async send(what: string, more: object = {}): Promise<void> {
    const settings = JSON.parse(this.repository.read(".fable/settings.json"));
    const command: string = settings.hooks[what][0].hooks[0].command;
    const result = await runProgram("/bin/sh", ["-c", command], {
      cwd: this.repository.path,
      env: this.repository.environment(env),
      input: JSON.stringify(this.payload(what, more)),
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
  }

  payload(what: string, more: object = {}) {
    return { what, where: this.repository.path, fable: { session: SESSION, log: this.transcript }, ...more };
  }

  write(line: object): void {
    appendFileSync(this.transcript, `${JSON.stringify({ tale: SESSION, nr: `n${++this.#nr}`, ...line })}\n`);
  }

  async turn(words: string, file: string, content: string): Promise<void> {
    await this.send("Asked", { words });
    this.write({ kind: "asked", words });
    this.repository.write(file, content);
    this.write({ kind: "did", deed: "scribble", deed_nr: `d${this.#nr}`, on: this.repository.at(file) });
    this.write({ kind: "saw", deed_nr: `d${this.#nr - 1}`, words: "done" });
    this.write({ kind: "told", words: `I wrote ${file}.`, teller: "grimm-2", cost: { heard: 100, said: 7 } });
    await this.send("Answered");
  }
}

async function described(repository: TemporaryRepository): Promise<{ profile: string; fixtures: string }> {
  await repository.run(["agents", "new", "fable"]);
  const directory = join(repository.home, "backtrail", "config", "agents");
  const profile = join(directory, "fable.json");
  writeFileSync(profile, JSON.stringify(describe(JSON.parse(readFileSync(profile, "utf8")))));
  const fixtures = join(directory, "fable");
  for (const kind of ["payloads", "transcripts"]) {
    for (const name of readdirSync(join(fixtures, kind))) rmSync(join(fixtures, kind, name));
  }
  return { profile, fixtures };
}

test("with a profile, an agent is checked, recorded and rewound, with its conversation", async () => {
  using repository = temporaryRepository();
  const { fixtures } = await described(repository);
  const enabled = await repository.run(["enable", "--agent", "fable"], { env });
  expect(enabled).toMatchObject({ code: 0 });
  expect(repository.git("status", "--porcelain")).toBe("");

  const fable = new Fable(repository);
  await fable.send("Begin");
  await fable.turn("Write the first tale", "one.txt", "once\n");
  await fable.turn("Write the second", "two.txt", "upon a time\n");
  await fable.send("Bye");

  const log = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env });
  const ends = log.steps.filter(({ kind }) => kind === "turn-end");
  expect(ends.map(({ prompt, agent }) => [prompt, agent])).toEqual([
    ["Write the second", "fable"],
    ["Write the first tale", "fable"],
  ]);
  const { step } = await repository.json<{ step: Record<string, unknown> }>(["show", "last"], { env });
  expect(step).toMatchObject({
    model: "grimm-2",
    response: "I wrote two.txt.",
    tokens: { input: 100, output: 7 },
    files: { added: ["two.txt"] },
  });

  const recorded = { Begin: {}, Asked: { words: "Write the first tale" }, Answered: {}, Bye: {} };
  for (const [what, more] of Object.entries(recorded)) {
    writeFileSync(join(fixtures, "payloads", `${what}.json`), JSON.stringify(fable.payload(what, more)));
  }
  writeFileSync(join(fixtures, "transcripts", "tale.jsonl"), readFileSync(fable.transcript));
  const check = await repository.run(["agents", "check", "fable"], { env });
  expect(check.stdout.replaceAll("\n", " ")).toContain(
    "tale.jsonl: 2 prompts, 2 answers, 2 files, 214 tokens, model grimm-2, can be cut.",
  );
  expect(check.stdout).toContain("fable holds for 4 recorded payloads. Not proven: that the agent finds a fork.");
  expect(check.code).toBe(0);

  const { receipt } = await repository.json<{ receipt: { chat: { command: string; transcript: string } } }>(
    ["rewind", "1", "--yes"],
    { env },
  );
  expect([repository.exists("one.txt"), repository.exists("two.txt")]).toEqual([true, false]);
  const { command, transcript } = receipt.chat;
  const copy = readFileSync(transcript, "utf8").trimEnd().split("\n");
  expect(dirname(transcript)).toBe(dirname(fable.transcript));
  expect(command).toBe(`fable continue ${JSON.parse(copy[0] ?? "").tale}`);
  expect(copy.map((line) => JSON.parse(line).words)).toEqual([
    "Write the first tale",
    undefined,
    "done",
    "I wrote one.txt.",
  ]);
  expect(readFileSync(fable.transcript, "utf8")).toContain("Write the second");

  await repository.run(["redo", "--yes"], { env });
  expect(repository.read("two.txt")).toBe("upon a time\n");
  expect((await repository.run(["disable"], { env })).code).toBe(0);
  expect(existsSync(repository.at(".fable"))).toBe(false);
});

test("what the description misses is named, field by field", async () => {
  using repository = temporaryRepository();
  const { profile, fixtures } = await described(repository);
  const wrong = readFileSync(profile, "utf8")
    .replace('"$.words"', '"$.speech"')
    .replace('"$.cost.said"', '"$.cost.spoken"')
    .replace('"$.teller"', '"$.by"');
  writeFileSync(profile, wrong);
  const fable = new Fable(repository);
  for (const what of ["Begin", "Asked", "Answered", "Bye"]) {
    writeFileSync(join(fixtures, "payloads", `${what}.json`), JSON.stringify(fable.payload(what, { words: "x" })));
  }
  const empty = await repository.run(["agents", "check", "fable"], { env });
  expect(empty.stdout).toContain("Nothing recorded of: transcript.lines.");
  fable.write({ kind: "asked", words: "Tell" });
  fable.write({ kind: "told", words: "Once", teller: "grimm-2", cost: { heard: 1, said: 2 } });
  writeFileSync(join(fixtures, "transcripts", "tale.jsonl"), readFileSync(fable.transcript));
  const check = await repository.run(["agents", "check", "fable"], { env });
  expect(check.code).toBe(1);
  expect(check.stdout).toContain("Asked.json: TurnStart needs prompt, which was not found");
  expect(check.stdout.replaceAll("\n", " ")).toContain(
    "Found nowhere: hooks.fields.prompt, transcript.lines.model, transcript.lines.tool_name, " +
      "transcript.lines.tool_use_id, transcript.lines.file_paths, transcript.lines.tokens.output.",
  );
});

test("`agents list` names a user's profile that replaces a built-in one, and an unusable one", async () => {
  using repository = temporaryRepository();
  const directory = join(repository.home, "backtrail/config/agents");
  mkdirSync(directory, { recursive: true });
  const put = (id: string, like: string) =>
    writeFileSync(join(directory, `${id}.json`), JSON.stringify({ v: 2, id, like, display_name: id }));
  put("qwen", "qwen");
  put("round", "trip");
  put("trip", "round");
  const { stderr } = await repository.run(["agents", "list"], { env });
  expect(stderr).toBe(`qwen is built in; your profile replaces the built-in one.
Your profile round.json can't be used; \`backtrail agents check round\` says why.
Your profile trip.json can't be used; \`backtrail agents check trip\` says why.
`);
  expect((await repository.run(["agents", "check", "round"], { env })).stdout).toContain(
    "like: round is like trip, trip is like round: that is a circle",
  );
  const enabled = await repository.run(["enable", "--agent", "round"], { env });
  expect(enabled.stderr).toContain("agents/round.json can't be used.");
  expect(enabled.stderr).toContain("hint: `backtrail agents check round` says why.");
});
