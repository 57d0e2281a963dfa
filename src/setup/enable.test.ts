import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refusal } from "../../test/support/refusal.ts";
import { findWorkspace, isEnabled, readStore } from "../git/workspace.ts";
import { agentsFound, disable, enable } from "./enable.ts";

const executable = "/opt/tools/backtrail";
const kept = ["HOME", "BACKTRAIL_HOME", "PATH", "CLAUDE_CONFIG_DIR"] as const;
const before: Record<string, string | undefined> = {};
let home: string;
let root: string;

beforeEach(() => {
  for (const name of kept) before[name] = process.env[name];
  home = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-enable-")));
  root = join(home, "project");
  mkdirSync(root);
  process.env["HOME"] = home;
  process.env["BACKTRAIL_HOME"] = join(home, "own");
  delete process.env["CLAUDE_CONFIG_DIR"];
});

afterEach(() => {
  for (const name of kept) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  rmSync(home, { recursive: true, force: true });
});

const options = { executable, agents: ["claude"], defaultAgent: "claude-code" };

function git(...args: string[]): string {
  return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  });
}

test("enable connects the agent and disable leaves no trace of it", async () => {
  git("init", "-q");
  const settings = join(root, ".claude", "settings.local.json");
  mkdirSync(join(root, ".claude"));
  writeFileSync(settings, '{ "model": "x" } // mine');
  const exclude = readFileSync(join(root, ".git", "info", "exclude"));

  const report = await enable(root, options);
  expect(report.installed.map(({ agent, scope }) => [agent, scope])).toEqual([["claude-code", "local"]]);
  expect(report.wasEnabled).toBe(false);
  expect(readFileSync(settings, "utf8")).toContain(`\\"${executable}\\" hooks claude-code stop`);
  expect(git("status", "--porcelain")).toBe("");
  expect(readStore(report.workspace)?.agents["claude-code"]?.scope).toBe("local");

  const again = await enable(root, options);
  expect(again.wasEnabled).toBe(true);
  expect(again.installed[0]?.files[0]?.action).toBe("unchanged");

  const off = await disable(root, { executable });
  expect(off.left).toEqual([]);
  expect(isEnabled(off.workspace)).toBe(false);
  expect(readFileSync(settings, "utf8")).toBe('{ "model": "x" } // mine');
  expect(readFileSync(join(root, ".git", "info", "exclude"))).toEqual(exclude);
  expect((await refusal(disable(root, { executable }))).kind).toBe("not-found");
});

test("every work tree that was enabled is cleaned, whichever one disable is run in", async () => {
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("worktree", "add", "-q", join(home, "second"));
  await enable(root, options);
  await enable(join(home, "second"), options);
  const file = join(home, "second", ".claude", "settings.local.json");
  expect(existsSync(file)).toBe(true);
  await disable(root, { executable });
  expect(existsSync(file)).toBe(false);
  expect(existsSync(join(root, ".claude"))).toBe(false);
});

test("a folder without git gets a private store; a home directory does not", async () => {
  const report = await enable(root, options);
  expect(report.workspace.kind).toBe("private");
  expect(findWorkspace(root)?.root).toBe(root);
  expect((await refusal(enable(home, options))).kind).toBe("refused");
  expect((await refusal(enable("/", options))).kind).toBe("refused");
});

test("a bare repository is refused, also where a file beside it names it; its work trees are not", async () => {
  git("init", "-q", "source");
  git("-C", "source", "commit", "-q", "--allow-empty", "-m", "first");
  git("clone", "-q", "--bare", "source", ".bare");
  writeFileSync(join(root, ".git"), "gitdir: ./.bare\n");
  for (const place of [root, join(root, ".bare")]) {
    const { kind, message } = await refusal(enable(place, options));
    expect([kind, message]).toEqual(["refused", expect.stringContaining("bare repository")]);
  }
  expect(existsSync(join(root, ".claude"))).toBe(false);
  git("-C", ".bare", "worktree", "add", "-q", "-b", "tree", "../tree");
  expect((await enable(join(root, "tree"), options)).workspace.kind).toBe("repository");
});

test("a repository with a separate work tree is refused", async () => {
  git("init", "-q");
  git("config", "core.worktree", home);
  const { kind, message } = await refusal(enable(root, options));
  expect([kind, message]).toEqual(["refused", expect.stringContaining("core.worktree")]);
});

test("agents are found by their program or their settings", async () => {
  process.env["PATH"] = join(home, "bin");
  expect(await agentsFound(root)).toEqual([]);
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin", "claude"), "#!/bin/sh\n", { mode: 0o755 });
  expect((await agentsFound(root)).map(({ because }) => because)).toEqual(["claude is on PATH"]);
  rmSync(join(home, "bin", "claude"));
  mkdirSync(join(home, ".claude"));
  expect((await agentsFound(root)).map(({ because }) => because)).toEqual(["~/.claude is there"]);
  mkdirSync(join(root, ".gemini"));
  const here = await agentsFound(root);
  expect(here.map(({ agent, because }) => [agent.profile.id, because])).toEqual([["gemini", ".gemini is here"]]);
});

test("a settings file that cannot be edited stops enable before anything is recorded", async () => {
  git("init", "-q");
  mkdirSync(join(root, ".claude"));
  writeFileSync(join(root, ".claude", "settings.local.json"), "{ broken");
  await refusal(enable(root, options));
  const workspace = findWorkspace(root);
  expect(workspace && isEnabled(workspace)).toBe(false);
  expect(readFileSync(join(root, ".claude", "settings.local.json"), "utf8")).toBe("{ broken");
});

test("an unknown agent, and one that is not connected", async () => {
  git("init", "-q");
  expect((await refusal(enable(root, { ...options, agents: ["claud"] }))).kind).toBe("usage");
  await enable(root, options);
  const error = await refusal(disable(root, { executable, agents: ["nobody"] }));
  expect(error.kind).toBe("usage");
});
