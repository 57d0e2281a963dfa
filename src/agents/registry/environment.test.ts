import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentContext } from "../../model/event.ts";
import { writeEnvironment } from "./environment.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "environment-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function context(envFile: string | null): AgentContext {
  return {
    agent: "claude-code",
    cwd: "/",
    projectRoot: null,
    transcriptPath: "/home/dev/it's $HOME `x`.jsonl",
    sessionId: "s-1",
    envFile,
    pid: null,
  };
}

test("a shell reads back the same bytes", () => {
  const file = join(directory, "env");
  expect(writeEnvironment(context(file), "/home/dev/a b\nc")).toBe(true);
  const print =
    'printf "%s|" "$BACKTRAIL_AGENT" "$BACKTRAIL_PROJECT_ROOT" "$BACKTRAIL_SESSION_ID" "$BACKTRAIL_TRANSCRIPT_PATH"';
  const { stdout } = spawnSync("/bin/sh", ["-c", `. "${file}"; ${print}`], { encoding: "utf8", env: {} });
  expect(stdout).toBe("claude-code|/home/dev/a b\nc|s-1|/home/dev/it's $HOME `x`.jsonl|");
});

test("what others wrote stays, ours is added once", () => {
  const file = join(directory, "env");
  writeFileSync(file, "export THEIRS=1");
  writeEnvironment(context(file), "/p");
  const once = readFileSync(file, "utf8");
  writeEnvironment(context(file), "/p");
  expect(readFileSync(file, "utf8")).toBe(once);
  expect(once).toStartWith("export THEIRS=1\nexport BACKTRAIL_AGENT=");
});

test("a missing or unwritable file is not an error", () => {
  expect(writeEnvironment(context(null), "/p")).toBe(false);
  expect(writeEnvironment(context(join(directory, "missing", "env")), "/p")).toBe(false);
  expect(writeEnvironment(context(directory), "/p")).toBe(false);
});
