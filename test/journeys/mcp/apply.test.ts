/** An agent proposes through MCP, and a person decides at the command line. */
import { expect, test } from "bun:test";
import { ScriptedClaude, Story, type TemporaryRepository, temporaryRepository, write } from "../../support/index.ts";
import { McpClient } from "../../support/mcp.ts";

const env = { BACKTRAIL_WORKER: "off" };
const REASON = "The cache returns old prices.";

interface Applied {
  plan: { write: string[]; delete: string[] };
  receipt: { safetyStep: string; written: number; deleted: number; openSessions: { notified: boolean }[] } | null;
}
interface Listed {
  proposals: {
    id: string;
    kind: string;
    state: string;
    reason: string;
    revision: number;
    by: unknown;
    restore: unknown;
  }[];
}

async function recorded(
  minute?: number,
): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude } & Disposable> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  claude.minute = minute;
  await claude.start();
  await claude.turn("Show the prices", [write("prices.txt", "1\n")]);
  await claude.turn("Cache the prices", [write("cache.txt", "1\n")]);
  await claude.turn("Write the docs", [write("docs.txt", "1\n")]);
  return { repository, claude, [Symbol.dispose]: () => repository.remove() };
}

/** Proposes in the middle of a turn, as an agent does, and returns the proposal's id. */
async function propose(
  repository: TemporaryRepository,
  tool: "propose_undo" | "propose_rewind",
  name: string,
  minute?: number,
) {
  await using client = await McpClient.connect(repository, { minute });
  const turns = await client.ask("turns");
  const id = new RegExp(`^([k-z]{12}): .*\\n> ${name}$`, "m").exec(turns)?.[1] ?? "";
  const target = tool === "propose_undo" ? { turn: id } : { target: id };
  const answer = await client.ask(tool, { ...target, reason: REASON });
  const proposal = /^ {2}backtrail apply ([k-z]{12})$/m.exec(answer)?.[1] ?? "";
  return { proposal, answer, turn: id };
}

async function during<T>(claude: ScriptedClaude, work: () => Promise<T>): Promise<T> {
  await claude.begin("Look at your work");
  const done = await work();
  await claude.finish();
  return done;
}

/** What the hook of one more prompt gives the agent. */
async function contextOf(claude: ScriptedClaude): Promise<string> {
  const before = claude.answers.length;
  await claude.turn("Go on", []);
  const answers = claude.answers.slice(before).map(({ result }) => result.stdout);
  return answers
    .map((text) => (text === "" ? "" : (JSON.parse(text).hookSpecificOutput?.additionalContext ?? "")))
    .join("\n");
}

const listed = (repository: TemporaryRepository, ...more: string[]) =>
  repository.json<Listed>(["proposals", ...more], { env });

test("a proposed undo waits for a person, who applies it once, and the agent learns of it", async () => {
  using made = await recorded();
  const { repository, claude } = made;
  const { proposal, answer } = await during(claude, () => propose(repository, "propose_undo", "Cache the prices"));
  expect(answer).toContain("delete cache.txt");
  expect(answer).toContain("Nothing has changed yet");
  expect(repository.exists("cache.txt")).toBe(true);
  expect((await listed(repository)).proposals).toMatchObject([
    {
      id: proposal,
      kind: "undo",
      state: "open",
      reason: REASON,
      by: { agent: "claude-code", session: claude.session },
    },
  ]);

  const applied = await repository.json<Applied>(["apply", proposal.slice(0, 6), "--yes"], { env });
  expect(applied.plan).toMatchObject({ write: [], delete: ["cache.txt"] });
  expect(applied.receipt).toMatchObject({ written: 0, deleted: 1, openSessions: [{ notified: true }] });
  expect(["prices.txt", "cache.txt", "docs.txt"].map((name) => repository.exists(name))).toEqual([true, false, true]);

  const again = await repository.run(["apply", proposal, "--yes"], { env });
  expect([again.code, again.stderr]).toEqual([3, expect.stringContaining("is already applied")]);
  expect((await listed(repository)).proposals).toEqual([]);
  expect((await listed(repository, "--all")).proposals).toMatchObject([{ state: "applied" }]);

  const heard = await contextOf(claude);
  expect(heard).toContain(`The user ran \`backtrail apply ${proposal}\` since your last turn`);
  expect(heard).toContain(`The reason in the proposal: ${REASON}`);
  expect(heard).toContain("do not propose it again");
  expect(await contextOf(claude)).not.toContain("[Backtrail]");

  await repository.json(["redo", "--yes"], { env });
  expect(repository.exists("cache.txt")).toBe(true);
});

test("a proposed rewind takes code and conversation back; the closed session learns of it when it is resumed", async () => {
  using made = await recorded();
  const { repository, claude } = made;
  const { proposal } = await during(claude, () => propose(repository, "propose_rewind", "Show the prices"));
  await claude.end();
  const applied = await repository.json<Applied>(["apply", proposal, "--yes"], { env });
  expect([...applied.plan.delete].sort()).toEqual(["cache.txt", "docs.txt"]);
  expect(applied.receipt).toMatchObject({ deleted: 2, chat: { agent: "claude-code" }, openSessions: [] });
  expect(await contextOf(claude)).toContain(`backtrail apply ${proposal}`);
});

test("a stale proposal is refused and drawn up again; the person can then apply the new plan", async () => {
  using made = await recorded();
  const { repository } = made;
  const { proposal } = await propose(repository, "propose_undo", "Cache the prices");
  repository.write("unrelated.txt", "mine\n");
  expect((await repository.json<Applied>(["apply", proposal, "--dry-run"], { env })).receipt).toBeNull();
  expect((await listed(repository)).proposals).toMatchObject([{ revision: 1 }]);

  repository.write("cache.txt", "1\n2\n");
  const refused = await repository.run(["apply", proposal, "--yes", "--json"], { env });
  expect([refused.code, JSON.parse(refused.stdout).receipt]).toEqual([4, null]);
  expect(refused.stderr).toContain("The files changed since this was proposed. Nothing was changed.");
  expect(repository.read("cache.txt")).toBe("1\n2\n");
  expect((await listed(repository)).proposals).toMatchObject([{ revision: 2 }]);
});

test("a dismissed or expired proposal can't be applied", async () => {
  using made = await recorded();
  const { repository } = made;
  const { proposal } = await propose(repository, "propose_undo", "Cache the prices");
  await repository.json(["proposals", "dismiss", proposal], { env });
  expect((await repository.run(["apply", proposal, "--yes"], { env })).stderr).toContain("is already dismissed");
  const other = await propose(repository, "propose_undo", "Write the docs");
  const later = { ...env, BACKTRAIL_CLOCK: new Date(Date.now() + 26 * 3_600_000).toISOString() };
  const late = await repository.run(["apply", other.proposal, "--yes"], { env: later });
  expect([late.code, late.stderr]).toEqual([3, expect.stringContaining("has expired")]);
  expect((await repository.run(["apply", "kkkkkkkkkkkk", "--yes"], { env })).code).toBe(3);
  expect(repository.exists("docs.txt")).toBe(true);
});

test("a forgotten conversation is not quoted by a proposal", async () => {
  using made = await recorded();
  const { repository, claude } = made;
  await propose(repository, "propose_undo", "Cache the prices");
  await claude.end();
  await repository.json(["forget", claude.session, "--yes"], { env });
  expect((await listed(repository, "--all")).proposals).toEqual([]);
});

test("as a person sees it", async () => {
  using made = await recorded(5);
  const { repository } = made;
  const story = new Story(repository);
  const at = { minute: 9, env };
  await story.run(["proposals"], at);
  const { proposal } = await propose(repository, "propose_undo", "Cache the prices", 8);
  await story.run(["proposals"], at);
  await story.run(["apply", proposal, "--dry-run"], at);
  await story.run(["apply", proposal], at);
  await story.run(["apply", proposal, "--yes"], at);
  await story.run(["proposals", "--all"], at);
  expect(story.toString()).toMatchSnapshot();
});
