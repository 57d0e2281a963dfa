/**
 * Upgrades profiles written before the format had a version. They hold the same facts under other names;
 * docs/formats/profile.md has the table. Unknown keys are kept, and the schema reports them.
 */

import { isRecord } from "../../base/json.ts";
import type { EventType, ToolKind } from "../../model/event.ts";
import type { FieldName } from "./profile.ts";

type Json = Record<string, unknown>;

/** Canonical events by their older names, reduced to lowercase letters. */
const EVENTS: Readonly<Record<string, EventType>> = {
  sessionstart: "SessionStart",
  turnstart: "TurnStart",
  promptsubmit: "TurnStart",
  userpromptsubmit: "TurnStart",
  turnend: "TurnEnd",
  stop: "TurnEnd",
  compaction: "Compaction",
  precompact: "Compaction",
  sessionend: "SessionEnd",
  subagentstart: "SubagentStart",
  subagentend: "SubagentEnd",
  subagentstop: "SubagentEnd",
  toolstart: "ToolStart",
  pretooluse: "ToolStart",
  toolend: "ToolEnd",
  posttooluse: "ToolEnd",
};

const TOOLS: Readonly<Record<string, ToolKind>> = {
  write: "write",
  edit: "write",
  multiedit: "write",
  shell: "shell",
  bash: "shell",
  task: "task",
  todo: "todo",
  read: "read",
  other: "other",
};

/** The canonical field for each key `<field>_paths` whose field name differs from it. */
const FIELDS: Readonly<Record<string, FieldName>> = {
  event_name: "event",
  hook_event_name: "event",
  user_prompt: "prompt",
  project_dir: "project_root",
  tool_file: "tool_paths",
  file: "tool_paths",
};

/** Converts an older profile to the current format; returns any other value unchanged. */
export function upgradedProfile(value: unknown): unknown {
  if (!isRecord(value) || value["v"] !== undefined) return value;
  const { detection, hooks, transcript } = value;
  return {
    protected_dirs: [],
    tested_versions: [],
    ...value,
    v: 1,
    detection: isRecord(detection) ? upgradedDetection(detection) : { min_score: 100, score_rules: [] },
    ...(isRecord(hooks) ? { hooks: upgradedHooks(hooks) } : {}),
    ...(isRecord(transcript) ? { transcript: upgradedTranscript(transcript) } : {}),
  };
}

function upgradedDetection({ score_rules: rules, ...rest }: Json): Json {
  return { ...rest, score_rules: Array.isArray(rules) ? rules.map(upgradedRule) : [] };
}

/** `{"when": {"json_path_exists": …}, "score": 10}` */
function upgradedRule(rule: unknown): unknown {
  if (!isRecord(rule) || !isRecord(rule["when"])) return rule;
  const { when, ...rest } = rule;
  const { json_path_exists: exists, json_path_matches: older, ...others } = when as Json;
  const { path_exists: path = exists, path_matches: matches = older, ...conditions } = others;
  const known: Json = {
    path_exists: path,
    path_matches: isRecord(matches)
      ? { path: matches["path"], regex: matches["regex"] ?? matches["pattern"] }
      : matches,
  };
  // An unknown condition must not be dropped: the rule would match too much.
  return { ...rest, ...present(known), ...conditions };
}

function upgradedHooks(hooks: Json): Json {
  const { event_name_map: events, tool_name_map: tools, ...rest } = hooks;
  const kept: Json = {};
  const fields: Json = isRecord(hooks["fields"]) ? { ...hooks["fields"] } : {};
  for (const [key, value] of Object.entries(rest)) {
    const field = /^(.+)_paths$/.exec(key)?.[1];
    if (field === undefined) kept[key] = value;
    else fields[FIELDS[field] ?? field] = Array.isArray(value) ? value : [value];
  }
  const known = isRecord(events) ? renamed(events, EVENTS) : (hooks["events"] ?? {});
  return {
    settings: {},
    // Such a profile names no settings file, so the user makes the hooks.
    install: installed(known),
    ...kept,
    fields,
    events: known,
    tools: isRecord(tools) ? renamed(tools, TOOLS) : (hooks["tools"] ?? {}),
  };
}

function installed(events: unknown): Json {
  const verbs = Object.keys(isRecord(events) ? events : {}).map((event) => [event, verbOf(event)] as const);
  return Object.fromEntries(verbs.flatMap(([event, verb]) => (verb === "" ? [] : [[event, { verb }]])));
}

/** "UserPromptSubmit" becomes "user-prompt-submit". */
function verbOf(event: string): string {
  const words = event.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
  return words.replace(/[^a-z0-9]+/g, "-").replace(/^[^a-z]+|-+$/g, "");
}

/** The map is either native name → canonical name, or canonical name → list of native names. */
function renamed(map: Json, names: Readonly<Record<string, string>>): Json {
  const result: Json = {};
  for (const [key, value] of Object.entries(map)) {
    if (Array.isArray(value)) for (const native of value) result[String(native)] = names[plain(key)] ?? key;
    else result[key] = names[plain(String(value))] ?? value;
  }
  return result;
}

function upgradedTranscript(transcript: Json): Json {
  const { last_event_id_fields: _, title_prefix: title, ...rest } = transcript;
  const prefix = isRecord(title) ? (title["enabled"] === false ? "" : title["prefix"]) : title;
  const path = isRecord(title) ? title["json_path"] : undefined;
  const lines = transcript["lines"];
  return {
    recognised_by: [],
    ...rest,
    title_prefix: prefix ?? "",
    ...(isRecord(lines) && path !== undefined ? { lines: { title: [path], ...lines } } : {}),
  };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, "");
}

function present(values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
