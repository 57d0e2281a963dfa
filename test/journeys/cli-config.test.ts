/** Settings in their layers, changed by hand and by command. */
import { expect, test } from "bun:test";
import { Story, temporaryFolder, temporaryRepository } from "../support/index.ts";

test("settings are set, shown with their origin, and taken out", async () => {
  using repository = temporaryRepository();
  repository.write(".backtrail/settings.json", JSON.stringify({ tier: "minimal", teir: "x", push: { enabled: true } }));
  repository.commit("shared settings");
  const story = new Story(repository);
  await story.run(["config", "list", "--changed"]);
  await story.run(["config", "set", "tier", "aggressive"]);
  expect(repository.git("status", "--porcelain")).toBe("");
  await story.run(["config", "get", "tier"]);
  await story.run(["config", "set", "--user", "retention.max_size", "5 GB"]);
  await story.run(["config", "set", "--user", "tier", "balanced"]);
  await story.run(["config", "set", "--project", "summarise.agent", "claude-code"]);
  await story.run(["config", "set", "retention.days", "soon"]);
  await story.run(["config", "set", "max_file_size", "1 MB"]);
  await story.run(["config", "set", "run.agents.claude.args", '["--verbose"]']);
  await story.run(["config", "list", "--changed"]);
  await story.run(["config", "list", "--changed"], { env: { BACKTRAIL_TIER: "balanced" } });
  await story.run(["config", "unset", "tier"]);
  await story.run(["config", "unset", "tier"]);
  await story.run(["config", "get", "agent"]);
  await story.run(["config", "get", "tier", "--json"]);
  expect(story.toString()).toMatchSnapshot();
});

test("what a repository asks for in vain is named, shown and accepted", async () => {
  using repository = temporaryRepository();
  const wishes = { summarise: { agent: "claude" }, retention: { max_size: "5 GB" }, tier: "minimal" };
  repository.write(".backtrail/settings.local.json", JSON.stringify(wishes));
  repository.write(".backtrail/settings.json", JSON.stringify({ retention: { max_size: "1 MB", days: 1 } }));
  const get = async (key: string) => (await repository.run(["config", "get", key])).stdout.trim();
  expect(await get("summarise.agent")).toBe("");
  expect(await get("tier")).toBe("minimal");
  const story = new Story(repository);
  await story.run(["config", "trust", "--dry-run"]);
  await story.run(["config", "trust"]);
  await story.run(["config", "trust", "summarise.agent", "--yes"]);
  await story.run(["config", "list", "--changed"]);
  await story.run(["config", "trust", "--yes", "--json"]);
  await story.run(["config", "trust", "--yes"]);
  await story.run(["config", "set", "--project", "retention.days", "90"]);
  expect(story.toString()).toMatchSnapshot();
  expect(await get("retention.max_size")).toBe("5000000000");
  repository.write(".backtrail/settings.local.json", JSON.stringify({ summarise: { agent: "evil" } }));
  expect(await get("summarise.agent")).toBe("claude");
});

test("a setting that was written by hand is taken out where it is", async () => {
  using repository = temporaryRepository();
  repository.write(".backtrail/settings.local.json", JSON.stringify({ default_agent: "codex" }));
  expect((await repository.run(["config", "unset", "default_agent"])).code).toBe(0);
  expect(repository.exists(".backtrail/settings.local.json")).toBe(false);
});

test("outside of a repository, the user's settings are changed", async () => {
  using folder = temporaryFolder();
  await folder.run(["config", "set", "tier", "minimal"]);
  expect(await folder.json(["config", "get", "tier"])).toMatchObject({ value: "minimal", layer: "user" });
  expect((await folder.run(["config", "set", "--local", "tier", "minimal"])).code).toBe(2);
});

test("a tier that does not exist is refused", async () => {
  using repository = temporaryRepository();
  const mistyped = await repository.run(["config", "set", "tier", "agressive"]);
  expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining('there is no tier "agressive"')]);
  expect(await repository.json(["config", "get", "tier"])).toMatchObject({ value: "balanced" });
  await repository.run(["config", "set", "tiers.mine", '{"rules":[{"on":"TurnEnd"}]}']);
  expect((await repository.run(["config", "set", "tier", "mine"])).stderr).not.toContain("warning");
});
