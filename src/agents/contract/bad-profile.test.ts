/** What a wrong or hostile profile is told, and what it can't do. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { faultyProfiles } from "../authoring/faults.ts";
import qwen from "../builtin/qwen/profile.json";
import { describedAgent } from "../generic/agent.ts";
import { findTranscript, isSessionId, placeOf } from "../generic/place.ts";
import { templateHookFile } from "../hooks/file.ts";
import { holds } from "../registry/conditions.ts";
import { loadEngineFor, matches } from "../registry/regex.ts";
import { brokenProfiles, getAgent, isOverridden, requireAgent, userAgentsDirectory } from "../registry/registry.ts";
import { transcriptDirectories } from "../registry/transcript-paths.ts";
import type { Profile } from "./profile.ts";
import { problemsOf } from "./schema.ts";

let home: string;
const before = process.env["BACKTRAIL_HOME"];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "bad-profile-"));
  process.env["BACKTRAIL_HOME"] = home;
  mkdirSync(userAgentsDirectory(), { recursive: true });
});
afterEach(() => {
  if (before === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = before;
  rmSync(home, { recursive: true, force: true });
});

function put(id: string, profile: unknown): void {
  writeFileSync(join(userAgentsDirectory(), `${id}.json`), JSON.stringify(profile));
}

test("an unknown key is named with the closest known key", () => {
  expect(problemsOf({ ...qwen, exectuable: "qwen" })).toEqual(["exectuable: unknown key; did you mean executable?"]);
  const hooks = { ...qwen.hooks, contextreply: "context" };
  expect(problemsOf({ ...qwen, hooks })[0]).toStartWith("hooks.contextreply: unknown key; did you mean context_reply?");
});

test("a missing key says which, with an example", () => {
  const { display_name: _, ...rest } = qwen;
  expect(problemsOf(rest)).toEqual(['display_name: missing; for example "display_name": "Qwen Code"']);
});

test("a profile that is nested without end is refused before it is compared with anything", () => {
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  expect(problemsOf({ ...qwen, display_name: { length: deep } })).toEqual(["the file: nested too deeply"]);
});

test("a value of the wrong kind says what it must be, with an example", () => {
  const hooks = { ...qwen.hooks, events: { ...qwen.hooks.events, Stop: "Halt" } };
  expect(problemsOf({ ...qwen, hooks })[0]).toStartWith('hooks.events.Stop: expected "SessionStart", "TurnStart"');
  const user = { path: ".x/y.yaml", format: "yaml" };
  expect(problemsOf({ ...qwen, hooks: { ...qwen.hooks, settings: { user } } })[0]).toStartWith(
    'hooks.settings.user.format: expected "claude-settings"',
  );
  expect(problemsOf({ ...qwen, resume: "qwen --resume {session}" })).toEqual([
    'resume: expected array, received string; for example "resume": ["qwen","--resume","{session}"]',
  ]);
});

test("a profile that is used although something in it is wrong is known", async () => {
  put("odd", { ...qwen, id: "odd", exectuable: "x" });
  put("good", { ...qwen, id: "good", $schema: undefined });
  put("endless", { v: 2, id: "endless", like: "endless" });
  expect(await faultyProfiles(["odd", "good", "endless", "qwen"])).toEqual(["odd"]);
});

test("no path leaves the agent's directory, whatever the project and the session are called", () => {
  for (const place of ["../{session}", "/etc/{session}", "a/../{session}", "{home}/{session}", "a/./{session}"]) {
    expect(problemsOf({ ...qwen, transcript: { ...qwen.transcript, place } })).not.toEqual([]);
  }
  const transcript = qwen.transcript as unknown as NonNullable<Profile["transcript"]>;
  fc.assert(
    fc.property(fc.string(), fc.string(), (root, session) => {
      const path = placeOf("{project}/{folder}/{sha256:12}/x", transcript, root, session);
      expect(path.split("/").includes("..")).toBe(false);
      if (isSessionId(session)) expect(session).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
    }),
  );
});

test("no unchecked pattern leads out either, for a hook reads profiles as they are", () => {
  for (const place of ["../../{session}", "x/../../{session}", "."]) {
    const profile = { ...qwen, transcript: { ...qwen.transcript, place, files: [] } } as unknown as Profile;
    expect(findTranscript(profile, "/p", "s1")).toBeNull();
    expect(() => forked(profile)).toThrow("leads out of");
  }
  const files = [{ path: "../../.ssh/{session}", json: {} }];
  expect(() => forked({ ...qwen, transcript: { ...qwen.transcript, files } } as unknown as Profile)).toThrow("out of");
  const directories = (directory: string, path = "x") =>
    transcriptDirectories(
      { ...qwen, transcript: { ...qwen.transcript, directory, moved_by: [{ env: "V", path }] } } as unknown as Profile,
      { HOME: "/home/dev", V: "/moved" },
    );
  expect(directories("../..", "../x")).toEqual([]);
  expect(directories(".qwen/projects", ".")).toEqual(["/moved", "/home/dev/.qwen/projects"]);
});

function forked(profile: Profile) {
  const line = { uuid: "1", sessionId: "old", type: "user", message: { parts: [{ text: "Hello" }] } };
  return describedAgent(profile).forker?.fork({
    bytes: Buffer.from(`${JSON.stringify(line)}\n`),
    lastId: null,
    transcriptPath: "/home/dev/.qwen/projects/-p/chats/old.jsonl",
    newSessionId: "new",
    projectRoot: "/p",
    title: "T",
  });
}

test("a regular expression takes linear time", async () => {
  const pattern = "^(a+)+$";
  await loadEngineFor({ matches: pattern });
  expect(matches(pattern, `${"a".repeat(4000)}b`)).toBe(false);
  expect(matches(pattern, "aaa")).toBe(true);
  expect(holds({ "$.a": { matches: "^x" }, "$.b": { exists: false }, "$.c": { not: ["y"] } }, { a: "xz" })).toBe(true);
  const lines = { ...qwen.transcript.lines, prompt_text: "(?=a)b" };
  expect(problemsOf({ ...qwen, transcript: { ...qwen.transcript, lines } })[0]).toContain("look-around");
});

test("nothing in a profile becomes code in a hook file made from its template", () => {
  const install = { 'x"; evil(); "': { verb: "stop", matcher: "\u2028</script>`evil`" } };
  const profile = { ...qwen, hooks: { ...qwen.hooks, install } } as unknown as Profile;
  const content = templateHookFile(profile, ["const HOOKS = {{hooks}};"]).content((verb) => `run ${verb} "$HOME"`);
  const json = content.slice("const HOOKS = ".length, content.lastIndexOf(";"));
  expect(JSON.parse(json)).toEqual({
    'x"; evil(); "': { command: 'run stop "$HOME"', matcher: "\u2028</script>`evil`" },
  });
  expect(content).not.toContain("\u2028");
});

test("a profile that is like itself through others is refused, and one like a built-in agent has its code", async () => {
  put("a", { v: 2, id: "a", like: "b", display_name: "A" });
  put("b", { v: 2, id: "b", like: "a", display_name: "B" });
  expect(await getAgent("a")).toBeUndefined();
  await expect(requireAgent("a")).rejects.toThrow("agents/a.json can't be used.");
  put("s", { v: 2, id: "s", like: "s", display_name: "S" });
  expect(brokenProfiles(["mine"])).toEqual(["a", "b", "s"]);
  put("mine", { v: 2, id: "mine", like: "opencode", display_name: "Mine", executable: "mine", start: null });
  const mine = await getAgent("mine");
  expect(mine?.forker).toBeDefined();
  expect(mine?.profile).toMatchObject({ id: "mine", executable: "mine", resume: ["opencode", "-s", "{session}"] });
  expect(mine?.profile.start).toBeUndefined();
});

test("a user's profile for a built-in agent replaces it, and that is known", async () => {
  expect(await isOverridden("qwen")).toBe(false);
  put("qwen", { v: 2, id: "qwen", like: "qwen", display_name: "My Qwen" });
  expect(await isOverridden("qwen")).toBe(true);
  expect((await getAgent("qwen"))?.profile).toMatchObject({ display_name: "My Qwen", executable: "qwen" });
});

test("no content of a profile throws or hangs", async () => {
  const values = fc.dictionary(
    fc.constantFrom("v", "id", "like", "hooks", "transcript", "detection", "run"),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      put("odd", { ...value, id: "odd" });
      problemsOf(value);
      await getAgent("odd");
    }),
    { numRuns: 200 },
  );
});
