/** A payload may name any file as its transcript; only what lies where the agent keeps transcripts is read. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PACKAGED } from "../../src/agents/registry/packaged.ts";
import { getPackaged } from "../../src/agents/registry/registry.ts";
import { mayRead, transcriptDirectories } from "../../src/agents/registry/transcript-paths.ts";
import { type TemporaryRepository, temporaryDirectory, temporaryRepository } from "../support/index.ts";

const SECRET = "DIARY-LINE private";
const SESSION = "11111111-1111-4111-8111-111111111111";

function diary(): string {
  const line = { type: "user", uuid: "u1", sessionId: SESSION, message: { role: "user", content: SECRET } };
  return `${SECRET}\n${JSON.stringify(line)}\n`;
}

function put(path: string, text = diary()): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function recorded(repository: TemporaryRepository, agent: string, transcript: string, more = {}): Promise<void> {
  const payload = { session_id: SESSION, transcript_path: transcript, cwd: repository.path, prompt: "x", ...more };
  const env = { BACKTRAIL_WORKER: "off" };
  const tell = (event: string, verb: string) =>
    repository.hook(agent, verb, { ...payload, hook_event_name: event }, { env });
  await tell("SessionStart", "session-start");
  await tell("UserPromptSubmit", "user-prompt-submit");
  repository.write("n.txt", `${Math.random()}\n`);
  await tell("Stop", "stop");
}

/** Wherever it could have been copied to: objects, and every file of the store. */
function isKept(repository: TemporaryRepository): boolean {
  const objects = repository.git("cat-file", "--batch-all-objects", "--batch", "--unordered");
  const files = [repository.at(".git/backtrail"), join(repository.home, "backtrail")]
    .flatMap((place) => readdirSync(place, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile());
  return objects.includes(SECRET) || files.some((f) => readFileSync(join(f.parentPath, f.name)).includes(SECRET));
}

async function enabled(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
  return repository;
}

test("a private file is not read, the code is recorded, and doctor says why", async () => {
  for (const agent of ["claude-code", "codex", "factoryai-droid", "somebody-else"]) {
    using repository = await enabled();
    await recorded(repository, agent, put(join(repository.home, "private", "diary.txt")));
    const { steps } = await repository.json<{ steps: { hasTranscript: boolean }[] }>(["log"]);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.some(({ hasTranscript }) => hasTranscript)).toBe(false);
    expect(isKept(repository)).toBe(false);
    const { stdout } = await repository.run(["doctor", "--json"]);
    expect(stdout).toContain("keeps transcripts: not read, only code is recorded");
  }
});

test("neither through a link in the agent's own directory, nor by dots, nor as a subagent's transcript", async () => {
  using repository = await enabled();
  const secret = put(join(repository.home, "private", "diary.txt"));
  const projects = join(repository.home, ".claude", "projects");
  mkdirSync(join(projects, "x"), { recursive: true });
  symlinkSync(secret, join(projects, "x", "link.jsonl"));
  symlinkSync(dirname(secret), join(projects, "directory"));
  const named = ["x/link.jsonl", "directory/diary.txt", "../../private/diary.txt", "x/../../../private/diary.txt"];
  for (const path of named) await recorded(repository, "claude-code", `${projects}/${path}`);
  const subagent = { agent_id: "a1", agent_type: "t", agent_transcript_path: secret };
  const payload = { session_id: SESSION, cwd: repository.path, hook_event_name: "SubagentStop", ...subagent };
  await repository.hook("claude-code", "subagent-stop", payload, { env: { BACKTRAIL_WORKER: "off" } });
  expect(isKept(repository)).toBe(false);
});

test("where the agent keeps them, where a variable moves them, and where the user says, they are read", async () => {
  for (const place of ["usual", "linked", "moved", "chosen"] as const) {
    using repository = await enabled();
    const directory = join(
      repository.home,
      place === "chosen" ? "mine" : place === "moved" ? "config/projects" : ".claude/projects",
    );
    if (place === "linked") {
      mkdirSync(join(repository.home, "dotfiles"));
      symlinkSync("dotfiles", join(repository.home, ".claude"));
    }
    const path = put(join(directory, "any", `${SESSION}.jsonl`));
    if (place === "chosen") await repository.run(["config", "set", "transcript_paths", "~/mine"]);
    const env = place === "moved" ? { CLAUDE_CONFIG_DIR: join(repository.home, "config") } : {};
    const payload = { session_id: SESSION, transcript_path: path, cwd: repository.path, prompt: "x" };
    for (const [event, verb] of [
      ["UserPromptSubmit", "user-prompt-submit"],
      ["Stop", "stop"],
    ] as const) {
      repository.write("n.txt", `${event}\n`);
      await repository.hook("claude-code", verb, { ...payload, hook_event_name: event }, { env });
    }
    const { steps } = await repository.json<{ steps: { hasTranscript: boolean }[] }>(["log"]);
    expect({ place, read: steps.some(({ hasTranscript }) => hasTranscript) }).toEqual({ place, read: true });
  }
});

test("a repository can't choose the place", async () => {
  using repository = await enabled();
  repository.write(
    ".backtrail/settings.json",
    JSON.stringify({ transcript_paths: ["/"], transcript_path: "/etc/passwd" }),
  );
  await recorded(repository, "claude-code", put(join(repository.home, "private", "diary.txt")));
  expect(isKept(repository)).toBe(false);
});

test("every agent with transcripts has its own directory for them, which its environment variables move", async () => {
  using place = temporaryDirectory();
  for (const id of Object.keys(PACKAGED)) {
    const { profile } = await getPackaged(id);
    if (!profile.transcript) continue;
    const env = { HOME: place.at("home") };
    const allowed = { profiles: [profile], storeDir: place.at("store"), more: [] };
    const usual = place.at("home", profile.transcript.directory);
    expect({ id, usual: transcriptDirectories(profile, env) }).toEqual({ id, usual: [usual] });
    expect(mayRead(join(usual, "a", "b.jsonl"), allowed, env)).toBe(true);
    expect(mayRead(usual, allowed, env)).toBe(false);
    expect(mayRead(place.at("home", "b.jsonl"), allowed, env)).toBe(false);
    expect(mayRead(place.at("store", "opencode", "b.jsonl"), allowed, env)).toBe(id === "opencode");
    for (const { env: name, path } of profile.transcript.moved_by ?? []) {
      const moved = { ...env, [name]: place.at("elsewhere") };
      expect(mayRead(place.at("elsewhere", path, "b.jsonl"), allowed, moved)).toBe(true);
      expect(mayRead(place.at("elsewhere", path, "b.jsonl"), allowed, env)).toBe(false);
    }
  }
});
