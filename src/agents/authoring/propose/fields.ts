/** Proposes the path of each field in payloads, by its name and by known values. */
import { isAbsolute } from "node:path";
import { isRecord } from "../../../base/json.ts";
import type { EventType } from "../../../model/event.ts";
import type { FieldName, HooksSection } from "../../contract/profile.ts";
import { valueAt } from "../../registry/paths.ts";
import type { Payload } from "../capture/format.ts";
import { isText, type Leaf, leavesOf, proseOf, squeezed } from "./walk.ts";

export interface Sent extends Payload {
  type: EventType | null;
}

interface Search {
  /** Names, best first; `parent.name` for a name in an object of that name. */
  names: readonly string[];
  /** Only payloads of these events have it. */
  in?: readonly EventType[];
  fits: (value: unknown, leaf: Leaf) => boolean;
  /** Every path counts, not only those that add something. */
  all?: boolean;
}

const TOOL: readonly EventType[] = ["ToolStart", "ToolEnd"];
const SUBAGENT: readonly EventType[] = ["SubagentStart", "SubagentEnd", ...TOOL];
const isId = (value: unknown) => isText(value) && value.length <= 200;
const isPath = (value: unknown) => isText(value) && isAbsolute(Array.isArray(value) ? String(value[0]) : value);
const isPrompt = (value: unknown) => proseOf(value) !== null;

const SEARCHES: Partial<Record<FieldName, Search>> = {
  session_id: {
    names: ["rootsessionid", "sessionid", "session.id", "conversationid", "threadid", "chatid", "taskid"],
    fits: isId,
  },
  cwd: {
    names: ["cwd", "workingdirectory", "workdir", "rootpath", "workspaceroot", "directory", "workspace", "projectdir"],
    fits: isPath,
  },
  transcript_path: { names: ["transcriptpath", "sessionfile", "transcript", "logpath"], fits: isPath },
  timestamp: { names: ["timestamp"], fits: (value) => isText(value) && !Number.isNaN(Date.parse(value)) },
  prompt: {
    names: ["submittedprompt", "userprompt", "prompt", "usermessage", "message", "text", "input", "query"],
    in: ["TurnStart"],
    fits: isPrompt,
  },
  prompt_id: { names: ["promptid", "generationid"], in: ["TurnStart"], fits: isId },
  source: { names: ["source"], in: ["SessionStart"], fits: isId },
  error: { names: ["error", "errortype", "error.message"], in: ["TurnEnd"], fits: isText },
  model: { names: ["model", "modelid", "modelname"], fits: isId },
  response: {
    names: [
      "lastassistantmessage",
      "lastassistanttext",
      "promptresponse",
      "response",
      "outputtext",
      "finalmessage",
      "answer",
    ],
    in: ["TurnEnd"],
    fits: isText,
  },
  tool_name: {
    names: ["toolname", "toolcall.name", "toolresult.name", "tooluse.name", "tool.name", "tool"],
    in: TOOL,
    fits: isId,
  },
  tool_input: {
    names: [
      "toolinput",
      "toolargs",
      "toolcall.input",
      "toolresult.input",
      "tooluse.input",
      "tool.input",
      "args",
      "input",
    ],
    in: TOOL,
    fits: isRecord,
  },
  tool_use_id: {
    names: ["toolcallid", "tooluseid", "callid", "toolcall.id", "toolresult.id", "tooluse.id", "tool.id"],
    in: TOOL,
    fits: isId,
  },
  subagent_id: { names: ["agentid", "subagentid"], in: SUBAGENT, fits: isId },
  subagent_type: { names: ["agenttype", "subagenttype"], in: SUBAGENT, fits: isId },
  subagent_transcript_path: { names: ["agenttranscriptpath", "subagenttranscriptpath"], in: SUBAGENT, fits: isPath },
};

export interface FieldHints {
  /** The paths of files that the agent wrote. */
  files: readonly string[];
  cwd: string | null;
  tools: HooksSection["tools"];
}

/** The paths of each field that was found. */
export function proposeFields(sent: readonly Sent[], hints: FieldHints): HooksSection["fields"] {
  const fields: HooksSection["fields"] = {};
  for (const [field, search] of Object.entries(SEARCHES) as [FieldName, Search][]) {
    const paths = pathsOf(sent, field, search, hints);
    if (paths.length > 0) fields[field] = paths;
  }
  const inputs = fields.tool_input ?? [];
  const command = inside(sent, inputs, ["command", "commands", "cmd", "script"], isCommand);
  if (command.length > 0) fields.tool_command = command;
  const writing = sent.filter(({ raw }) => (fields.tool_name ?? []).some((path) => isWrite(valueAt(raw, path), hints)));
  const files = inside(writing, inputs, FILE_KEYS, isText);
  if (files.length > 0) fields.tool_paths = files;
  // An agent that names itself in every payload has no subagents there.
  if (fields.subagent_id && !sent.some(({ type }) => type === "SubagentStart" || type === "SubagentEnd")) {
    delete fields.subagent_id;
    delete fields.subagent_type;
  }
  return fields;
}

export const FILE_KEYS = ["filepath", "path", "notebookpath", "filename", "targetfile", "file", "absolutepath"];

function isWrite(name: unknown, { tools }: FieldHints): boolean {
  return typeof name === "string" && Object.hasOwn(tools, name) && tools[name] === "write";
}

function isCommand(value: unknown): boolean {
  return isText(value) || (Array.isArray(value) && isText(value[0]));
}

function pathsOf(sent: readonly Sent[], field: FieldName, search: Search, hints: FieldHints): string[] {
  const relevant = sent.filter(({ type }) => !search.in || (type !== null && search.in.includes(type)));
  const found = new Map<string, { rank: number; depth: number; has: Set<number> }>();
  for (const [index, { raw }] of relevant.entries()) {
    for (const leaf of leavesOf(raw, 3)) {
      const rank = rankOf(leaf, search);
      if (rank < 0 || !search.fits(leaf.value, leaf)) continue;
      const known = found.get(leaf.path) ?? {
        rank: rank - evidence(field, leaf, hints),
        depth: leaf.depth,
        has: new Set(),
      };
      known.has.add(index);
      found.set(leaf.path, known);
    }
  }
  const ordered = [...found].sort(([, a], [, b]) => a.rank - b.rank || a.depth - b.depth || b.has.size - a.has.size);
  const covered = new Set<number>();
  const paths: string[] = [];
  for (const [path, { has }] of ordered) {
    if ([...has].every((index) => covered.has(index))) continue;
    for (const index of has) covered.add(index);
    paths.push(path);
  }
  return paths.slice(0, 4);
}

/** The place in the list of names, or -1. */
function rankOf({ key, parent }: Leaf, { names }: Search): number {
  const name = squeezed(key);
  const both = `${squeezed(parent)}.${name}`;
  const within = names.indexOf(both);
  return within >= 0 ? within : names.indexOf(name);
}

/** What the recording shows beyond names: an id in the names of files, the directory, a file that grew. */
function evidence(field: FieldName, { value }: Leaf, { files, cwd }: FieldHints): number {
  if (typeof value !== "string") return 0;
  if (field === "session_id") return files.some((file) => file.includes(value)) ? 20 : 0;
  if (field === "cwd") return value === cwd ? 20 : 0;
  if (field === "transcript_path") return files.includes(value) ? 20 : 0;
  return 0;
}

/** Paths in the tool's input. */
function inside(
  sent: readonly Sent[],
  inputs: readonly string[],
  names: readonly string[],
  fits: (value: unknown) => boolean,
): string[] {
  const found = new Set<string>();
  for (const { raw } of sent) {
    for (const input of inputs) {
      for (const { path, key, value } of leavesOf(valueAt(raw, input), 1)) {
        if (names.includes(squeezed(key)) && fits(value)) found.add(`${input}${path.slice(1)}`);
      }
    }
  }
  return [...found];
}
