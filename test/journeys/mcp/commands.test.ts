/** `enable --commands` adds three commands to the agents that have such, and `disable` removes them. */
import { expect, test } from "bun:test";
import { temporaryRepository } from "../../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };
const NAMES = ["backtrail-log", "backtrail-undo", "backtrail-why"];
const AGENTS: [id: string, directory: string, ending: string, args: string][] = [
  ["claude-code", ".claude/commands", "md", "$ARGUMENTS"],
  ["gemini", ".gemini/commands", "toml", "{{args}}"],
  ["opencode", ".opencode/command", "md", "$ARGUMENTS"],
  ["factoryai-droid", ".factory/commands", "md", "$ARGUMENTS"],
];

for (const [id, directory, ending, args] of AGENTS)
  test(`${id} gets them, out of sight of git, and loses them`, async () => {
    using repository = temporaryRepository();
    const files = NAMES.map((name) => `${directory}/${name}.${ending}`);
    const mine = repository.write(`${directory}/mine.${ending}`, "mine\n");
    repository.commit("mine");
    await repository.json(["enable", "--agent", id, "--commands"], { env });
    for (const file of files) expect(repository.read(file)).toContain(args);
    expect(repository.read(files[1] ?? "")).toContain("Don't run it");
    expect(repository.git("status", "--porcelain")).toBe("");
    await repository.json(["enable", "--agent", id], { env });
    await repository.json(["disable"], { env });
    expect(files.map((file) => repository.exists(file))).toEqual([false, false, false]);
    expect(await Bun.file(mine).text()).toBe("mine\n");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

test("the directories that enable makes are gone after disable", async () => {
  using repository = temporaryRepository();
  await repository.json(["enable", "--agent", "claude-code", "--commands"], { env });
  expect(repository.exists(".claude/commands/backtrail-why.md")).toBe(true);
  await repository.json(["disable"], { env });
  expect(repository.exists(".claude")).toBe(false);
});

test("a file of that name that is not ours is left alone, and said", async () => {
  using repository = temporaryRepository();
  repository.write(".claude/commands/backtrail-log.md", "mine\n");
  const result = await repository.run(["enable", "--agent", "claude-code", "--commands"], { env });
  expect([result.code, result.stderr]).toEqual([4, expect.stringContaining("backtrail-log.md was left as it is")]);
  expect(repository.read(".claude/commands/backtrail-log.md")).toBe("mine\n");
});

test("an agent without such commands is connected without them, and the output says so", async () => {
  using repository = temporaryRepository();
  const result = await repository.run(["enable", "--agent", "codex", "--commands"], { env });
  expect([result.code, result.stderr]).toEqual([0, expect.stringContaining("Codex has no commands")]);
});
