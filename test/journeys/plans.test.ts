/** What plans say: turns, created files, the user's own changes; and going back without losing those. */
import { expect, test } from "bun:test";
import { bash, edit, ScriptedClaude, Story, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryRepository } from "../support/repository.ts";
import { Attempts, shownIn } from "./forks.ts";

const env = { BACKTRAIL_WORKER: "off" };
const at = { minute: 9, env };
const LINES = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("");

/** Two agents and a person in the same files. */
async function worked(repository: TemporaryRepository): Promise<void> {
  repository.write("price.js", LINES);
  repository.commit("prices");
  await repository.run(["enable", "--agent", "claude-code"]);
  const first = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  first.minute = 1;
  await first.start();
  await first.turn("Add the tax", [edit("price.js", "line 2\n", "line 2 with tax\n")]);
  repository.write("price.js", repository.read("price.js").replace("line 9\n", "line 9, by hand\n"));
  repository.write("mine.txt", "mine\n");
  const second = new ScriptedClaude(repository, "66666666-7777-4888-8999-000000000000");
  second.minute = 4;
  await second.start();
  await second.turn("Tidy up", [bash("rm README.md; mkdir lib; for i in $(seq 10 39); do echo $i > lib/$i.js; done")]);
  first.minute = 7;
  await first.turn("Round the prices", [edit("price.js", "line 5\n", "line 5, rounded\n")]);
}

test("a plan names turns, created files and own changes", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const story = new Story(repository);
  await story.run(["rewind", "1", "--dry-run"], at);
  await story.run(["rewind", "3"], at);
  await story.run(["rewind", "3", "--keep-mine", "--dry-run", "--paths", "*.js", "*.txt", "*.md"], at);
  await story.run(["undo", "1", "3", "--dry-run"], at);
  await story.run(["rewind", "HEAD", "--dry-run", "--paths", "price.js"], at);
  expect(story.toString()).toMatchSnapshot();
  const whole = await repository.run(["rewind", "3", "--all"], { env });
  expect(whole.stderr).not.toContain("more files");
  expect(whole.stderr).toContain("  - lib/39.js\n");
});

test("a rewind to before an undo says which turn it brings back", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  await repository.run(["undo", "3", "--yes"], at);
  const { stderr, stdout } = await repository.run(["rewind", "1", "--dry-run"], at);
  expect(stdout + stderr).toMatch(/Rewinds 1 turn:\n.*Round the prices\nBrings back 1 turn:\n.*Add the tax\n/);
  const { plan } = await repository.json<Plan>(["rewind", "1", "--dry-run"], at);
  expect(plan.bringsBack).toEqual([expect.objectContaining({ agent: "claude-code", turn: 1, prompt: "Add the tax" })]);
});

interface Plan {
  plan: {
    bringsBack?: Record<string, unknown>[];
    write: string[];
    delete: string[];
    create: string[];
    turns: Record<string, unknown>[];
    yours: { path: string; since: string; kept: boolean }[];
  };
}

test("the same as JSON", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const { plan } = await repository.json<Plan>(["rewind", "3", "--dry-run"], at);
  expect(plan.create).toEqual(["README.md"]);
  expect(plan.write).toEqual(["README.md", "price.js"]);
  expect(plan.turns).toEqual([
    {
      id: expect.stringMatching(/^[k-z]{12}$/),
      agent: "claude-code",
      session: "11111111-2222-4333-8444-555555555555",
      turn: 2,
      prompt: "Round the prices",
    },
    expect.objectContaining({ session: "66666666-7777-4888-8999-000000000000", turn: 1, prompt: "Tidy up" }),
    expect.objectContaining({ session: "11111111-2222-4333-8444-555555555555", turn: 1, prompt: "Add the tax" }),
  ]);
  expect(plan.yours).toEqual([
    { path: "price.js", since: expect.stringContaining("T"), kept: false },
    { path: "mine.txt", since: expect.stringContaining("T"), kept: false },
  ]);
  const { plan: kept } = await repository.json<Plan>(["rewind", "3", "--keep-mine", "--dry-run"], at);
  expect(kept.yours).toEqual([{ path: "price.js", since: expect.stringContaining("T"), kept: true }]);
  expect(kept.delete).not.toContain("mine.txt");
});

test("agents' turns are reverted, manual edits stay, and redo reapplies the turns", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const before = repository.read("price.js");
  expect((await repository.run(["rewind", "3", "--keep-mine", "--yes"], { env })).code).toBe(0);
  expect(repository.read("price.js")).toBe(LINES.replace("line 9\n", "line 9, by hand\n"));
  expect([repository.exists("mine.txt"), repository.exists("README.md"), repository.exists("lib")]).toEqual([
    true,
    true,
    false,
  ]);
  expect((await repository.run(["redo", "--yes"], { env })).code).toBe(0);
  expect([repository.read("price.js"), repository.exists("README.md")]).toEqual([before, false]);
});

test("a hand edit of the agent's own line is a conflict", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  repository.write("price.js", repository.read("price.js").replace("line 5, rounded\n", "line 5, rounded down\n"));
  const story = new Story(repository);
  await story.run(["rewind", "1", "--keep-mine", "--yes"], at);
  expect(repository.read("price.js")).toContain("line 5, rounded down\n");
  await story.run(["rewind", "1", "--keep-mine", "--conflicts=markers", "--yes"], at);
  await story.run(["rewind", "HEAD", "--keep-mine"], at);
  await story.run(["rewind", "1", "--conflicts=markers"], at);
  expect(story.toString()).toMatchSnapshot();
  expect(repository.read("price.js")).toContain("<<<<<<< now\nline 5, rounded down\n=======\nline 5\n>>>>>>> before-");
});

test("a take lists the fork's turns", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("Write the parser", [write("parser.ts", "1\n")]);
  const { fork } = await attempts.fork("last", "--branch", "again");
  await attempts.turnIn(fork, "Try it another way", "there.ts", "x\n");
  await attempts.turnIn(fork, "And test it", "there.test.ts", "y\n");
  const shown = shownIn(attempts, await repository.run(["fork", "take", "again", "--dry-run"]));
  expect(shown.replace(/\b[0-9a-f]{8}\b/g, "<short>")).toBe(`Take the changes of the fork again
Takes 2 turns:
  <step>  claude-code  <short>  And test it
  <step>  claude-code  <short>  Try it another way
2 files to create
  + there.test.ts
  + there.ts
  chat not changed, here and in the fork
`);
  const { plan } = await repository.json<Plan>(["fork", "take", "again", "--yes"]);
  expect(plan.turns).toMatchObject([{ prompt: "And test it" }, { prompt: "Try it another way" }]);
});
