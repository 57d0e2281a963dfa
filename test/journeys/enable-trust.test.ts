/** `enable --trust`: the user's word for agents that want hooks reviewed, and what it comes to for the others. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

function codexSettings({ home }: TemporaryRepository, content: string): string {
  mkdirSync(join(home, ".codex"));
  const path = join(home, ".codex", "config.toml");
  writeFileSync(path, content);
  return path;
}

test("the answer is written for Codex, goes with disable, and the others are explained", async () => {
  using repository = temporaryRepository();
  const path = codexSettings(repository, 'model = "gpt-6-sol" # mine');
  const agents = ["--agent", "codex", "--agent", "claude-code", "--agent", "gemini"];
  const enabled = await repository.run(["enable", ...agents, "--trust"]);
  expect(enabled.code).toBe(0);
  expect(enabled.stderr).toContain("Codex: these hooks count as reviewed by you");
  expect(enabled.stderr).toContain("Claude Code does not review hooks, so --trust has no effect.");
  expect(enabled.stderr).toContain("Gemini CLI: --trust can't answer that for you.");
  expect(readFileSync(path, "utf8")).toContain(`[projects."${repository.at()}"] # backtrail enable --trust`);
  expect(repository.git("status", "--porcelain")).toBe("");

  expect((await repository.run(["disable", "--yes"])).code).toBe(0);
  expect(readFileSync(path, "utf8")).toBe('model = "gpt-6-sol" # mine');
});

test("if Codex's settings can't be edited, the hooks are installed, the reason is shown, and the command fails", async () => {
  using repository = temporaryRepository();
  const path = codexSettings(repository, "model = \n");
  const enabled = await repository.run(["enable", "--agent", "codex", "--trust"]);
  expect(enabled.code).not.toBe(0);
  expect(enabled.stderr).toContain("config.toml was left as it is: it is not valid TOML");
  expect(enabled.stderr).toContain("new hooks wait for your review");
  expect(existsSync(repository.at(".codex", "hooks.json"))).toBe(true);
  expect((await repository.run(["disable", "--yes"])).code).toBe(0);
  expect(existsSync(repository.at(".codex"))).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("model = \n");
});
