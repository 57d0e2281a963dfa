/** Antigravity CLI as it is documented: its hooks file, what its hooks send, its transcript. Nothing of it is recorded. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runProgram, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const CONVERSATION = "b67d4ce2-1b29-4e25-8598-e6636a3171aa";
const OFF = { BACKTRAIL_WORKER: "off" };
const THEIRS =
  '{\n  // mine\n  "linter": {"PostToolUse": [{"matcher": "run_command", "hooks": [{"command": "./lint.sh"}]}]},\n}\n';

class Antigravity {
  readonly #repository: TemporaryRepository;
  readonly #logs: string;
  #steps = 0;

  constructor(repository: TemporaryRepository) {
    this.#repository = repository;
    this.#logs = join(repository.home, ".gemini/antigravity-cli/brain", CONVERSATION, ".system_generated/logs");
    mkdirSync(this.#logs, { recursive: true });
  }

  say(source: string, type: string, more: object): void {
    const line = { step_index: this.#steps++, source, type, status: "DONE", created_at: new Date().toISOString() };
    writeFileSync(this.transcript, `${JSON.stringify({ ...line, ...more })}\n`, { flag: "a" });
  }

  get transcript(): string {
    return join(this.#logs, "transcript_full.jsonl");
  }

  get hooksFile(): string {
    return join(this.#repository.path, ".agents/hooks.json");
  }

  /** Calls the installed hook through a shell, in the directory of its file, as the agent does. */
  async hook(event: string, more: object): Promise<string> {
    const { backtrail } = JSON.parse(readFileSync(this.hooksFile, "utf8").replace(/^ *\/\/.*$|,(?=\s*}\s*$)/gm, ""));
    const [handler] = backtrail[event];
    expect(handler).toEqual({ type: "command", command: expect.any(String) });
    const payload = {
      conversationId: CONVERSATION,
      workspacePaths: [this.#repository.path],
      transcriptPath: this.transcript,
      artifactDirectoryPath: dirname(dirname(this.#logs)),
      modelName: "gemini-3.8-flash-high",
      ...more,
    };
    const done = await runProgram("/bin/sh", ["-c", handler.command], {
      cwd: dirname(this.hooksFile),
      env: this.#repository.environment(OFF),
      input: JSON.stringify(payload),
    });
    expect(done).toMatchObject({ code: 0, stderr: "" });
    return done.stdout;
  }

  async turn(prompt: string, file: string): Promise<void> {
    this.say("USER_EXPLICIT", "USER_INPUT", {
      content: `<USER_REQUEST>\n${prompt}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nNow.\n</ADDITIONAL_METADATA>`,
    });
    expect(await this.hook("PreInvocation", { invocationNum: 0, initialNumSteps: 1 })).toBe("");
    const path = join(this.#repository.path, file);
    this.#repository.write(file, `${prompt}\n`);
    this.say("MODEL", "PLANNER_RESPONSE", {
      tool_calls: [{ name: "write_to_file", args: { TargetFile: JSON.stringify(path), Overwrite: "true" } }],
    });
    this.say("MODEL", "CODE_ACTION", { content: "Created the file." });
    expect(await this.hook("PreInvocation", { invocationNum: 1, initialNumSteps: 4 })).toBe("");
    this.say("MODEL", "PLANNER_RESPONSE", { thinking: "All there.", content: `Wrote ${file}.` });
    expect(await this.hook("Stop", { executionNum: 1, fullyIdle: false })).toBe("");
    expect(await this.hook("Stop", { executionNum: 1, fullyIdle: true })).toBe("");
  }
}

test("two turns with their prompts, answers and files; the code goes back, and the hooks file is as it was", async () => {
  using repository = temporaryRepository();
  const agent = new Antigravity(repository);
  repository.write(".agents/hooks.json", THEIRS);
  const enabled = await repository.run(["enable", "--agent", "agy"], { env: OFF });
  expect(enabled.code).toBe(0);
  expect(readFileSync(agent.hooksFile, "utf8")).toContain('"linter"');
  await agent.turn("one", "one.txt");
  await agent.turn("two", "two.txt");

  const { steps } = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env: OFF });
  expect(steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
    ["turn-end", 2, "two"],
    ["turn-start", 2, "two"],
    ["turn-end", 1, "one"],
    ["turn-start", 1, "one"],
  ]);
  expect(steps[0]).toMatchObject({ agent: "antigravity", session: CONVERSATION, files: { added: ["two.txt"] } });
  const shown = await repository.run(["show", String(steps[0]?.["id"])], { env: OFF });
  expect(shown.stdout).toContain("Wrote two.txt.");

  const rewound = await repository.run(["rewind", "1", "--yes"], { env: OFF });
  expect(`${rewound.stdout}${rewound.stderr}`).toContain("can't rewind its chat");
  expect([repository.exists("one.txt"), repository.exists("two.txt")]).toEqual([true, false]);
  const reply = await agent.hook("PreInvocation", { invocationNum: 0, initialNumSteps: 7 });
  expect(JSON.parse(reply)).toEqual({ injectSteps: [{ ephemeralMessage: expect.stringContaining("two.txt") }] });

  await repository.run(["disable"], { env: OFF });
  expect(readFileSync(agent.hooksFile, "utf8")).toBe(THEIRS);
});
