/** Reads the commands an agent ran and the files it wrote from slices of its conversation. */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Agent } from "../../agents/contract/agent.ts";
import { textAt } from "../../agents/registry/paths.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { codeOf } from "../../base/errors.ts";
import { sessionKey } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Entry } from "../../model/conversation.ts";
import type { Step } from "../../model/step.ts";
import { loadSession } from "../../recording/session/store.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { stepsIn } from "../../steps/log.ts";
import type { FoundTurn } from "../targets/turns.ts";
import { maySay } from "./shell.ts";
import { mayTouchFiles } from "./touched-paths.ts";

/** A slice of a session's conversation, with those of its subagents. */
export interface Stretch {
  agent: string;
  session: string;
  path: string;
  generation: number;
  from: number;
  /** Null means the end of the transcript. */
  to: number | null;
  /** End steps of subagents, which store their conversations. */
  tasks: string[];
}

export interface AgentAction {
  tool: string | null;
  command: string | null;
  background: boolean;
  files: string[];
  /** The tool's working directory, with links resolved. */
  cwd: string;
}

/** Bytes read at a time. */
const PIECE = 4 << 20;
/** Maximum bytes read per slice. */
const MAX_BYTES = 256 << 20;
const NEWLINE = 10;
const COMMAND_LENGTH = 100;
/** Input fields in which agents pass a command's working directory. */
const DIRECTORY_INPUTS = ["workdir", "cwd", "dir_path", "directory"];

/** `unread` counts the bytes beyond the limit. A missing transcript yields no actions. */
export async function agentActions(
  workspace: Workspace,
  stretch: Stretch,
): Promise<{ actions: AgentAction[]; unread: number }> {
  const agent = await getAgent(stretch.agent);
  const actions: AgentAction[] = [];
  if (!agent?.analyzer) return { actions, unread: 0 };
  const key = sessionKey(stretch.agent, stretch.session);
  const state = loadSession(workspace, key);
  const cwd = state?.cwd ?? workspace.root;
  const take = (bytes: Uint8Array) => {
    for (const entry of agent.analyzer?.read(bytes).entries ?? []) actions.push(...actionsOf(agent, entry, cwd));
  };
  let unread = 0;
  try {
    const isCurrent = (state?.transcript?.generation ?? stretch.generation) === stretch.generation;
    if (isCurrent && existsSync(stretch.path)) unread = readPieces(stretch, take);
    else {
      // The agent has rewritten or deleted its transcript since; the store has the recorded version.
      const end = stretch.to ?? Number.MAX_SAFE_INTEGER;
      const stored = await readTranscript(workspace, key, stretch.generation, end);
      take(stored.subarray(stretch.from, stretch.from + MAX_BYTES));
      unread = Math.max(0, stored.length - stretch.from - MAX_BYTES);
    }
    for (const id of stretch.tasks) take(await readTranscript(workspace, key, 0, MAX_BYTES, `tasks/${id}`));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") logError("reading what was done", error);
  }
  return { actions, unread };
}

/** Slices of every session that worked in this work tree since the step. */
export function stretchesSince(workspace: Workspace, target: Step): Stretch[] {
  const found = new Map<string, Stretch>();
  for (const step of stepsIn(workspace).newestFirst({ worktree: workspace.worktree, backTo: target.id })) {
    const { agent, session } = step;
    if (session === null || agent === null) continue;
    // Offsets into a rewritten transcript are not comparable with earlier ones.
    const key = [agent, session, step.transcript?.generation ?? 0].join("\0");
    const known = found.get(key);
    const from = positionOf(step, known);
    const tasks = step.subagent?.when === "end" && step.id !== target.id ? [step.id] : [];
    if (from) found.set(key, { agent, session, ...from, to: null, tasks: [...(known?.tasks ?? []), ...tasks] });
    else known?.tasks.push(...tasks);
  }
  return [...found.values()];
}

/** The slice of a turn, or of a single subagent. */
export function stretchOf({ agent, session, subagent, first, last, tasks }: FoundTurn): Stretch[] {
  const end = last.transcript;
  if (!end) return [];
  const begins = first?.transcript?.generation === end.generation ? first.transcript.offset : 0;
  const { path, generation, offset } = end;
  return [{ agent, session, path, generation, from: subagent === null ? begins : offset, to: offset, tasks }];
}

/** If the transcript did not exist when the turn began, the slice starts at its beginning. */
function positionOf(
  { transcript, kind }: Step,
  known: Stretch | undefined,
): Pick<Stretch, "path" | "generation" | "from"> | undefined {
  if (transcript) return { path: transcript.path, generation: transcript.generation, from: transcript.offset };
  return kind === "turn-start" && known ? { path: known.path, generation: known.generation, from: 0 } : undefined;
}

export function shownCommand(command: string): string {
  return shorten(oneLine(command), COMMAND_LENGTH);
}

function actionsOf(agent: Agent, entry: Entry, sessionCwd: string): AgentAction[] {
  const isUse = entry.type === "tool-use";
  const own = isUse ? agent.shellUse?.(entry.toolName, entry.toolInput) : null;
  const commands = own?.commands ?? (isUse ? commandsOf(agent, entry) : []);
  const background = own?.inBackground === true;
  const telling = commands.filter((command) => background || maySay(command) || mayTouchFiles(command));
  if (telling.length === 0 && entry.files.length === 0) return [];
  const one = { tool: entry.toolName, background, cwd: directoryOf(entry, sessionCwd) };
  if (telling.length > 0) return telling.map((command) => ({ ...one, command, files: entry.files }));
  return [{ ...one, command: null, files: entry.files }];
}

/** The directory given to the tool, else the agent's at that time, else the session's. */
function directoryOf({ toolInput, cwd }: Entry, sessionCwd: string): string {
  const base = cwd ?? sessionCwd;
  const given = isRecord(toolInput) ? DIRECTORY_INPUTS.map((name) => toolInput[name]) : [];
  const own = given.find((value) => typeof value === "string" && value !== "");
  const directory = typeof own === "string" ? resolve(base, own) : base;
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/** Finds shell commands by the tool and field names of the agent's hooks. */
function commandsOf({ profile: { hooks } }: Agent, { toolName, toolInput: input }: Entry): string[] {
  if (!isRecord(input)) return [];
  const isShell =
    toolName !== null && hooks && Object.hasOwn(hooks.tools, toolName) && hooks.tools[toolName] === "shell";
  if (!isShell) return [];
  const asHook = { tool_input: input, toolInput: input, toolArgs: input, tool: { input }, input };
  const command = textAt(asHook, hooks?.fields.tool_command ?? []) ?? input["command"] ?? input["cmd"];
  return typeof command === "string" && command !== "" ? [command] : [];
}

/** Reads whole lines, a few megabytes at a time. Returns the number of unread bytes. */
function readPieces({ path, from, to }: Stretch, take: (bytes: Uint8Array) => void): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 0;
    const end = Math.min(stat.size, to ?? stat.size);
    let at = from;
    let size = PIECE;
    while (at < end && at - from < MAX_BYTES) {
      const block = Buffer.alloc(Math.min(size, end - at));
      const length = readSync(fd, block, 0, block.length, at);
      if (length === 0) break;
      const whole = block.subarray(0, length).lastIndexOf(NEWLINE) + 1;
      if (whole === 0 && at + length < end) size *= 2;
      else {
        take(block.subarray(0, whole === 0 ? length : whole));
        at += whole === 0 ? length : whole;
        size = PIECE;
      }
      if (size > MAX_BYTES) break;
    }
    return Math.max(0, end - at);
  } finally {
    closeSync(fd);
  }
}
