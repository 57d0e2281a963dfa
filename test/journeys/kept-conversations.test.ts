/** Conversations outlive their steps and the agent's own file: they are searched, shown, resumed and forgotten. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };
/** Far beyond `retention.days`. */
const late = { env: { ...env, BACKTRAIL_CLOCK: new Date(Date.now() + 40 * 24 * 60 * 60 * 1000).toISOString() } };

interface Cleaned {
  steps: string[];
  others: { kind: string }[];
  conversations: { sessions: number; bytes: number; limit: number };
}

async function recorded() {
  const repository = temporaryRepository();
  expect((await repository.run(["enable", "--agent", "claude-code"], { env })).code).toBe(0);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  await agent.turn("Explain the quokkaLimit", [write("src/limit.ts", "export const limit = 3;\n")], "It is a wombat.");
  await agent.turn("And the narwhal?", [], "It is a whale.");
  await agent.end();
  return { repository, agent, [Symbol.dispose]: () => repository.remove() };
}

async function hits(repository: TemporaryRepository, ...words: string[]) {
  const { stdout, code } = await repository.run(["search", "--json", ...words], late);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { hits: { id: string; session: string; field: string; fate: unknown }[] }).hits;
}

async function clean(repository: TemporaryRepository): Promise<Cleaned> {
  const { stdout, code } = await repository.run(["clean", "--yes", "--json"], late);
  expect(code).toBe(0);
  return JSON.parse(stdout) as Cleaned;
}

test("a conversation outlives its steps and the agent's file, is found and resumed, and goes when forgotten", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  const before = readFileSync(agent.transcript.path, "utf8");
  const planned = await repository.run(["clean", "--dry-run"], late);
  expect(planned.stdout + planned.stderr).toMatch(
    /1 conversation stored: .* of the 5 GiB for conversations; they are kept when their steps expire/,
  );
  const cleaned = await clean(repository);
  expect(cleaned.steps.length).toBeGreaterThan(0);
  expect(cleaned.conversations).toMatchObject({ sessions: 1, limit: 5 * 2 ** 30 });
  // A second time: the conversation without steps does not go by its age.
  expect((await repository.run(["clean", "--yes"], late)).code).toBe(3);
  rmSync(agent.transcript.path);

  expect((await repository.run(["search", "--rebuild"], late)).code).toBe(0);
  const [hit] = await hits(repository, "quokka");
  expect(hit).toMatchObject({ id: agent.session, session: agent.session, field: "prompt", fate: null });
  const shown = await repository.run(["sessions", "show", agent.session.slice(0, 8)], late);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain("quokkaLimit");

  const resumed = await repository.run(["resume", agent.session, "--json", "--yes"], late);
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.stdout)).toMatchObject({ chat: { session: agent.session } });
  expect(existsSync(agent.transcript.path)).toBe(true);
  expect(readFileSync(agent.transcript.path, "utf8")).toContain("narwhal");
  expect(before).toContain("narwhal");

  expect((await repository.run(["forget", agent.session, "--yes"], late)).code).toBe(0);
  expect(await hits(repository, "quokka")).toEqual([]);
  expect(await hits(repository, "wombat")).toEqual([]);
  rmSync(agent.transcript.path);
  expect((await repository.run(["resume", agent.session, "--yes"], late)).code).not.toBe(0);
});

test("a conversation with later turns continues after its first turns have expired", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await clean(repository);
  await agent.start();
  await agent.turn("Once more", [write("src/limit.ts", "export const limit = 4;\n")], "Done.");
  const [hit] = await hits(repository, "Once more");
  expect(hit?.id).toMatch(/^[k-z]{12}$/);
  const exported = await repository.run(["export", agent.session, "--format", "md"], { env });
  expect(exported.stdout).toContain("quokkaLimit");
  expect(exported.stdout).toContain("Once more");
});

test("with a limit of 0 a conversation goes with its last step", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  expect((await repository.run(["config", "set", "retention.conversations", "0"], { env })).code).toBe(0);
  await clean(repository);
  rmSync(agent.transcript.path);
  expect((await repository.run(["resume", agent.session, "--yes"], late)).code).not.toBe(0);
});

test("beyond the limit, conversations without steps go, and one with steps stays", async () => {
  using recording = await recorded();
  const { repository } = recording;
  await clean(repository);
  const other = new ScriptedClaude(repository);
  await other.start();
  await other.turn("A second session", [write("b.ts", "1\n")], "Yes.");
  expect((await repository.run(["config", "set", "retention.conversations", "1"], { env })).code).toBe(0);
  const { stdout } = await repository.run(["clean", "--yes", "--json"], { env });
  const { others, steps } = JSON.parse(stdout) as Cleaned;
  expect(steps).toEqual([]);
  expect(others.map(({ kind }) => kind)).toContain("old-conversation");
  rmSync(other.transcript.path);
  expect((await repository.run(["resume", other.session, "--yes"], { env })).code).toBe(0);
});

test("a session that continues after its conversation has expired is stored again as a whole", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  expect((await repository.run(["config", "set", "retention.conversations", "0"], { env })).code).toBe(0);
  const other = new ScriptedClaude(repository);
  await other.start();
  await other.turn("A second session", [write("b.ts", "1\n")], "Yes.");
  expect((await repository.run(["config", "set", "retention.max_size", "1"], { env })).code).toBe(0);
  // Only the newest step stays; the session is not too old to go on.
  const cleaned = await repository.run(["clean", "--yes", "--json"], { env });
  expect((JSON.parse(cleaned.stdout) as Cleaned).steps.length).toBeGreaterThan(2);
  expect(conversationsOf(repository)).toHaveLength(1);
  await agent.start();
  await agent.turn("Once more", [write("src/limit.ts", "export const limit = 4;\n")], "Done.");
  const doctor = await repository.run(["doctor", "--json"], { env });
  expect(doctor.stdout).not.toContain('"level": "problem"');
  rmSync(agent.transcript.path);
  expect((await repository.run(["resume", agent.session, "--yes"], { env })).code).toBe(0);
  expect(readFileSync(agent.transcript.path, "utf8")).toContain("quokkaLimit");
  expect(readFileSync(agent.transcript.path, "utf8")).toContain("Once more");
});

test("forget finds text from before the agent shortened the conversation and the steps expired", async () => {
  using recording = await recorded();
  const { repository, agent } = recording;
  await clean(repository);
  const summary = { type: "summary", summary: "Two questions about animals", leafUuid: "0" };
  writeFileSync(agent.transcript.path, `${JSON.stringify(summary)}\n`);
  await agent.start();
  await agent.turn("Once more", [write("src/limit.ts", "export const limit = 4;\n")], "Done.");
  expect((await repository.run(["forget", "narwhal", "--yes"], { env })).code).toBe(0);
  expect(conversationsOf(repository)).toEqual([]);
});

function conversationsOf(repository: TemporaryRepository): string[] {
  return readdirSync(repository.at(".git/backtrail/conversations"));
}
