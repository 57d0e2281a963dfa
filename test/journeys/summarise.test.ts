/** `explain --summarise`: only when asked for, without secrets either way, and kept in the format's own fields. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ScriptedClaude, write } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";
import { checkpointsOf, inCheckpoint, settled } from "./commits.ts";

const SECRET = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");
const ANSWER = {
  intent: "A greeting.",
  outcome: `Written with ${SECRET}. \u001b[31m`,
  learnings: { repo: ["Small."], code: [{ path: "hello.txt", line: 1, finding: "It greets." }], workflow: [7] },
  friction: ["None", ""],
  open_items: [],
  surprise: { rm: "-rf" },
};

/** It writes down what it was given, where, and with which variables. */
function answering(answer: string): string {
  const json = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: answer });
  return `{ pwd; env | grep -E '^(BACKTRAIL_|AIWR)'; for a; do printf '%s\\n' "<$a>"; done; } > "$CALLED"
cat <<'THE_ANSWER'
${json}
THE_ANSWER`;
}

async function committed(world: StandIn): Promise<string> {
  const { repository } = world;
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn(`Greet with ${SECRET}`, [write("hello.txt", "hello\n")], "There it is.");
  repository.commit("Greet");
  await settled(repository);
  return checkpointsOf(repository, "HEAD")[0] ?? "";
}

function explain(world: StandIn, args: string[], env: Record<string, string> = {}) {
  return world.repository.run(["explain", ...args], { env: { ...world.environment(), ...env } });
}

test("the summary is added to the checkpoint, once, and shown", async () => {
  using world = new StandIn();
  const { repository } = world;
  const id = await committed(world);
  world.agent("claude", answering(`Sure!\n\`\`\`json\n${JSON.stringify(ANSWER)}\n\`\`\``));
  const before = JSON.parse(inCheckpoint(repository, id, "0/metadata.json")) as Record<string, unknown>;
  const tip = repository.checkpoints("rev-parse", "entire/checkpoints/v1");

  const result = await explain(world, ["--summarize", "--agent", "claude"]);
  expect(result).toMatchObject({ code: 0 });
  expect(result.stdout).toContain("Intent\n  A greeting.\n");
  const after = JSON.parse(inCheckpoint(repository, id, "0/metadata.json")) as Record<string, unknown>;
  const { summary, ...rest } = after;
  expect(rest).toEqual(before);
  expect(summary).toEqual({
    intent: "A greeting.",
    outcome: expect.stringMatching(/^Written with \[secret:[^\]]+\]\.$/),
    learnings: { repo: ["Small."], code: [{ path: "hello.txt", line: 1, finding: "It greets." }], workflow: [] },
    friction: ["None"],
    open_items: [],
  });
  expect(repository.checkpoints("rev-parse", "entire/checkpoints/v1^")).toBe(tip);
  // Only that file is another one.
  expect(repository.checkpoints("diff", "--name-only", "entire/checkpoints/v1^", "entire/checkpoints/v1")).toBe(
    `${id.slice(0, 2)}/${id.slice(2)}/0/metadata.json`,
  );

  const given = readFileSync(world.called, "utf8");
  expect(given).not.toContain(SECRET);
  expect(given).toMatch(/^[^\n]*\/backtrail-ask-\w+\n/);
  expect(given).toContain("User: Greet with [secret:");
  expect(given).toContain("Agent: There it is.");
  expect(given).toContain("BACKTRAIL_HOOKS=off\n");
  expect(given).toContain("<--tools>\n<>\n");
  // Nobody's session, no log; and it is not asked twice.
  expect(repository.exists(".aiwr")).toBe(false);
  world.agent("claude", "exit 1");
  expect(await explain(world, ["--summarise", "--agent", "claude"])).toMatchObject({ code: 0, stderr: "" });
  expect(repository.checkpoints("rev-parse", "entire/checkpoints/v1^")).toBe(tip);
});

test("it is off unless the user's own settings choose an agent", async () => {
  using world = new StandIn();
  const { repository } = world;
  await committed(world);
  world.agent("claude", answering("{}"));
  const none = await explain(world, ["--summarise"]);
  expect(none).toMatchObject({ code: 2 });
  expect(none.stderr).toContain("No agent is set for summaries.");
  // A file that git tracks is a stranger's.
  repository.write(".backtrail/settings.json", '{ "summarise": { "agent": "claude" } }');
  repository.commit("settings");
  expect((await explain(world, ["HEAD~1", "--summarize"])).code).toBe(2);
  const unsafe = await explain(world, ["HEAD~1", "--summarise"], { BACKTRAIL_SUMMARISE_AGENT: "codex" });
  expect(unsafe).toMatchObject({ code: 2 });
  expect(unsafe.stderr).toContain("codex can't run without tools that change things");
  expect(unsafe.stderr).toContain("These can: claude, gemini, pi.");
  expect((await explain(world, ["--agent", "claude"])).code).toBe(2);
});

test("an agent that fails, or answers with something else, leaves everything as it was", async () => {
  using world = new StandIn();
  const { repository } = world;
  await committed(world);
  const tip = repository.checkpoints("rev-parse", "entire/checkpoints/v1");
  const failed = '{"type":"result","subtype":"error","is_error":true,"result":"No model"}';
  for (const [agent, message] of [
    [answering("I would rather not."), "error: The answer is not a summary."],
    [answering('{"intent": 5, "outcome": ["x"]}'), "error: The answer is not a summary."],
    [`echo '${failed}'; exit 1`, "error: claude gave no answer: No model"],
    ["exit 3", "error: claude gave no answer."],
  ] as const) {
    world.agent("claude", agent);
    const result = await explain(world, ["--summarise", "--agent", "claude"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(message);
  }
  expect(repository.checkpoints("rev-parse", "entire/checkpoints/v1")).toBe(tip);
});

test("two simultaneous summaries, or a killed one, damage nothing", async () => {
  using world = new StandIn();
  const { repository } = world;
  const id = await committed(world);
  world.agent("claude", answering(JSON.stringify(ANSWER)));
  const killed = await explain(world, ["--summarise", "--agent", "claude"], { BACKTRAIL_FAULT: "summary:objects" });
  expect(killed.signal).toBe("SIGKILL");
  expect(JSON.parse(inCheckpoint(repository, id, "0/metadata.json")).summary).toBeUndefined();
  const both = await Promise.all([1, 2].map(() => explain(world, ["--summarise", "--agent", "claude"])));
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(JSON.parse(inCheckpoint(repository, id, "0/metadata.json")).summary.intent).toBe("A greeting.");
  expect((await repository.run(["doctor", "--check"])).code).toBe(0);
});
