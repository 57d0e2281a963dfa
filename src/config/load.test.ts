import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { defaultConfig, type LoadOptions, loadConfig, loadSettings, localFile, projectFile, userFile } from "./load.ts";

let home: string;
let root: string;
let before: string | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "backtrail-config-"));
  root = join(home, "tree");
  mkdirSync(root);
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
  expect(loadConfig(root, quiet)).toEqual(defaultConfig());
  expect(loadConfig(null, quiet)).toEqual(defaultConfig());
});

test("later layers win field by field", () => {
  write(userFile(), { tier: "minimal", retention: { days: 7, max_size: "2 GiB" }, capture: { exclude: ["*.iso"] } });
  write(projectFile(root), { tier: "aggressive", retention: { days: 14 } });
  write(localFile(root), { retention: { days: 21 } });
  const { config, settings } = loadSettings(root, { environment: { BACKTRAIL_TIER: "balanced" } });
  expect(config.tier).toBe("balanced");
  expect(config.retention).toEqual({ days: 21, max_size: 2 * 2 ** 30 });
  expect(config.capture).toEqual({ max_file_size: 50_000_000, exclude: ["*.iso"] });
  expect(settings.get("tier")).toEqual({
    key: "tier",
    value: "balanced",
    layer: "environment",
    from: "BACKTRAIL_TIER",
  });
  expect(settings.get("retention.max_size")?.layer).toBe("user");
  expect(loadSettings(root, { environment: { BACKTRAIL_TIER: "minimal" }, flags: { tier: "x" } }).config.tier).toBe(
    "x",
  );
});

test("unknown keys and wrong values are told and ignored", () => {
  write(projectFile(root), { teir: "minimal", retention: { days: "soon", dasy: 3 }, push: true, tier: "minimal" });
  const { config, problems } = loadSettings(root, quiet);
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
  mkdirSync(localFile(root), { recursive: true });
  const { config, problems } = loadSettings(root, quiet);
  expect(config.tier).toBe("minimal");
  expect(problems.map((p) => p.kind)).toEqual(["unreadable", "unreadable"]);
});

test("what can start a program never comes from a shared file", () => {
  const guarded = {
    summarise: { agent: "evil" },
    run: { agents: { claude: { args: ["--evil"] } } },
    push: { enabled: true },
  };
  write(projectFile(root), guarded);
  const shared = loadSettings(root, { ...quiet, isTracked: () => false });
  expect(shared.config).toEqual(defaultConfig());
  expect(shared.problems.map((p) => p.kind)).toEqual(["not-trusted", "not-trusted", "not-trusted"]);

  write(localFile(root), guarded);
  expect(loadSettings(root, { ...quiet, isTracked: () => false }).config.summarise.agent).toBe("evil");
  expect(loadSettings(root, { ...quiet, isTracked: () => false }).config.run.agents).toEqual({
    claude: { args: ["--evil"] },
  });
  expect(loadSettings(root, { ...quiet, isTracked: () => true }).config).toEqual(defaultConfig());
  expect(loadSettings(root, quiet).config).toEqual(defaultConfig());
});

test("a link in place of the local file is not trusted", () => {
  write(join(root, "shared", "settings.local.json"), { summarise: { agent: "evil" } });
  symlinkSync("shared", join(root, ".backtrail"));
  expect(loadSettings(root, { ...quiet, isTracked: () => false }).config.summarise.agent).toBeNull();
});

test("the user's own file may hold guarded settings", () => {
  write(userFile(), { push: { enabled: true }, run: { agents: { claude: { model: "m" } } } });
  const { config, problems } = loadSettings(root, quiet);
  expect(config.push).toEqual({ ...defaultConfig().push, enabled: true });
  expect(config.run.agents).toEqual({ claude: { model: "m" } });
  expect(problems).toEqual([]);
});

test("variables that tell a hook its context are no settings", () => {
  const environment = { BACKTRAIL_AGENT: "codex", BACKTRAIL_PROJECT_ROOT: "/x", BACKTRAIL_PUSH_ENABLED: "yes" };
  const { config } = loadSettings(root, { environment });
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
