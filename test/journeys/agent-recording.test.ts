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

test("hooks in TOML under the agent's own keys are recorded, and proposed with them", async () => {
  using place = temporaryDirectory();
  const home = place.at("home");
  const cwd = join(home, "project");
  const settings = join(home, ".my-agent", "hooks.toml");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(join(home, ".my-agent"));
  const env = cleanEnvironment(home);
  const run = (args: string[]) => runProgram(executable(), ["agents", ...args], { cwd, env, timeout: 120_000 });
  const wrong = await run(["record", "my-agent", "--hooks", settings, "--keys", "kind=type"]);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain('"kind=type" names no key of a hook.');
  const keys = ["--keys", "event=type,name=title", "--events", "post_agent"];
  const recording = run(["record", "my-agent", "--hooks", settings, ...keys, "--json"]);
  try {
    const command = await until(() => {
      if (!existsSync(settings) || !existsSync(recordingsOf(settings))) return undefined;
      const hooks = Bun.TOML.parse(readFileSync(settings, "utf8")) as { hooks?: Record<string, string>[] };
      expect(hooks.hooks).toEqual([
        { title: "backtrail-record-post_agent", type: "post_agent", command: expect.any(String) },
      ]);
      return hooks.hooks?.[0]?.["command"];
    });
    const input = JSON.stringify({ hook_event_name: "post_agent", session_id: session, cwd });
    expect(await runProgram("/bin/sh", ["-c", command], { cwd, env, input })).toMatchObject({ code: 0, stderr: "" });
  } finally {
    await run(["record", "my-agent", "--stop"]);
  }
  expect((await recording).code).toBe(0);
  expect(existsSync(settings)).toBe(false);
  expect((await run(["new", "my-agent", "--from", recordingIn(place.path)])).code).toBe(0);
  const files = readdirSync(home, { recursive: true }).map(String);
  const profile = join(home, files.find((name) => name.endsWith("config/agents/my-agent.json")) ?? "nowhere");
  const proposed = JSON.parse(readFileSync(profile, "utf8")) as { hooks: object };
  expect(proposed.hooks).toMatchObject({
    settings: {
      user: { path: ".my-agent/hooks.toml", format: "toml-hooks", names: { event: "type", name: "title" } },
    },
    events: { post_agent: "TurnEnd" },
  });
});

interface Settings {
  hooks?: Record<string, { hooks: { command: string }[] }[]>;
}

/** Waits until the recording has put its hooks there. */
async function hooksIn(file: string): Promise<NonNullable<Settings["hooks"]>> {
  return until(() => {
    const { hooks } = JSON.parse(readFileSync(file, "utf8")) as Settings;
    return existsSync(recordingsOf(file)) ? hooks : undefined;
  });
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    const found = look();
    if (found !== undefined) return found;
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
