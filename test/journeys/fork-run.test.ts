/** Starting the agent right away: the command that is printed, without a shell, in the place that it names. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { write } from "../support/index.ts";
import { Attempts } from "./forks.ts";

/** A program that notes where it was started and with which words, and ends with 7. */
function witness(attempts: Attempts, name: string): { PATH: string; seen(): string[] } {
  const bin = join(attempts.repository.home, "bin");
  const file = join(attempts.repository.home, `${name}.seen`);
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\n{ pwd; for word in "$@"; do printf '%s\\0' "$word"; done; } > '${file}'\nexit 7\n`;
  writeFileSync(join(bin, name), script);
  chmodSync(join(bin, name), 0o755);
  return {
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    seen() {
      const [place = "", ...words] = readFileSync(file, "utf8").split("\n");
      return [place, ...words.join("\n").split("\0").slice(0, -1)];
    },
  };
}

test("fork --run starts it in the fork and ends as the agent ends", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  await agent.turn("Second", [write("a.txt", "2\n")]);
  const { PATH, seen } = witness(attempts, "claude");
  const directory = join(repository.home, "it's a place");
  const ran = await repository.run(["fork", "1", "--directory", directory, "--run"], { env: { PATH } });
  expect(ran.code).toBe(7);
  expect(seen()).toEqual([directory, "--resume", /--resume (\S+)/.exec(ran.stdout)?.[1] ?? ""]);
});

test("resume --agent --run gives the whole text as one word", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn('It\'s $HOME; `touch x` && "this"', [write("a.txt", "1\n")], "Done, $(touch y).");
  const { PATH, seen } = witness(attempts, "codex");
  const ran = await repository.run(["resume", "last", "--agent", "codex", "--run"], { env: { PATH } });
  expect(ran.code).toBe(7);
  const [place, text = "", ...more] = seen();
  expect([place, ...more]).toEqual([repository.path]);
  expect(text).toContain('It\'s $HOME; `touch x` && "this"');
  expect(text).toContain("Done, $(touch y).");
});

test("a missing agent is reported, and the conversation is there anyway", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const git = Bun.which("git") ?? "";
  const ran = await repository.run(["resume", "last", "--run"], { env: { PATH: join(git, "..") } });
  // Where git and the agent lie in one directory there is nothing to see.
  if (Bun.which("claude", { PATH: join(git, "..") }) !== null) return;
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("claude was not found in PATH");
  expect(ran.stdout).toContain(`claude --resume ${agent.session}`);
});
