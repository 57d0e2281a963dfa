/**
 * The settings that hold, read in layers of which the later wins, field by field: built-in defaults, the user's
 * file, the repository's shared file, its local file, the environment, flags. Every hook reads them, so this is
 * a few small reads; whatever is wrong in a file is a problem to be told, and never stops anything.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf } from "../base/errors.ts";
import { log } from "../base/log.ts";
import { configDirectory } from "../base/paths.ts";
import { findKey, isGroup, KEYS, type Key, variableOf } from "./keys.ts";
import { parseJsonValue, parseTextValue } from "./values.ts";

const MAX_FILE_BYTES = 1 << 20;

/** Field names are the names in the files. */
export interface Config {
  enabled: boolean;
  agent: string | null;
  project_root: string | null;
  transcript_path: string | null;
  default_agent: string;
  external_agents: string[];
  strategy: "manual-commit" | "auto-commit";
  tier: string;
  tiers: Record<string, unknown>;
  capture: { max_file_size: number; exclude: string[] };
  retention: { days: number; max_size: number };
  push: { enabled: boolean; remote: string; timeout: number };
  auto_commit: { protected: string[] };
  commit_linking: "always" | "prompt" | "never";
  redaction: { rules: string[]; allow: string[] };
  run: { agents: Record<string, { model?: string; args?: string[] }> };
  summarise: { agent: string | null };
  log_level: "error" | "warn" | "info" | "debug";
}

export type Layer = "default" | "user" | "project" | "local" | "environment" | "flag";

export interface Setting {
  key: string;
  value: unknown;
  layer: Layer;
  /** The file or variable it comes from; null for defaults and flags. */
  from: string | null;
}

export interface ConfigProblem {
  layer: Layer;
  /** The file or variable that has it. */
  from: string;
  /** The key in question; null where the file as a whole is the problem. */
  key: string | null;
  kind: "unreadable" | "unknown-key" | "wrong-value" | "not-trusted";
  message: string;
}

export interface Loaded {
  config: Config;
  /** Every setting that some layer gives, by key. */
  settings: Map<string, Setting>;
  problems: ConfigProblem[];
}

export interface LoadOptions {
  environment?: Readonly<Record<string, string | undefined>>;
  flags?: Readonly<Record<string, unknown>>;
  /**
   * Whether git tracks a file. Asked only where the local file holds a guarded setting; without it such a
   * setting does not count.
   */
  isTracked?: (file: string) => boolean;
}

/** What holds for the work tree at `root` (null: outside of any). Broken files are logged and skipped. */
export function loadConfig(root: string | null, options: LoadOptions = {}): Config {
  const { config, problems } = loadSettings(root, options);
  for (const problem of problems) {
    if (problem.kind === "unreadable") log("warn", "config", `${problem.from}: ${problem.message}`);
  }
  return config;
}

/** The same with the origin of each value and everything that is wrong, for `config` and `doctor`. */
export function loadSettings(root: string | null, options: LoadOptions = {}): Loaded {
  const loaded: Loaded = { config: defaultConfig(), settings: new Map(), problems: [] };
  readLayer(loaded, "user", userFile(), () => true);
  if (root !== null) {
    readLayer(loaded, "project", projectFile(root), () => false);
    const local = localFile(root);
    readLayer(loaded, "local", local, () => isOwn(root, local, options.isTracked));
  }
  readEnvironment(loaded, options.environment ?? process.env);
  for (const [key, value] of Object.entries(options.flags ?? {})) {
    if (value !== undefined) take(loaded, { key, value, layer: "flag", from: null });
  }
  return loaded;
}

export function defaultConfig(): Config {
  return {
    enabled: true,
    agent: null,
    project_root: null,
    transcript_path: null,
    default_agent: "claude-code",
    external_agents: [],
    strategy: "manual-commit",
    tier: "balanced",
    tiers: {},
    capture: { max_file_size: 50_000_000, exclude: [] },
    retention: { days: 30, max_size: 2 ** 30 },
    push: { enabled: false, remote: "origin", timeout: 120 },
    auto_commit: { protected: ["main", "master", "origin/HEAD"] },
    commit_linking: "always",
    redaction: { rules: [], allow: [] },
    run: { agents: {} },
    summarise: { agent: null },
    log_level: "info",
  };
}

export function userFile(): string {
  return join(configDirectory(), "config.json");
}

export function projectFile(root: string): string {
  return join(root, ".backtrail", "settings.json");
}

export function localFile(root: string): string {
  return join(root, ".backtrail", "settings.local.json");
}

function readLayer(loaded: Loaded, layer: Layer, file: string, trusted: () => boolean): void {
  let content: unknown;
  try {
    content = readSettings(file);
  } catch (error) {
    loaded.problems.push({ layer, from: file, key: null, kind: "unreadable", message: messageOf(error) });
    return;
  }
  if (content === undefined) return;
  if (!isObject(content)) {
    const message = "must be a JSON object";
    loaded.problems.push({ layer, from: file, key: null, kind: "unreadable", message });
    return;
  }
  // Asked once and only if needed: finding out whether git tracks a file costs a process.
  let verdict: boolean | undefined;
  const allows = (key: Key): boolean => {
    if (!key.guarded) return true;
    if (key.userOnly && layer !== "user") return false;
    verdict ??= trusted();
    return verdict;
  };
  walk(loaded, layer, file, "", content, allows);
}

function walk(
  loaded: Loaded,
  layer: Layer,
  file: string,
  prefix: string,
  content: Record<string, unknown>,
  allows: (key: Key) => boolean,
): void {
  for (const [name, value] of Object.entries(content)) {
    // An editor's pointer to the schema.
    if (prefix === "" && name === "$schema") continue;
    const path = prefix + name;
    const wrong = (kind: ConfigProblem["kind"], message: string) =>
      loaded.problems.push({ layer, from: file, key: path, kind, message });
    const key = findKey(path);
    if (!key) {
      if (isGroup(path) && isObject(value)) walk(loaded, layer, file, `${path}.`, value, allows);
      else if (isGroup(path)) wrong("wrong-value", "expected an object");
      else wrong("unknown-key", "there is no such setting");
      continue;
    }
    const parsed = parseJsonValue(key, value);
    if ("wrong" in parsed) wrong("wrong-value", parsed.wrong);
    else if (!allows(key))
      wrong("not-trusted", "counts only from your own settings, not from a file that others share");
    else take(loaded, { key: path, value: parsed.value, layer, from: file });
  }
}

function readEnvironment(loaded: Loaded, environment: Readonly<Record<string, string | undefined>>): void {
  for (const key of KEYS) {
    const variable = variableOf(key);
    const text = variable && environment[variable];
    if (!variable || !text) continue;
    const parsed = parseTextValue(key, text);
    if ("value" in parsed) {
      take(loaded, { key: key.name, value: parsed.value, layer: "environment", from: variable });
    } else {
      const problem = { layer: "environment", from: variable, key: key.name, kind: "wrong-value" } as const;
      loaded.problems.push({ ...problem, message: parsed.wrong });
    }
  }
}

function take(loaded: Loaded, setting: Setting): void {
  loaded.settings.set(setting.key, setting);
  const parts = setting.key.split(".");
  const last = parts.pop();
  if (last === undefined) return;
  let node = loaded.config as unknown as Record<string, unknown>;
  for (const part of parts) {
    const found = Object.hasOwn(node, part) ? node[part] : undefined;
    const next = isObject(found) ? found : {};
    node[part] = next;
    node = next;
  }
  node[last] = setting.value;
}

/** A settings file's content; undefined where there is none. A device or a pipe in its place is never opened. */
export function readSettings(file: string): unknown {
  try {
    const found = statSync(file);
    if (!found.isFile()) throw new Error("is not a regular file");
    if (found.size > MAX_FILE_BYTES) throw new Error("is larger than 1 MiB");
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  return text.trim() === "" ? undefined : JSON.parse(text);
}

/**
 * Whether the local file is the user's own: git does not track it, and neither it nor its directory is a link
 * behind which git might track it after all.
 */
function isOwn(root: string, file: string, isTracked: LoadOptions["isTracked"]): boolean {
  if (!isTracked) return false;
  try {
    if (lstatSync(file).isSymbolicLink()) return false;
    if (realpathSync(file) !== localFile(realpathSync(root))) return false;
    return !isTracked(file);
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
