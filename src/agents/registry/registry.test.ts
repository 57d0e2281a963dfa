import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Profile } from "../contract/profile.ts";
import {
  capabilitiesOf,
  findAgentByName,
  getAgent,
  getPackaged,
  listAgents,
  requireAgent,
  unknownAgent,
  userAgentsDirectory,
} from "./registry.ts";
import { acceptProfile, offeredProfiles } from "./repository-profiles.ts";

let root: string;
const before = process.env["BACKTRAIL_HOME"];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "registry-"));
  process.env["BACKTRAIL_HOME"] = join(root, "home");
});

afterEach(() => {
  if (before === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = before;
  rmSync(root, { recursive: true, force: true });
});

const common: Profile = {
  v: 1,
  id: "mine",
  display_name: "Mine",
  detection: { min_score: 1, score_rules: [] },
  hooks: {
    settings: {},
    install: { Stop: { verb: "stop" } },
    fields: { session_id: ["$.id"] },
    events: { Stop: "TurnEnd" },
    tools: {},
  },
  protected_dirs: [],
  tested_versions: [],
};

function put(directory: string, name: string, content: unknown): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

test("Claude Code is packaged with everything", async () => {
  const agent = await requireAgent("claude");
  expect(agent.profile.id).toBe("claude-code");
  expect(capabilitiesOf(agent)).toMatchObject({ hooks: true, chat: true, tokens: true, rewind: true });
});

test("a profile in the user's directory is an agent", async () => {
  put(userAgentsDirectory(), "mine.json", common);
  const agent = await getAgent("mine");
  const context = {
    agent: "mine",
    cwd: "/",
    projectRoot: null,
    transcriptPath: null,
    sessionId: "7",
    envFile: null,
    pid: null,
  };
  const envelope = {
    event: "stop",
    sessionId: null,
    cwd: null,
    transcriptPath: null,
    toolName: null,
    toolInput: null,
    raw: {},
  };
  expect(agent?.toEvent(envelope, context)).toMatchObject({ type: "TurnEnd", sessionId: "7" });
  expect(capabilitiesOf(await requireAgent("mine"))).toEqual({
    hooks: true,
    chat: false,
    tokens: false,
    rewind: false,
    run: false,
  });
  expect((await listAgents()).map((each) => each.profile.id)).toContain("mine");
});

test("a user's profile overrides a packaged one and keeps its adapter", async () => {
  const packaged = (await requireAgent("claude-code")).profile;
  put(userAgentsDirectory(), "claude-code.json", { ...packaged, display_name: "Ours" });
  const agent = await requireAgent("claude-code");
  expect(agent.profile.display_name).toBe("Ours");
  expect(agent.forker).toBeDefined();
});

test("a broken profile is as if it were not there", async () => {
  put(userAgentsDirectory(), "torn.json", '{"v":1,"id":"to');
  put(userAgentsDirectory(), "other.json", common);
  put(userAgentsDirectory(), "claude-code.json", { ...common, id: "claude-code", hooks: { fields: 1 } });
  expect(await getAgent("torn")).toBeUndefined();
  expect(await getAgent("other")).toBeUndefined();
  expect((await requireAgent("claude-code")).profile.display_name).toBe("Claude Code");
});

test("an id is never taken for a path", async () => {
  put(join(userAgentsDirectory(), ".."), "escaped.json", { ...common, id: "escaped" });
  for (const id of ["../escaped", "escaped/", "..", "", "__proto__", "constructor", "A"]) {
    expect(await getAgent(id)).toBeUndefined();
  }
});

test("what a person mistypes is answered with what there is", async () => {
  await expect(requireAgent("cluade-code")).rejects.toThrow('There is no agent "cluade-code".');
  await expect(requireAgent("cluade-code")).rejects.toMatchObject({ kind: "usage", hint: "Did you mean claude-code?" });
});

test("a repository's profile counts only as the copy that was accepted", async () => {
  const place = { root: join(root, "repo"), storeDir: join(root, "repo", ".git", "backtrail") };
  const file = join(place.root, ".backtrail", "agents", "mine.json");
  put(dirname(file), "mine.json", common);
  expect(await getAgent("mine", place)).toBeUndefined();
  expect(offeredProfiles(place)).toEqual([{ id: "mine", file }]);
  await acceptProfile(place, { id: "mine", file });
  expect(offeredProfiles(place)).toEqual([]);
  expect((await getAgent("mine", place))?.profile.display_name).toBe(common.display_name);
  expect(await getAgent("mine")).toBeUndefined();

  put(dirname(file), "mine.json", { ...common, display_name: "Changed since" });
  expect((await getAgent("mine", place))?.profile.display_name).toBe(common.display_name);
  expect(offeredProfiles(place)).toEqual([{ id: "mine", file }]);
});

test("a profile with another name, a link and an invalid profile are not accepted", async () => {
  const place = { root: join(root, "repo"), storeDir: join(root, "repo", ".git", "backtrail") };
  const agents = join(place.root, ".backtrail", "agents");
  put(join(place.root, "elsewhere"), "mine.json", common);
  mkdirSync(dirname(agents), { recursive: true });
  symlinkSync("../elsewhere", agents);
  expect(offeredProfiles(place)).toEqual([]);
  rmSync(agents);
  mkdirSync(agents);
  symlinkSync("../../elsewhere/mine.json", join(agents, "mine.json"));
  put(agents, "other.json", common);
  const file = join(agents, "other.json");
  expect(offeredProfiles(place)).toEqual([{ id: "other", file }]);
  await expect(acceptProfile(place, { id: "other", file })).rejects.toThrow("no profile");
  put(agents, "other.json", { ...common, id: "other", protected_dirs: ["../.."] });
  await expect(acceptProfile(place, { id: "other", file })).rejects.toThrow(
    "protected_dirs.0: must be a relative path",
  );
});

test("an unknown agent can nothing but be recorded", () => {
  expect(Object.values(capabilitiesOf(unknownAgent())).some(Boolean)).toBe(false);
});

test("a user's profile is read again once its file has changed", async () => {
  mkdirSync(userAgentsDirectory(), { recursive: true });
  const file = join(userAgentsDirectory(), "mine.json");
  for (const name of ["One", "Two"]) {
    writeFileSync(file, JSON.stringify({ ...common, display_name: name }));
    const first = await getAgent("mine");
    // Just written, it might be written again unseen.
    expect((await getAgent("mine"))?.profile).not.toBe(first?.profile as Profile);
    expect(first?.profile.display_name).toBe(name);
  }
  for (const minutes of [2, 1]) {
    const time = Date.now() / 1000 - minutes * 60;
    utimesSync(file, time, time);
    const first = await getAgent("mine");
    expect((await getAgent("mine"))?.profile).toBe(first?.profile as Profile);
  }
  rmSync(file);
  expect(await getAgent("mine")).toBeUndefined();
});

test("agents are called as the checkpoint format calls them, and by names that earlier versions wrote", async () => {
  const names: Record<string, string[]> = {
    "claude-code": ["Claude Code"],
    codex: ["Codex"],
    "copilot-cli": ["Copilot CLI", "GitHub Copilot CLI"],
    cursor: ["Cursor"],
    "factoryai-droid": ["Factory AI Droid", "Factory Droid"],
    gemini: ["Gemini CLI"],
    opencode: ["OpenCode"],
    pi: ["Pi"],
  };
  for (const [id, [name = "", ...former]] of Object.entries(names)) {
    expect((await getPackaged(id)).profile.display_name).toBe(name);
    for (const each of [id, name, ...former]) expect((await findAgentByName(each))?.profile.id).toBe(id);
  }
});
