/** Cursor runs its own hooks, and with a setting on also those of Claude Code: every turn is recorded once. */
import { expect, test } from "bun:test";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const CONVERSATION = "7c1f0a52-3c0e-4f53-9d5b-0b6a2c7d8e01";
const env = { BACKTRAIL_WORKER: "off", CURSOR_VERSION: "2.6.1", CURSOR_TRACE_ID: "x" };

/** One event, as both of Cursor's roads tell it. */
class Cursor {
  readonly #repository: TemporaryRepository;
  readonly #runsClaudeHooks: boolean;
  #generation = 0;

  constructor(repository: TemporaryRepository, runsClaudeHooks: boolean) {
    this.#repository = repository;
    this.#runsClaudeHooks = runsClaudeHooks;
  }

  async send(own: string, claude: string, more: object = {}): Promise<void> {
    const payload = {
      conversation_id: CONVERSATION,
      generation_id: `g-${this.#generation}`,
      cursor_version: "2.6.1",
      workspace_roots: [this.#repository.path],
      transcript_path: null,
      model: "some-model",
      ...more,
    };
    const isHooked = this.#repository.exists(".cursor/hooks.json");
    if (isHooked) {
      const given = { ...payload, hook_event_name: own };
      expect(await this.#repository.hook("cursor", own, given, { env })).toMatchObject({ code: 0, stderr: "" });
    }
    if (!this.#runsClaudeHooks) return;
    const given = { ...payload, session_id: CONVERSATION, hook_event_name: claude };
    expect(await this.#repository.hook("claude-code", claude, given, { env })).toMatchObject({ code: 0, stderr: "" });
  }

  async turn(prompt: string, file: string): Promise<void> {
    this.#generation++;
    await this.send("beforeSubmitPrompt", "UserPromptSubmit", { prompt });
    this.#repository.write(file, `${prompt}\n`);
    await this.send("stop", "Stop", { status: "completed", loop_count: 0 });
  }
}

async function recorded(repository: TemporaryRepository) {
  const { steps } = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env });
  return steps.map(({ agent, kind, prompt }) => [agent, kind, prompt]).reverse();
}

const TWO_TURNS = [
  ["cursor", "turn-start", "one"],
  ["cursor", "turn-end", "one"],
  ["cursor", "turn-start", "two"],
  ["cursor", "turn-end", "two"],
];

for (const [name, agents, runsClaudeHooks] of [
  ["its own hooks alone", ["cursor"], false],
  ["both installed, both run", ["cursor", "claude-code"], true],
  ["only Claude's installed, and run by Cursor", ["claude-code"], true],
] as const) {
  test(name, async () => {
    using repository = temporaryRepository();
    await repository.run(["enable", ...agents.flatMap((id) => ["--agent", id])], { env });
    expect(repository.git("status", "--porcelain")).toBe("");
    const cursor = new Cursor(repository, runsClaudeHooks);
    await cursor.send("sessionStart", "SessionStart");
    await cursor.turn("one", "one.txt");
    await cursor.turn("two", "two.txt");
    await cursor.send("sessionEnd", "SessionEnd", { reason: "user_close" });
    expect(await recorded(repository)).toEqual(TWO_TURNS);
    const rewound = await repository.run(["rewind", "1", "--yes"], { env });
    expect(`${rewound.stdout}${rewound.stderr}`).toContain("Chat rewind unavailable (not supported for Cursor)");
    expect([repository.exists("one.txt"), repository.exists("two.txt")]).toEqual([true, false]);
  });
}

test("Claude Code in Cursor's terminal is still Claude Code", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code", "--agent", "cursor"], { env });
  const session_id = "11111111-2222-4333-8444-555555555555";
  const transcript_path = `${repository.home}/.claude/projects/-repository/${session_id}.jsonl`;
  const common = { session_id, transcript_path, cwd: repository.path, permission_mode: "default" };
  const asked = { ...common, hook_event_name: "UserPromptSubmit", prompt: "hello" };
  await repository.hook("claude-code", "user-prompt-submit", asked, { env });
  await repository.hook("claude-code", "stop", { ...common, hook_event_name: "Stop" }, { env });
  expect(await recorded(repository)).toEqual([
    ["claude-code", "turn-start", "hello"],
    ["claude-code", "turn-end", "hello"],
  ]);
});
