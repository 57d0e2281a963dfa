/** What an agent ran and wrote, told from stretches of its conversation. */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import type { Agent } from "../agents/agent.ts";
import { textAt } from "../agents/paths.ts";
import { isRecord } from "../agents/profile.ts";
import { getAgent } from "../agents/registry.ts";
import { codeOf } from "../base/errors.ts";
import { sessionKey } from "../base/ids.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession } from "../lifecycle/session-state.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";
import { readTranscript } from "../steps/transcript.ts";
import type { Entry } from "../transcripts/model.ts";
import { maySay } from "./commands.ts";
import type { FoundTurn } from "./turns.ts";

/** A part of a session's conversation, with its subagents' own. */
export interface Stretch {
  agent: string;
  session: string;
  path: string;
  generation: number;
  from: number;
  /** null: to the end. */
  to: number | null;
  /** Steps at which subagents ended: their conversations are kept with these. */
  tasks: string[];
}

export interface Deed {
  tool: string | null;
  command: string | null;
  background: boolean;
  files: string[];
  cwd: string;
}

/** Read at once. */
const PIECE = 4 << 20;
/** Read of one stretch. */
const MOST_BYTES = 256 << 20;
const NEWLINE = 10;

/** `unread` counts the bytes that were too many. A conversation that is gone tells nothing. */
export async function deedsIn(workspace: Workspace, stretch: Stretch): Promise<{ deeds: Deed[]; unread: number }> {
  const agent = await getAgent(stretch.agent);
  const deeds: Deed[] = [];
  if (!agent?.analyser) return { deeds, unread: 0 };
  const key = sessionKey(stretch.agent, stretch.session);
  const state = loadSession(workspace, key);
  const cwd = state?.cwd ?? workspace.root;
  const take = (bytes: Uint8Array) => {
    for (const entry of agent.analyser?.read(bytes).entries ?? []) deeds.push(...deedOf(agent, entry, cwd));
  };
  let unread = 0;
  try {
    const isCurrent = (state?.transcript?.generation ?? stretch.generation) === stretch.generation;
    if (isCurrent && existsSync(stretch.path)) unread = readPieces(stretch, take);
    else {
      // The agent has written its conversation anew since, or cleared it away; what it was then is in the store.
      const end = stretch.to ?? Number.MAX_SAFE_INTEGER;
      const stored = await readTranscript(workspace, key, stretch.generation, end);
      take(stored.subarray(stretch.from, stretch.from + MOST_BYTES));
      unread = Math.max(0, stored.length - stretch.from - MOST_BYTES);
    }
    for (const id of stretch.tasks) take(await readTranscript(workspace, key, 0, MOST_BYTES, `tasks/${id}`));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") logError("reading what was done", error);
  }
  return { deeds, unread };
}

/** Of every session that worked in this work tree since the step. */
export function stretchesSince(workspace: Workspace, target: Step): Stretch[] {
  const found = new Map<string, Stretch>();
  for (const step of stepsNewestFirst(workspace)) {
    const { agent, session } = step;
    if (step.worktree === workspace.worktree && session !== null && agent !== null) {
      // Offsets of a conversation that was written anew don't compare with those of before.
      const key = [agent, session, step.transcript?.generation ?? 0].join("\0");
      const known = found.get(key);
      const from = positionOf(step, known);
      const tasks = step.subagent?.when === "end" && step.id !== target.id ? [step.id] : [];
      if (from) found.set(key, { agent, session, ...from, to: null, tasks: [...(known?.tasks ?? []), ...tasks] });
      else known?.tasks.push(...tasks);
    }
    if (step.id === target.id) break;
  }
  return [...found.values()];
}

/** Of a turn, or of a subagent alone. */
export function stretchOf({ agent, session, subagent, first, last, tasks }: FoundTurn): Stretch[] {
  const end = last.transcript;
  if (!end) return [];
  const begins = first?.transcript?.generation === end.generation ? first.transcript.offset : 0;
  const { path, generation, offset } = end;
  return [{ agent, session, path, generation, from: subagent === null ? begins : offset, to: offset, tasks }];
}

/** A turn that began before there was a conversation begins with it. */
function positionOf(
  { transcript, kind }: Step,
  known: Stretch | undefined,
): Pick<Stretch, "path" | "generation" | "from"> | undefined {
  if (transcript) return { path: transcript.path, generation: transcript.generation, from: transcript.offset };
  return kind === "turn-start" && known ? { path: known.path, generation: known.generation, from: 0 } : undefined;
}

function deedOf(agent: Agent, entry: Entry, cwd: string): Deed[] {
  const commands = entry.type === "tool-use" ? commandsOf(agent, entry) : [];
  const background = isRecord(entry.toolInput) && entry.toolInput["run_in_background"] === true;
  const one = { tool: entry.toolName, background, cwd };
  const telling = commands.filter((command) => background || maySay(command));
  if (telling.length > 0) return telling.map((command) => ({ ...one, command, files: entry.files }));
  return entry.files.length > 0 ? [{ ...one, command: null, files: entry.files }] : [];
}

/** By the names that its hooks use; a script that calls tools holds its commands as JSON. */
function commandsOf({ profile: { hooks } }: Agent, { toolName, toolInput: input }: Entry): string[] {
  if (typeof input === "string") return toolName === "exec" ? commandsInScript(input) : [];
  if (!isRecord(input)) return [];
  const isShell =
    toolName !== null && hooks && Object.hasOwn(hooks.tools, toolName) && hooks.tools[toolName] === "shell";
  if (!isShell && toolName !== "exec_command") return [];
  const asHook = { tool_input: input, toolInput: input, toolArgs: input, tool: { input }, input };
  const command = textAt(asHook, hooks?.fields.tool_command ?? []) ?? input["command"] ?? input["cmd"];
  return typeof command === "string" && command !== "" ? [command] : [];
}

function commandsInScript(script: string): string[] {
  return [...script.matchAll(/"cmd":\s*("(?:[^"\\]|\\.)*")/g)].flatMap(([, quoted = ""]) => {
    try {
      return [String(JSON.parse(quoted))];
    } catch {
      return [];
    }
  });
}

/** Whole lines, a few megabytes at a time; the bytes that were left. */
function readPieces({ path, from, to }: Stretch, take: (bytes: Uint8Array) => void): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 0;
    const end = Math.min(stat.size, to ?? stat.size);
    let at = from;
    let size = PIECE;
    while (at < end && at - from < MOST_BYTES) {
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
      if (size > MOST_BYTES) break;
    }
    return Math.max(0, end - at);
  } finally {
    closeSync(fd);
  }
}
