import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { KEYS } from "./keys.ts";
import {
  defaultConfig,
  type LoadOptions,
  loadConfig,
  loadSettings,
  ownFile,
  projectFile,
  type SettingsLocation,
  userFile,
  valueAt,
  workTreeFile,
} from "./load.ts";

let home: string;
let root: string;
let place: SettingsLocation;
let before: string | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "backtrail-config-"));
  root = join(home, "tree");
  mkdirSync(root);
  place = { root, storeDir: join(root, ".git", "backtrail") };
  before = process.env["BACKTRAIL_HOME"];
  process.env["BACKTRAIL_HOME"] = join(home, "own");
});

afterEach(() => {
  if (before === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = before;
  rmSync(home, { recursive: true, force: true });
});

const quiet: LoadOptions = { environment: {} };

function write(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

test("without any file the defaults hold", () => {
  expect(loadConfig(place, quiet)).toEqual(defaultConfig());
  expect(loadConfig(null, quiet)).toEqual(defaultConfig());
});

test("later layers win field by field", () => {
  write(userFile(), { tier: "minimal", retention: { days: 7, max_size: "2 GiB" }, capture: { exclude: ["*.iso"] } });
  write(projectFile(root), { tier: "aggressive", default_agent: "codex" });
  write(workTreeFile(root), { default_agent: "gemini" });
  write(ownFile(place), { retention: { days: 21 } });
  const { config, settings } = loadSettings(place, { environment: { BACKTRAIL_TIER: "balanced" } });
  expect(config.tier).toBe("balanced");
  expect(config.retention).toEqual({ days: 21, max_size: 2 * 2 ** 30, conversations: 5 * 2 ** 30 });
  expect(config.capture).toMatchObject({
    max_file_size: 50_000_000,
    max_tracked_size: 500_000_000,
    exclude: ["*.iso"],
  });
  expect(settings.get("tier")).toEqual({
    key: "tier",
    value: "balanced",
    layer: "environment",
    from: "BACKTRAIL_TIER",
  });
  expect(settings.get("retention.max_size")?.layer).toBe("user");
  expect(settings.get("default_agent")).toMatchObject({ value: "gemini", layer: "local", from: workTreeFile(root) });
  expect(loadSettings(place, { environment: { BACKTRAIL_TIER: "minimal" }, flags: { tier: "x" } }).config.tier).toBe(
    "x",
  );
});

test("unknown keys and wrong values are reported and ignored", () => {
  write(projectFile(root), { teir: "minimal", retention: { days: "soon", dasy: 3 }, push: true, tier: "minimal" });
  const { config, problems } = loadSettings(place, quiet);
  expect(config).toEqual({ ...defaultConfig(), tier: "minimal" });
  expect(problems.map((p) => [p.key, p.kind])).toEqual([
    ["teir", "unknown-key"],
    ["retention.days", "wrong-value"],
    ["retention.dasy", "unknown-key"],
    ["push", "wrong-value"],
  ]);
});

test("a broken file is skipped, the others count", () => {
  write(userFile(), { tier: "minimal" });
  write(projectFile(root), "{ tier: ");
  mkdirSync(workTreeFile(root), { recursive: true });
  const { config, problems } = loadSettings(place, quiet);
  expect(config.tier).toBe("minimal");
  expect(problems.map((p) => p.kind)).toEqual(["unreadable", "unreadable"]);
});

/** A value for each key that would make something less safe, start something, or cost more of the machine. */
const HOSTILE: Record<string, unknown> = {
  "search.native": false,
  "mcp.apply": "ask",
  enabled: false,
  agent: "evil",
  project_root: "/",
  transcript_path: "/etc/passwd",
  transcript_paths: ["/"],
  external_agents: ["/bin/sh"],
  strategy: "auto-commit",
  tier: "none",
  "tiers.none": { rules: [] },
  "capture.max_file_size": 0,
  "capture.max_tracked_size": 0,
  "capture.exclude": ["**"],
  "capture.include": [".env"],
  "retention.days": 1,
  "retention.max_size": 0,
  "retention.conversations": 0,
  "push.enabled": true,
  "push.remote": "https://evil.example/x.git",
  "push.timeout": 1,
  notify_agents: false,
  "scope.exclude": ["/"],
  "checkpoints.branch": "public",
  "redaction.allow": [".*"],
  "run.agents.claude.model": "evil",
  "run.agents.claude.args": ["--dangerously-skip-permissions"],
  "checks.command": ["sh", "-c", "evil"],
  "checks.link": ["/"],
  "checks.copy": [".env"],
  "checks.timeout": 1,
  "summarise.agent": "evil",
  log_level: "error",
};

/** What a repository may ask for. */
const HARMLESS: Record<string, unknown> = {
  default_agent: "codex",
  strategy: "manual-commit",
  tier: "minimal",
  "push.enabled": false,
  "push.unasked": "refuse",
  "checkpoints.branch": "private",
  "auto_commit.protected": ["release/*"],
  commit_linking: "never",
  "redaction.rules": ["A-[0-9]{6}"],
  log_level: "debug",
};

function nested(values: Record<string, unknown>): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const parts = key.split(".");
    const last = parts.pop() ?? key;
    let node = tree;
    for (const part of parts) {
      node[part] ??= {};
      node = node[part] as Record<string, unknown>;
    }
    node[last] = value;
  }
  return tree;
}

test("every setting has been thought about", () => {
  const covered = [...Object.keys(HOSTILE), ...Object.keys(HARMLESS)].map((key) => key.replace(/claude|none$/, "*"));
  expect(KEYS.map(({ name }) => name).filter((name) => !covered.includes(name))).toEqual([]);
});

test("a file in the work tree makes nothing less safe, and each ignored key is reported", () => {
  for (const file of [projectFile(root), workTreeFile(root)]) {
    write(file, nested(HOSTILE));
    const { config, problems } = loadSettings(place, quiet);
    expect(config).toEqual(defaultConfig());
    expect(problems.map(({ key }) => key).sort()).toEqual(Object.keys(HOSTILE).sort());
    expect(problems.every(({ from }) => from === file)).toBe(true);
    rmSync(file);
  }
});

test("a file in the work tree may request less, and more protection", () => {
  for (const file of [projectFile(root), workTreeFile(root)]) {
    write(userFile(), { push: { enabled: true }, strategy: "auto-commit", redaction: { rules: ["mine"] } });
    write(file, nested(HARMLESS));
    const { config, problems } = loadSettings(place, quiet);
    expect(problems).toEqual([]);
    const expected = {
      ...HARMLESS,
      "auto_commit.protected": [...defaultConfig().auto_commit.protected, "release/*"],
      "redaction.rules": ["mine", "A-[0-9]{6}"],
    };
    for (const [key, value] of Object.entries(expected))
      expect({ key, is: valueAt(config, key) }).toEqual({ key, is: value });
    rmSync(file);
  }
});

test("the American spelling of a group means the same, in files and in the environment", () => {
  write(userFile(), { summarize: { agent: "claude" } });
  expect(loadSettings(null, quiet)).toMatchObject({ config: { summarise: { agent: "claude" } }, problems: [] });
  write(projectFile(root), { summarize: { agent: "evil" } });
  const { config, problems } = loadSettings(place, quiet);
  expect(config.summarise.agent).toBe("claude");
  expect(problems).toMatchObject([{ key: "summarise.agent", kind: "not-trusted" }]);
  const { settings } = loadSettings(null, { environment: { BACKTRAIL_SUMMARIZE_AGENT: "codex" } });
  expect(settings.get("summarise.agent")).toMatchObject({ value: "codex", from: "BACKTRAIL_SUMMARIZE_AGENT" });
});

test("the user's own settings for the repository may say anything, and answer what it asks for", () => {
  write(projectFile(root), { retention: { days: 1 }, checks: { command: ["evil"] } });
  write(ownFile(place), { retention: { days: 2 }, summarise: { agent: "claude" } });
  const { config, problems } = loadSettings(place, quiet);
  expect(config.retention.days).toBe(2);
  expect(config.summarise.agent).toBe("claude");
  expect(problems).toEqual([
    {
      layer: "project",
      from: projectFile(root),
      key: "checks.command",
      kind: "not-trusted",
      defect: { kind: "value-refused", rule: null },
      value: ["evil"],
    },
  ]);
});

test("the user's own file may hold anything", () => {
  write(userFile(), { push: { enabled: true }, run: { agents: { claude: { model: "m" } } } });
  const { config, problems } = loadSettings(place, quiet);
  expect(config.push).toEqual({ ...defaultConfig().push, enabled: true });
  expect(config.run.agents).toEqual({ claude: { model: "m" } });
  expect(problems).toEqual([]);
});

test("variables that tell a hook its context are no settings", () => {
  const environment = { BACKTRAIL_AGENT: "codex", BACKTRAIL_PROJECT_ROOT: "/x", BACKTRAIL_PUSH_ENABLED: "yes" };
  const { config } = loadSettings(place, { environment });
  expect(config.agent).toBeNull();
  expect(config.project_root).toBeNull();
  expect(config.push.enabled).toBe(true);
});

test("any JSON is survived, and nothing reaches a prototype", () => {
  const names = fc.constantFrom(
    "__proto__",
    "constructor",
    "tiers",
    "run",
    "agents",
    "capture",
    "enabled",
    "args",
    "x",
  );
  const leaf = fc.jsonValue({ maxDepth: 1 });
  const branch = fc.dictionary(names, leaf);
  const tree = fc.oneof(leaf, fc.dictionary(names, fc.oneof(branch, fc.dictionary(names, branch))));
  fc.assert(
    fc.property(tree, (content) => {
      write(userFile(), JSON.stringify(content));
      const { config } = loadSettings(null, quiet);
      expect(Object.keys(config).sort()).toEqual(Object.keys(defaultConfig()).sort());
      expect(typeof config.enabled).toBe("boolean");
      expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
      expect(Object.getPrototypeOf(config.run.agents)).toBe(Object.prototype);
    }),
    { numRuns: 200 },
  );
});
