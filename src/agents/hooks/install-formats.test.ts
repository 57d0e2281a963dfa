import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { profile as claude, Sandbox } from "../../../test/edit/sandbox.ts";
import type { HooksSection, Profile } from "../contract/profile.ts";
import { type Installable, inspect, install, uninstall } from "./install.ts";

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

type SettingsFormat = "claude-settings" | "gemini-settings" | "cursor-hooks" | "named-hooks" | "own-file";

function agentWith(format: SettingsFormat, path: string, hooks: Partial<HooksSection> = {}): Installable {
  const settings = { local: { path, format }, project: { path, format }, user: { path, format } };
  const base = claude.hooks as HooksSection;
  const profile: Profile = {
    ...claude,
    id: "sample",
    display_name: "Sample",
    hooks: { ...base, settings, install: { stop: { verb: "stop", timeout: 5 } }, ...hooks },
  };
  return { profile, hookFile: { content: (command) => `run(${JSON.stringify(command("stop"))})\n` } };
}

for (const format of ["claude-settings", "gemini-settings", "cursor-hooks", "named-hooks", "own-file"] as const) {
  test(`${format}: in, seen, idempotent, out without a trace`, async () => {
    const agent = agentWith(format, ".sample/place/hooks.json");
    const report = await install(agent, "local", box.options);
    const file = join(box.root, ".sample", "place", "hooks.json");
    expect(report.files[0]).toEqual({ file, action: "created" });
    expect(readFileSync(file, "utf8")).toContain("hooks sample stop");
    expect(box.status()).toBe("");
    expect((await install(agent, "local", box.options)).files[0]?.action).toBe("unchanged");
    expect(inspect(agent, "local", box.options).state).toBe("installed");
    const moved = { ...box.options, executable: join(box.base, "elsewhere", "backtrail") };
    expect(inspect(agent, "local", moved).state).toBe("outdated");
    expect((await install(agent, "local", moved)).files[0]?.action).toBe("updated");
    await uninstall(agent, "local", moved);
    expect(existsSync(join(box.root, ".sample"))).toBe(false);
    expect(box.status()).toBe("");
  });
}

describe("a file of its own", () => {
  const path = ".sample/backtrail.js";

  test("another tool's file of that name stays, and the message says so", async () => {
    const file = join(box.root, path);
    box.put(file, "// mine\n");
    const excludeBefore = readFileSync(box.excludeFile);
    await expect(install(agentWith("own-file", path), "local", box.options)).rejects.toThrow("is not Backtrail's");
    await uninstall(agentWith("own-file", path), "local", box.options);
    expect(readFileSync(file, "utf8")).toBe("// mine\n");
    expect(readFileSync(box.excludeFile)).toEqual(excludeBefore);
  });

  test("the shared one finds each colleague's own Backtrail", async () => {
    await install(agentWith("own-file", path), "project", box.options);
    expect(readFileSync(join(box.root, path), "utf8")).toContain("command -v backtrail");
  });

  test("without code that writes it there is nothing to install", async () => {
    const { profile } = agentWith("own-file", path);
    await expect(install({ profile }, "local", box.options)).rejects.toThrow("doesn't say what its hook file contains");
    expect(inspect({ profile }, "local", box.options).problem).toContain("doesn't say what its hook file contains");
  });
});

test("an agent that requires a review is reported", async () => {
  const agent = agentWith("claude-settings", ".sample/hooks.json", { review: "asks before it runs new hooks." });
  expect((await install(agent, "local", box.options)).notes).toEqual(["Sample: asks before it runs new hooks."]);
});
