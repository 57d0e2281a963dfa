/** Files of ours that a crash, a full disk or a person left broken: the next turn is recorded all the same. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harmless, Recording } from "../support/recording.ts";

const BROKEN: [name: string, content: string | Uint8Array][] = [
  ["is empty", ""],
  ["holds zeros, as after a power cut", new Uint8Array(4096)],
  ["is cut off", '{"v":1,"revision":'],
  ["is of no use", "null"],
  ["is a list", "[]"],
  ["has nothing but a version", '{"v":1}\n'],
  ["has fields of the wrong kind", wrongFields()],
  ["is from the future", '{"v":99,"everything":"different"}\n'],
  ["is a directory", "directory"],
];

const TOGETHER: [name: string, files: string[]][] = [
  ["a session's state", ["session"]],
  ["caches", ["snapshot.json", "git-facts.json"]],
  ["lists and settings", ["store.json", "steps.jsonl", "settings.json", "settings", "config"]],
];

describe.each(TOGETHER)("%s:", (_what, files) => {
  test.each(BROKEN)("%s", async (_name, content) => {
    using recording = await Recording.begin();
    const { repository } = recording;
    await recording.prompt("one");
    repository.write("a.txt", "first\n");
    harmless(await recording.hook("Stop", recording.answer("Done with one.")));
    const before = recording.heldSteps();
    expect(before.length).toBe(2);

    for (const which of files) damage(fileOf(recording, which), content);
    await recording.prompt("two");
    repository.write("b.txt", "second\n");
    harmless(await recording.hook("PreToolUse", { tool_name: "Bash", tool_input: { command: "rm b.txt" } }));
    harmless(await recording.hook("Stop", recording.answer("Done with two.")));
    harmless(await recording.hook("SessionEnd", { reason: "other" }));

    const held = recording.heldSteps();
    expect(held).toEqual(expect.arrayContaining(before));
    expect(held.length).toBe(5);
    const after = heldFiles(recording);
    expect(after).toContainEqual(["README.md", "a.txt"]);
    expect(after).toContainEqual(["README.md", "a.txt", "b.txt"]);
    repository.git("fsck", "--full", "--strict", "--no-dangling");
  });
});

/** A list of steps is only ever appended to: no crash makes it a directory. */
function damage(file: string, content: string | Uint8Array): void {
  if (content === "directory" && file.endsWith(".jsonl")) return;
  // The version that is in use: another one is not read at all.
  const version = existsSync(file) ? /^\{"v":\d+/.exec(readFileSync(file, "utf8"))?.[0] : undefined;
  rmSync(file, { force: true });
  if (content === "directory") mkdirSync(file);
  else writeFileSync(file, typeof content === "string" ? content.replace('{"v":1', version ?? '{"v":1') : content);
}

function fileOf(recording: Recording, which: string): string {
  const { repository, store } = recording;
  switch (which) {
    case "session": {
      const [name = ""] = readdirSync(join(store, "sessions")).filter((entry) => entry.endsWith(".json"));
      return join(store, "sessions", name);
    }
    case "snapshot.json":
    case "git-facts.json":
      return join(store, "worktrees", "main", which);
    case "settings":
      mkdirSync(repository.at(".backtrail"), { recursive: true });
      repository.write(".git/info/exclude", ".backtrail/\n.claude/\n");
      return repository.at(".backtrail", "settings.local.json");
    case "config":
      mkdirSync(join(repository.home, "backtrail", "config"), { recursive: true });
      return join(repository.home, "backtrail", "config", "config.json");
    default:
      return join(store, which);
  }
}

/** What each held step's work tree lists. */
function heldFiles(recording: Recording): string[][] {
  const { repository } = recording;
  const ref = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions");
  const directories = repository.git("ls-tree", "-r", "-d", "--name-only", ref, "steps/").split("\n");
  return directories
    .filter((path) => /^steps\/[^/]+\/[k-z]{12}\/work$/.test(path))
    .map((path) => repository.git("ls-tree", "-r", "--name-only", `${ref}:${path}`).split("\n"));
}

/** A record of every kind at once, with nothing in it as it should be. */
function wrongFields(): string {
  const names = ["agents", "enabledAt", "revision", "agent", "id", "phase", "turn", "steps", "metadata", "transcript"];
  names.push("lastStep", "openTurn", "announcedTasks", "openTasks", "process", "updatedAt", "savedAt", "key", "result");
  names.push(
    "files",
    "base",
    "trees",
    "sources",
    "facts",
    "tier",
    "tiers",
    "capture",
    "deleted",
    "snapshot",
    "worktree",
  );
  return `${JSON.stringify({ v: 1, ...Object.fromEntries(names.map((name) => [name, 7])) })}\n`;
}
