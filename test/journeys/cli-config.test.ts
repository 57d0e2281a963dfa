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

test("a local file that git tracks cannot start programs", async () => {
  using repository = temporaryRepository();
  repository.write(".backtrail/settings.local.json", JSON.stringify({ summarise: { agent: "evil" }, tier: "minimal" }));
  const get = (key: string) => repository.run(["config", "get", key]);
  expect((await get("summarise.agent")).stdout).toBe("evil\n");
  repository.commit("somebody committed it");
  expect((await get("summarise.agent")).code).toBe(3);
  expect((await get("tier")).stdout).toBe("minimal\n");
});

test("outside of any repository the user's own file is meant", async () => {
  using folder = temporaryFolder();
  await folder.run(["config", "set", "tier", "minimal"]);
  expect(await folder.json(["config", "get", "tier"])).toMatchObject({ value: "minimal", layer: "user" });
  expect((await folder.run(["config", "set", "--local", "tier", "minimal"])).code).toBe(2);
});

test("a tier that there is not is said at once", async () => {
  using repository = temporaryRepository();
  const mistyped = await repository.run(["config", "set", "tier", "agressive"]);
  expect([mistyped.code, mistyped.stderr]).toEqual([0, expect.stringContaining('there is no tier "agressive"')]);
  await repository.run(["config", "set", "tiers.mine", '{"rules":[{"on":"TurnEnd"}]}']);
  expect((await repository.run(["config", "set", "tier", "mine"])).stderr).not.toContain("warning");
});
