/**
 * Loads the effective settings from layers; later layers override earlier ones field by field: built-in defaults, the
 * user's file, the repository's files, the user's settings for this repository, the environment, flags. Every hook
 * loads them, so this is a few small reads; a mistake in a file is reported and never stops the caller.
 *
 * A file in the work tree may have come with the repository, whatever its name and whether or not git tracks it. So
 * repository.ts limits what `.backtrail/settings.json` and `.backtrail/settings.local.json` may set. The user's own
 * settings for a repository are in its store, inside the git directory, which no clone or archive populates.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { log } from "../base/log.ts";
import { configDirectory } from "../base/paths.ts";
import { canonicalName, findKey, isGroup, KEYS, variablesOf } from "./keys.ts";
import type { SettingDefect } from "./problems.ts";
import { permitted } from "./repository.ts";
import { parseJsonValue, parseTextValue } from "./values.ts";

const MAX_FILE_BYTES = 1 << 20;

/** The field names match the names in the files. */
export interface Config {
  enabled: boolean;
  agent: string | null;
  project_root: string | null;
  transcript_path: string | null;
  transcript_paths: string[];
  default_agent: string;
  external_agents: string[];
  strategy: "manual-commit" | "auto-commit";
  tier: string;
  tiers: Record<string, unknown>;
  capture: { max_file_size: number; max_tracked_size: number; exclude: string[]; include: string[] };
  retention: { days: number; max_size: number; conversations: number };
  push: { enabled: boolean; remote: string; timeout: number; unasked: "warn" | "refuse" };
  checkpoints: { branch: "auto" | "public" | "private" };
  auto_commit: { protected: string[] };
  commit_linking: "always" | "prompt" | "never";
  notify_agents: boolean;
  scope: { exclude: string[] };
  redaction: { rules: string[]; allow: string[] };
  search: { native: boolean };
  mcp: { apply: "command" | "ask" };
  run: { agents: Record<string, { model?: string; args?: string[] }> };
  checks: { command: string[]; link: string[]; copy: string[]; timeout: number };
  summarise: { agent: string | null };
  log_level: "error" | "warn" | "info" | "debug";
}

export type Layer = "default" | "user" | "project" | "local" | "environment" | "flag";

interface Setting {
  key: string;
  value: unknown;
  layer: Layer;
  /** The source file or variable; null for defaults and flags. */
  from: string | null;
}

/** A work tree and its store. */
export interface SettingsLocation {
  root: string;
  storeDir: string;
}

export interface SettingProblem {
  layer: Layer;
  /** The file or variable with the problem. */
  from: string;
  /** The affected key; null if the problem concerns the whole file. */
  key: string | null;
  kind: "unreadable" | "unknown-key" | "wrong-value" | "not-trusted";
  defect: SettingDefect;
  /** The value that a repository file requested without permission, for "not-trusted". */
  value?: unknown;
}

export interface Loaded {
  config: Config;
  /** Every setting that some layer sets, by key. */
  settings: Map<string, Setting>;
  problems: SettingProblem[];
}

export interface LoadOptions {
  environment?: Readonly<Record<string, string | undefined>>;
  flags?: Readonly<Record<string, unknown>>;
}

/** Loads the settings for a work tree; null means outside of any. Logs and skips broken files. */
export function loadConfig(place: SettingsLocation | null, options: LoadOptions = {}): Config {
  const { config, problems } = loadSettings(place, options);
  for (const problem of problems) {
    if (problem.kind === "unreadable") log("warn", "config", `${problem.from}: ${JSON.stringify(problem.defect)}`);
  }
  return config;
}

/** Like `loadConfig`, with the origin of each value and every problem, for `config` and `doctor`. */
export function loadSettings(place: SettingsLocation | null, options: LoadOptions = {}): Loaded {
  const loaded: Loaded = { config: defaultConfig(), settings: new Map(), problems: [] };
  readLayer(loaded, { layer: "user", file: userFile(), isOwn: true });
  if (place !== null) {
    readLayer(loaded, { layer: "project", file: projectFile(place.root), isOwn: false });
    readLayer(loaded, { layer: "local", file: workTreeFile(place.root), isOwn: false });
    readLayer(loaded, { layer: "local", file: ownFile(place), isOwn: true });
  }
  readEnvironment(loaded, options.environment ?? process.env);
  for (const [key, value] of Object.entries(options.flags ?? {})) {
    if (value !== undefined) take(loaded, { key, value, layer: "flag", from: null });
  }
  loaded.problems = loaded.problems.filter((problem) => !isDecided(loaded, place, problem));
  return loaded;
}

/** Suppresses a repository's refused setting if the user has set the same key: own file, environment or flag. */
function isDecided({ settings }: Loaded, place: SettingsLocation | null, { kind, key }: SettingProblem): boolean {
  const setting = kind === "not-trusted" && key !== null ? settings.get(key) : undefined;
  if (!setting || place === null) return false;
  return setting.layer === "environment" || setting.layer === "flag" || setting.from === ownFile(place);
}

export function defaultConfig(): Config {
  return {
    enabled: true,
    agent: null,
    project_root: null,
    transcript_path: null,
    transcript_paths: [],
    default_agent: "claude-code",
    external_agents: [],
    strategy: "manual-commit",
    tier: "balanced",
    tiers: {},
    capture: { max_file_size: 50_000_000, max_tracked_size: 500_000_000, exclude: [], include: [] },
    retention: { days: 30, max_size: 2 ** 30, conversations: 5 * 2 ** 30 },
    push: { enabled: false, remote: "origin", timeout: 120, unasked: "warn" },
    checkpoints: { branch: "auto" },
    auto_commit: { protected: ["main", "master", "origin/HEAD"] },
    commit_linking: "always",
    notify_agents: true,
    scope: { exclude: [] },
    redaction: { rules: [], allow: [] },
    search: { native: true },
    mcp: { apply: "command" },
    run: { agents: {} },
    checks: { command: [], link: [], copy: [], timeout: 600 },
    summarise: { agent: null },
    log_level: "info",
  };
}

export function userFile(): string {
  return join(configDirectory(), "config.json");
}

/** Shared with the team: this file may be committed. */
export function projectFile(root: string): string {
  return join(root, ".backtrail", "settings.json");
}

/** Hand-written and kept out of commits, but an archive may also contain one. */
export function workTreeFile(root: string): string {
  return join(root, ".backtrail", "settings.local.json");
}

/** The user's own settings for one repository, which `config set` writes. */
export function ownFile({ storeDir }: Pick<SettingsLocation, "storeDir">): string {
  return join(storeDir, "settings.json");
}

interface Source {
  layer: Layer;
  file: string;
  /** True if only the user can have written the file. */
  isOwn: boolean;
}

function readLayer(loaded: Loaded, source: Source): void {
  const { layer, file } = source;
  let content: unknown;
  try {
    content = readSettings(file);
  } catch (error) {
    const defect = { kind: "file-unreadable", reason: messageOf(error) } as const;
    loaded.problems.push({ layer, from: file, key: null, kind: "unreadable", defect });
    return;
  }
  if (content === undefined) return;
  if (!isRecord(content)) {
    const defect = { kind: "file-not-an-object" } as const;
    loaded.problems.push({ layer, from: file, key: null, kind: "unreadable", defect });
    return;
  }
  walk(loaded, source, "", content);
}

function walk(loaded: Loaded, source: Source, prefix: string, content: Record<string, unknown>): void {
  const { layer, file, isOwn } = source;
  for (const [name, requested] of Object.entries(content)) {
    // Editors use `$schema` to find the schema.
    if (prefix === "" && name === "$schema") continue;
    const path = canonicalName(prefix + name);
    const wrong = (kind: SettingProblem["kind"], defect: SettingDefect, value?: unknown) =>
      loaded.problems.push({ layer, from: file, key: path, kind, defect, ...(value === undefined ? {} : { value }) });
    const key = findKey(path);
    if (!key) {
      if (isGroup(path) && isRecord(requested)) walk(loaded, source, `${path}.`, requested);
      else if (isGroup(path)) wrong("wrong-value", { kind: "group-not-an-object" });
      else wrong("unknown-key", { kind: "no-such-setting" });
      continue;
    }
    const parsed = parseJsonValue(key, requested);
    if ("wrong" in parsed) {
      wrong("wrong-value", parsed.wrong);
      continue;
    }
    if (key.userOnly && layer !== "user") {
      wrong("wrong-value", { kind: "user-file-only" });
      continue;
    }
    const found = isOwn ? parsed : permitted(key.repository, parsed.value, valueAt(loaded.config, path));
    if ("refused" in found) wrong("not-trusted", found.refused, requested);
    else take(loaded, { key: path, value: found.value, layer, from: file });
  }
}

/** Returns the value of a dotted key, or undefined. */
export function valueAt(config: Config, key: string): unknown {
  let node: unknown = config;
  for (const part of key.split(".")) node = isRecord(node) && Object.hasOwn(node, part) ? node[part] : undefined;
  return node;
}

function readEnvironment(loaded: Loaded, environment: Readonly<Record<string, string | undefined>>): void {
  for (const key of KEYS) {
    // Every command runs this. A function called for each key would start the engine's optimizer, which takes memory.
    for (const variable of variablesOf(key)) {
      const text = environment[variable];
      if (!text) continue;
      const parsed = parseTextValue(key, text);
      if ("value" in parsed) {
        take(loaded, { key: key.name, value: parsed.value, layer: "environment", from: variable });
      } else {
        const problem = { layer: "environment", from: variable, key: key.name, kind: "wrong-value" } as const;
        loaded.problems.push({ ...problem, defect: parsed.wrong });
      }
      break;
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
    const next = isRecord(found) ? found : {};
    node[part] = next;
    node = next;
  }
  node[last] = setting.value;
}

/** Returns the content of a settings file, or undefined if there is none. Never opens a device or a pipe. */
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
