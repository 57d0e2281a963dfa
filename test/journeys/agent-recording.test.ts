/** An agent that Backtrail does not know: recorded through hooks in its settings, described, and checked. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, runProgram, temporaryDirectory } from "../support/index.ts";

const qwen = join(import.meta.dirname, "..", "agents", "qwen");
const session = "adbb29c2-0c18-4a04-858a-6c28bf4a88f6";

test("record, new, check: from nothing to a profile that lists what is not proven", async () => {
  using place = temporaryDirectory();
  const home = place.at("home");
  const cwd = join(home, "project");
  const settings = join(home, ".my-agent", "settings.json");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(join(home, ".my-agent"));
  writeFileSync(settings, '{"theme":"dark"}\n');
  const env = cleanEnvironment(home);
  const run = (args: string[]) => runProgram(executable(), args, { cwd, env, timeout: 120_000 });
  const recording = run(["agents", "record", "my-agent", "--hooks", settings, "--json"]);
  try {
    const hooks = await hooksIn(settings);
    const chats = join(home, ".my-agent", "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"), "chats");
    mkdirSync(chats, { recursive: true });
    const localized = (text: string) =>
      text.replaceAll("/home/dev/.qwen/projects/-home-dev-project/chats", chats).replaceAll("/home/dev/project", cwd);
    for (const name of ["SessionStart", "UserPromptSubmit", "PostToolUse-write_file", "Stop"]) {
      const payload = localized(readFileSync(join(qwen, "payloads", `${name}.json`), "utf8"));
      const command = hooks[name.split("-")[0] ?? ""]?.[0]?.hooks[0]?.command ?? "false";
      expect(await runProgram("/bin/sh", ["-c", command], { cwd, env, input: payload })).toMatchObject({
        code: 0,
        stdout: "",
        stderr: "",
      });
    }
    const transcript = readFileSync(join(qwen, "transcripts", "resumed.jsonl"), "utf8");
    writeFileSync(join(chats, `${session}.jsonl`), localized(transcript));
  } finally {
    await run(["agents", "record", "my-agent", "--stop"]);
  }
  expect((await recording).code).toBe(0);
  expect(readFileSync(settings, "utf8")).toBe('{"theme":"dark"}\n');
  expect((await run(["agents", "record", "my-agent", "--stop"])).stderr).toContain("No recording of my-agent");
  const directory = recordingIn(place.path);
  const made = await run(["agents", "new", "my-agent", "--from", directory]);
  expect(made.stdout).toContain("UserPromptSubmit → TurnStart");
  expect(made.stdout).toContain("~/.my-agent/projects/{project}/chats/{session}.jsonl (jsonl)");
  expect(made.stdout).toContain("? resume: a guess");
  expect((await run(["agents", "new", "my-agent", "--from", directory])).code).not.toBe(0);
  const checked = await run(["agents", "check", "my-agent"]);
  expect(checked.stdout).toContain("rules.0 prompt       T1 write a.txt");
  expect(checked.stdout).toContain("Not proven: that the agent finds a fork.");
  expect(checked.stdout).not.toContain("is proven by");
  expect(checked.code).toBe(0);
});

interface Settings {
  hooks?: Record<string, { hooks: { command: string }[] }[]>;
}

/** Waits until the recording has put its hooks there. */
async function hooksIn(file: string): Promise<NonNullable<Settings["hooks"]>> {
  for (let tries = 0; tries < 600; tries++) {
    const { hooks } = JSON.parse(readFileSync(file, "utf8")) as Settings;
    if (hooks && existsSync(recordingsOf(file))) return hooks;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The hooks never came.");
}

function recordingsOf(settings: string): string {
  const home = join(settings, "..", "..");
  const found = readdirSync(home, { recursive: true }).map(String);
  return join(home, found.find((name) => name.endsWith("my-agent/active.json")) ?? "nowhere");
}

function recordingIn(home: string): string {
  const files = readdirSync(home, { recursive: true }).map(String);
  const found = files.find((name) => /recordings\/my-agent\/[^/]+\/recording\.json$/.test(name)) ?? "nowhere";
  return join(home, found, "..");
}
