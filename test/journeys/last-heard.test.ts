/** `status` and `doctor` call an agent connected only once a hook of it was heard, and say why none would be. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectDirectoryName } from "../../src/agents/builtin/claude-code/paths.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface AgentStatus {
  id: string;
  hooks: string;
  heard: boolean;
  lastHeard: string | null;
  problems: string[];
}

async function statusOf(repository: TemporaryRepository, id: string): Promise<AgentStatus | undefined> {
  const { agents } = await repository.json<{ agents: AgentStatus[] }>(["status"], { env });
  return agents.find((agent) => agent.id === id);
}

async function hookFindings(repository: TemporaryRepository): Promise<string[]> {
  const { stdout } = await repository.run(["doctor", "--check", "--json"], { env });
  const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string; message: string }[] };
  return findings.filter(({ check }) => check === "hooks").map(({ level, message }) => `${level}: ${message}`);
}

function put(file: string, content: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

test("installed, not called yet; then heard; then written anew and not heard again", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  expect(await statusOf(repository, "claude-code")).toMatchObject({
    hooks: "installed",
    heard: false,
    lastHeard: null,
  });
  const unheard = (await repository.run(["status"], { env })).stdout;
  expect(unheard).toStartWith(`Recording is on in ${repository.path}, but no agent has called its hooks yet.`);
  expect(unheard).toContain("not called yet");
  const doctor = await repository.run(["doctor", "--check"], { env });
  expect(doctor.code).toBe(0);
  expect(doctor.stdout).toContain("not called yet");
  expect(doctor.stdout.trimEnd().split("\n").at(-1)).toBe("No problems, 1 warning.");

  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write", [write("a.txt", "a\n")]);
  const heard = await statusOf(repository, "claude-code");
  expect(heard).toMatchObject({ hooks: "installed", heard: true, problems: [] });
  expect(heard?.lastHeard).toMatch(/^\d{4}-/);
  const status = (await repository.run(["status"], { env })).stdout;
  expect(status).toStartWith(`Recording is on in ${repository.path}.`);
  expect(status).toContain("last called just now");
  const after = await repository.run(["doctor", "--check"], { env });
  expect(after.stdout.trimEnd().split("\n").at(-1)).toBe("No problems.");

  // The note costs one write a minute, not one a hook.
  const file = repository.at(".git/backtrail/worktrees/main/heard/claude-code");
  const noted = readFileSync(file, "utf8");
  await claude.turn("Write more", [write("b.txt", "b\n")]);
  expect(readFileSync(file, "utf8")).toBe(noted);

  await repository.run(["enable", "--agent", "claude-code"]);
  expect(await statusOf(repository, "claude-code")).toMatchObject({ heard: true });
  await repository.run(["disable"], { env });
  const later = { BACKTRAIL_CLOCK: new Date(Date.now() + 120_000).toISOString() };
  await repository.run(["enable", "--agent", "claude-code"], { env: later });
  expect(await statusOf(repository, "claude-code")).toMatchObject({ hooks: "installed", heard: false });
});

test("a session that only its transcript tells of is reported", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const session = "5d0e4c0a-1111-4222-8333-444455556666";
  const file = put(
    join(repository.home, ".claude/projects", projectDirectoryName(repository.path), `${session}.jsonl`),
    `${JSON.stringify({ type: "user", sessionId: session, cwd: repository.path, message: { role: "user", content: "x" } })}\n`,
  );
  const later = new Date(Date.now() + 60_000);
  utimesSync(file, later, later);
  expect((await statusOf(repository, "claude-code"))?.problems).toEqual([expect.stringContaining(session)]);
  expect(await hookFindings(repository)).toEqual([
    expect.stringMatching(/^warning: claude-code worked here without calling its hooks: session 5d0e4c0a/),
  ]);
  // One from before Backtrail was enabled is none of that.
  utimesSync(file, new Date(0), new Date(0));
  expect((await statusOf(repository, "claude-code"))?.problems).toEqual([]);
});

test("a copy of a conversation that a rewind made is not reported as unrecorded", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write", [write("a.txt", "a\n")]);
  await claude.turn("Write more", [write("b.txt", "b\n")]);
  await repository.run(["disable"], { env });
  // Written anew: nothing has been heard since.
  await repository.run(["enable", "--agent", "claude-code"]);
  expect(await statusOf(repository, "claude-code")).toMatchObject({ heard: false });
  await repository.json(["rewind", "1", "--yes"], { env });
  expect((await statusOf(repository, "claude-code"))?.problems).toEqual([]);
});

test("Claude Code's settings with a comment or a trailing comma", async () => {
  for (const content of ['{\n  // mine\n  "model": "opus"\n}\n', '{ "model": "opus", }\n']) {
    using repository = temporaryRepository();
    const settings = put(repository.at(".claude/settings.local.json"), content);
    const enabled = await repository.run(["enable", "--agent", "claude-code"]);
    expect(enabled.stderr).toContain("Claude Code ignores .claude/settings.local.json");
    expect(enabled.stderr).toContain("--scope user");
    expect((await statusOf(repository, "claude-code"))?.problems).toEqual([expect.stringContaining("trailing comma")]);
    expect(await hookFindings(repository)).toEqual([expect.stringMatching(/^problem: Claude Code ignores \.claude/)]);
    expect((await repository.run(["enable", "--agent", "claude-code", "--scope", "user"])).stderr).not.toContain(
      "ignores",
    );
    expect(readFileSync(settings, "utf8")).toBe(content);
  }
});

test("hooks that Gemini CLI's user has turned off", async () => {
  using repository = temporaryRepository();
  const settings = put(join(repository.home, ".gemini/settings.json"), '{ "hooksConfig": { "enabled": false } }');
  const enabled = await repository.run(["enable", "--agent", "gemini"]);
  expect(enabled.stderr).toContain("Gemini CLI runs no hooks: hooksConfig.enabled is false");
  expect((await statusOf(repository, "gemini"))?.problems).toEqual([expect.stringContaining("hooksConfig.enabled")]);
  writeFileSync(settings, '{ "hooksConfig": { "disabled": ["backtrail-session-start", "another"] } }');
  expect((await statusOf(repository, "gemini"))?.problems).toEqual([
    expect.stringContaining("skips a hook of Backtrail"),
  ]);
  expect(await hookFindings(repository)).toEqual([expect.stringMatching(/^warning: Gemini CLI skips a hook/)]);
});

test("hooks that Codex waits to have reviewed", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "codex"]);
  expect((await statusOf(repository, "codex"))?.problems).toEqual([
    expect.stringContaining("enable --agent codex --trust"),
  ]);
  expect(await hookFindings(repository)).toEqual([expect.stringMatching(/^warning: Codex skips these hooks/)]);
  await repository.run(["enable", "--agent", "codex", "--trust"]);
  expect((await statusOf(repository, "codex"))?.problems).toEqual([]);
  expect(await hookFindings(repository)).toEqual([expect.stringMatching(/^warning: codex: installed, not called yet/)]);
});

test("a run of an agent that skips its hooks says so", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "codex"]);
  const program = put(repository.at("../bin/codex"), "#!/bin/sh\nexit 0\n");
  chmodSync(program, 0o755);
  const path = { ...env, PATH: `${dirname(program)}:${process.env["PATH"]}` };
  const run = () => repository.run(["run", "--agent", "codex", "Say hello"], { env: path });
  expect((await run()).stderr).toContain("This run is not recorded for undo. Codex skips these hooks");
  await repository.run(["enable", "--agent", "codex", "--trust"]);
  expect((await run()).stderr).not.toContain("not recorded for undo");
});

test("a worktree that is not connected is distinguished from a connected one", async () => {
  using repository = temporaryRepository();
  repository.git("commit", "--quiet", "--allow-empty", "-m", "x");
  await repository.run(["enable", "--agent", "claude-code"]);
  const other = repository.at("../other");
  repository.git("worktree", "add", "--quiet", other);
  const there = await repository.run(["status"], { env, cwd: other });
  expect(there.stdout).toContain("claude-code is connected in ");
  await repository.run(["enable", "--agent", "claude-code"], { cwd: other });
  expect((await repository.run(["status"], { env, cwd: other })).stdout).toContain("not called yet");
  const here = await repository.json<{ agents: { id: string; worktrees: string[] }[] }>(["status"], { env });
  expect(here.agents.find(({ id }) => id === "claude-code")?.worktrees).toEqual([other]);
  expect((await repository.run(["status"], { env })).stdout).toContain(`claude-code is also connected in ${other}`);
  // `disable` takes out what it put into the others.
  const { stdout } = await repository.run(["disable"], { env });
  expect(stdout.split("\n")[0]).toEndWith(" and all other worktrees of the repository.");
  expect(existsSync(join(other, ".claude"))).toBe(false);
});

test("disable names each file once", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code", "--agent", "gemini", "--agent", "codex"]);
  const lines = (await repository.run(["disable"], { env })).stdout.trim().split("\n");
  expect(lines.filter((line) => line.includes(".git/info/exclude"))).toEqual([
    "  .git/info/exclude: Backtrail's entries removed",
  ]);
  expect(new Set(lines).size).toBe(lines.length);
});

test("enable without a scope leaves hooks that its user has shared where they are", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code", "--scope", "project"]);
  const shared = repository.read(".claude/settings.json");
  const again = await repository.run(["enable", "--agent", "claude-code"]);
  expect(again.stdout).toContain("hooks already in .claude/settings.json (for everybody who works here)");
  expect(repository.read(".claude/settings.json")).toBe(shared);
  expect(repository.exists(".claude/settings.local.json")).toBe(false);
  await repository.run(["enable", "--agent", "claude-code", "--scope", "local"]);
  expect(repository.exists(".claude/settings.json")).toBe(false);
});

test("enable takes the strategy, and writes hooks again with --force", async () => {
  using repository = temporaryRepository();
  const enabled = await repository.run(["enable", "--agent", "claude-code", "--strategy", "auto-commit"]);
  expect(enabled.stdout).toContain("strategy auto-commit");
  expect((await repository.json<{ strategy: string }>(["status"], { env })).strategy).toBe("auto-commit");
  const settings = repository.at(".claude/settings.local.json");
  const before = readFileSync(settings, "utf8");
  const again = await repository.json<{ agents: { files: { action: string }[] }[] }>(["enable", "--force"], { env });
  expect(again.agents.find(({ files }) => files[0]?.action === "created")).toBeDefined();
  expect(readFileSync(settings, "utf8")).toBe(before);
  expect((await repository.run(["enable", "--strategy", "sometimes"])).code).not.toBe(0);
});
