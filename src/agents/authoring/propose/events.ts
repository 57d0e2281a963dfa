/** Proposes what an agent's events mean, and which of its tools do what. */
import { isRecord } from "../../../base/json.ts";
import type { EventType, ToolKind } from "../../../model/event.ts";
import type { HooksSection } from "../../contract/profile.ts";
import { sameName, valueAt } from "../../registry/paths.ts";
import type { Payload } from "../capture/format.ts";
import type { Doubt } from "./doubts.ts";
import { counted, isText, leavesOf, wordsOf } from "./walk.ts";

const EVENT_FIELDS = ["hookeventname", "eventname", "hookevent", "event", "hookname", "hook", "type"];

/** By the words of the event's name. The first that fits counts. */
const MEANINGS: readonly [RegExp, EventType | null][] = [
  [/\bsub ?agent (start|begin|message)/, "SubagentStart"],
  [/\bsub ?agent (stop|end|complete|finish|idle)/, "SubagentEnd"],
  [/\b(post|after) (compact|compress)|\bcompact(ed|ion)? (end|done)/, null],
  [/\b(compact|compress)/, "Compaction"],
  [/\bpermission|\bnotif|\bdisplay|\bexpansion|\b(post|after) tool batch/, null],
  [/\b(post|after) (tool|file|shell|mcp)\b|\btool (result|end|done|complete|execute after)/, "ToolEnd"],
  [/\b(pre|before) (tool|mcp|shell|file)\b|\btool (call|start|use|execute before)$/, "ToolStart"],
  [
    /\b(user )?prompt (submit|submitted)|\b(before )?submit prompt|\b(before|pre) (agent|turn)\b|\bturn (start|begin)/,
    "TurnStart",
  ],
  [/\btask (start|resume)|\bagent start\b|\bbefore agent start|\buser (prompt|message)|\bchat message/, "TurnStart"],
  [/\bsession (end|ended|stop|shutdown|deleted|close|closed|exit)/, "SessionEnd"],
  [/\bsession (start|started|created|new|open|begin|resume)/, "SessionStart"],
  [/\bsession idle|\b(turn|agent|task|response) (stop|end|ended|complete|completed|error|cancel|settled)/, "TurnEnd"],
  [/^stop( failure)?$|\b(after|post) (agent|turn)\b|\bon stop\b/, "TurnEnd"],
];

export interface EventProposal {
  /** The payload's field with the event's name; undefined if the hook's own name tells it. */
  field: string | undefined;
  events: HooksSection["events"];
  install: HooksSection["install"];
  /** The meaning of each payload, in their order. */
  meanings: (EventType | null)[];
  doubts: Doubt[];
}

export function proposeEvents(payloads: readonly Payload[]): EventProposal {
  const field = eventField(payloads);
  const nameOf = ({ raw, event }: Payload) => (field ? String(valueAt(raw, field) ?? event) : event);
  const names = counted(payloads.map(nameOf).filter((name) => name !== "")).map(([name]) => name);
  const doubts: Doubt[] = [];
  const events: HooksSection["events"] = {};
  const install: HooksSection["install"] = {};
  const ignored: string[] = [];
  for (const name of names) {
    const own = payloads.filter((payload) => nameOf(payload) === name);
    const told = meaningOf(name);
    const meaning = told === undefined ? meaningByFields(own) : told;
    if (meaning === null) {
      ignored.push(name);
      continue;
    }
    if (told === undefined)
      doubts.push({ kind: "event-meaning", key: `hooks.events.${name}`, event: name, is: meaning });
    const when = conditionOf(meaning, own);
    events[name] = when ? { is: meaning, when } : meaning;
    install[name] = { verb: wordsOf(name).join("-") };
  }
  if (ignored.length > 0) doubts.push({ kind: "events-ignored", key: "hooks.events", events: ignored });
  const meanings = payloads.map((payload) => {
    const found = events[nameOf(payload)];
    return found === undefined ? null : typeof found === "string" ? found : ((found as { is: EventType }).is ?? null);
  });
  for (const is of ["TurnStart", "TurnEnd"] as const) {
    if (!meanings.includes(is)) doubts.push({ kind: "no-event", key: "hooks.events", is });
  }
  return { field, events, install, meanings, doubts };
}

/** The field whose values are the names that the hooks were installed under; or the usual one, if those say nothing. */
function eventField(payloads: readonly Payload[]): string | undefined {
  const candidates = counted(
    payloads.flatMap(({ raw }) =>
      leavesOf(raw, 2)
        .filter(({ key, value }) => isText(value) && EVENT_FIELDS.includes(key.replace(/[_-]/g, "").toLowerCase()))
        .map(({ path }) => path),
    ),
  ).filter(([, count]) => count === payloads.length);
  const agrees = ([path]: [string, number]) =>
    payloads.every(({ raw, event }) => sameName(String(valueAt(raw, path)), event.split("-", 1)[0] ?? ""));
  const agreeing = candidates.find(agrees);
  if (agreeing) return agreeing[0];
  const isNamed = payloads.every(({ event }) => event !== "" && meaningOf(event) !== undefined);
  return isNamed ? undefined : candidates[0]?.[0];
}

/** Undefined for an unknown name; null for a known event that Backtrail does not need. */
function meaningOf(name: string): EventType | null | undefined {
  const words = wordsOf(name).join(" ");
  return MEANINGS.find(([pattern]) => pattern.test(words))?.[1];
}

function meaningByFields(payloads: readonly Payload[]): EventType | null {
  const has = (pattern: RegExp) => payloads.every(({ raw }) => leavesOf(raw, 2).some(({ key }) => pattern.test(key)));
  if (has(/^tool_?name$/i)) return has(/output|result|response/i) ? "ToolEnd" : "ToolStart";
  if (has(/^(user_?)?prompt$/i)) return "TurnStart";
  if (has(/assistant|^response$|final/i)) return "TurnEnd";
  return null;
}

/** Agents that run subagents name their parent; a turn has none. */
function conditionOf(meaning: EventType, payloads: readonly Payload[]): Record<string, null> | undefined {
  if (meaning !== "TurnStart" && meaning !== "TurnEnd") return undefined;
  const [first] = payloads;
  const parent = leavesOf(first?.raw, 2).find(
    ({ path, key }) =>
      /^parent.*(agent|session|task)/i.test(key) && payloads.every(({ raw }) => valueAt(raw, path) === null),
  );
  return parent && { [parent.path]: null };
}

const KINDS: readonly [RegExp, ToolKind][] = [
  [/\bto ?dos?\b|\btodo|^task (create|update|list)/, "todo"],
  [/\b(sub)?agent\b|^task$|\bspawn\b|\bdelegate\b/, "task"],
  [/\b(bash|shell|exec|execute|terminal|command|commands|cmd|powershell)\b/, "shell"],
  [/\b(write|edit|editor|patch|create|replace|insert|notebook edit|multi edit|str replace)\b/, "write"],
  [/\b(read|grep|glob|search|list|ls|view|fetch|find|open)\b/, "read"],
];

/** By the tool's name, and by its input where that says more. */
export function proposeTools(uses: readonly { name: string; input: unknown }[]): {
  tools: HooksSection["tools"];
  doubts: Doubt[];
} {
  const tools: HooksSection["tools"] = {};
  const unknown: string[] = [];
  for (const [name] of counted(uses.map((use) => use.name))) {
    // Tools of MCP servers have different names in every repository.
    if (/^mcp[_.-]/i.test(name) || name.length > 200) continue;
    const inputs = uses.filter((use) => use.name === name).map(({ input }) => input);
    const words = wordsOf(name).join(" ");
    const kind = kindByInput(inputs) ?? KINDS.find(([pattern]) => pattern.test(words))?.[1];
    if (kind === undefined) unknown.push(name);
    else tools[name] = kind;
  }
  return { tools, doubts: unknown.length > 0 ? [{ kind: "tools-unknown", key: "hooks.tools", tools: unknown }] : [] };
}

/** A path together with new content is a write, a command alone a shell. */
function kindByInput(inputs: readonly unknown[]): ToolKind | undefined {
  const keys = inputs.filter(isRecord).map((input) => Object.keys(input).join(" "));
  if (keys.length === 0) return undefined;
  const all = (pattern: RegExp) => keys.every((each) => pattern.test(each));
  if (all(/path|file/i) && all(/content|new_?(text|string|str)|patch|diff|edits|replacement/i)) return "write";
  return all(/\b(command|commands|cmd|script)\b/i) && !keys.some((each) => /prompt/i.test(each)) ? "shell" : undefined;
}
