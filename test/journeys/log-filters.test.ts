/** A person looks for one turn among many: by file, agent, text and time, with its diff. */
import { expect, test } from "bun:test";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import type { ShownStep } from "../support/recording.ts";

const env = { BACKTRAIL_WORKER: "off" };

/** Three turns, at minutes 1, 61 and 121 of the story's clock. */
async function threeTurns(repository: TemporaryRepository): Promise<void> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  claude.minute = 1;
  await claude.start();
  await claude.turn("Write the cart", [write("src/cart.ts", "one\n")], "There is a cart.");
  claude.minute = 61;
  await claude.turn("Write the price", [write("src/price.ts", "one\n")], "There is a PRICE list.");
  claude.minute = 121;
  await claude.turn("Tidy", [write("src/cart.ts", "two\n"), write("notes.md", "tidied\n")], "Tidied.");
}

async function prompts(repository: TemporaryRepository, args: string[]): Promise<string[]> {
  const { stdout } = await repository.run(["log", "--json", ...args], { minute: 130, env });
  const { steps } = JSON.parse(stdout) as { steps: ShownStep[] };
  return [...new Set(steps.flatMap(({ prompt }) => prompt ?? []))];
}

test("log lists turns by file, agent, text and time", async () => {
  using repository = temporaryRepository();
  await threeTurns(repository);
  const found = (...args: string[]) => prompts(repository, args);

  expect(await found("--", "src/cart.ts")).toEqual(["Tidy", "Write the cart"]);
  expect(await found("--file", "src/price.ts", "--file", "notes.md")).toEqual(["Tidy", "Write the price"]);
  expect(await found("*.md")).toEqual(["Tidy"]);
  expect(await found("--grep", "price")).toEqual(["Write the price"]);
  expect(await found("--grep", "there IS")).toEqual(["Write the price", "Write the cart"]);
  expect(await found("--agent", "claude")).toHaveLength(3);
  expect(await found("--agent", "codex")).toEqual([]);
  expect(await found("--since", "2 hours ago")).toEqual(["Tidy", "Write the price"]);
  expect(await found("--before", "30 min ago")).toEqual(["Write the price", "Write the cart"]);
  expect(await found("--since", "2h", "--before", "30 min ago")).toEqual(["Write the price"]);
  expect(await found("--grep", "cart", "--limit", "1", "--", "src")).toEqual(["Write the cart"]);
});

test("log --patch shows what each turn changed, and only the files asked for", async () => {
  using repository = temporaryRepository();
  await threeTurns(repository);
  const at = { minute: 130, env };
  const whole = await repository.run(["log", "-p"], at);
  expect(whole.stdout).toContain("diff --git a/notes.md b/notes.md");
  expect(whole.stdout.match(/diff --git a\/src\/cart\.ts/g)).toHaveLength(2);
  const one = await repository.run(["log", "-p", "--limit", "1", "--", "src/cart.ts"], at);
  expect(one.stdout).toMatch(/-one\n.*\+two/);
  expect(one.stdout).not.toContain("diff --git a/notes.md");
  const { steps } = await repository.json<{ steps: { kind: string; patch?: string }[] }>(
    ["log", "-p", "--limit", "1"],
    at,
  );
  expect(steps.find(({ kind }) => kind === "turn-end")?.patch).toContain("+tidied");
});

test("log says that no turn matches, and refuses what it can't read", async () => {
  using repository = temporaryRepository();
  await threeTurns(repository);
  const at = { minute: 130, env };
  const none = await repository.run(["log", "--grep", "no such text"], at);
  expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "No turn matches.\n"]);
  for (const [args, message] of [
    [["--since", "soon"], '"soon" is not a time.'],
    [["--agent", "cluade"], "cluade"],
    [["../elsewhere"], "is not in this work tree"],
    [["--commits", "--grep", "x"], "cannot be used with"],
    [["--commits", "src"], "takes no paths"],
  ] as const) {
    const refused = await repository.run(["log", ...args], at);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(message);
  }
});
