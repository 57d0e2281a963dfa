/** Finds a conversation's unfinished work: an unanswered prompt, commands that failed last, open to-do items. */
import { isRecord } from "../base/json.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { Conversation, Entry } from "../model/conversation.ts";
import { turnsIn } from "./turns.ts";

export interface OpenEnd {
  kind: "unanswered" | "failed" | "to-do";
  /** One line. */
  text: string;
}

const LENGTHS = { prompt: 200, command: 120, output: 160, item: 160 } as const;
/** Older failures were fixed, or do not matter. */
const RECENT_TURNS = 2;
const MAX_FAILED = 5;
const MAX_ITEMS = 15;
/** How agents report a failed command: "Exit code 1", "exited with code 2", "Exit Code: 127". */
const FAILED = /\bexit(?:ed)?(?: with)?(?: code| status)?:? ?[1-9]\d{0,2}\b/i;
const LOOKED_AT = 400;

export function openEnds(conversation: Conversation): OpenEnd[] {
  return [...unanswered(conversation), ...failedCommands(conversation), ...toDo(conversation)];
}

function unanswered(conversation: Conversation): OpenEnd[] {
  const last = turnsIn(conversation).at(-1);
  if (!last || last.answers.length > 0) return [];
  return [{ kind: "unanswered", text: `Not answered: ${shorten(oneLine(last.prompt), LENGTHS.prompt)}` }];
}

/** The latest result of each command counts; a command that passed later is not unfinished. */
function failedCommands(conversation: Conversation): OpenEnd[] {
  const recent = turnsIn(conversation)
    .slice(-RECENT_TURNS)
    .flatMap((turn) => turn.entries);
  const commands = new Map<string, string>();
  const outcome = new Map<string, string | null>();
  for (const entry of recent) {
    if (entry.toolUseId === null) continue;
    if (entry.type === "tool-use") {
      const command = commandOf(entry.toolInput);
      if (command !== null) commands.set(entry.toolUseId, command);
    } else if (entry.type === "tool-result") {
      const command = commands.get(entry.toolUseId);
      if (command !== undefined) outcome.set(command, hasFailed(entry) ? entry.text : null);
    }
  }
  return [...outcome]
    .filter((pair): pair is [string, string] => pair[1] !== null)
    .slice(-MAX_FAILED)
    .map(([command, output]) => ({
      kind: "failed",
      text: `Failed: \`${shorten(oneLine(command), LENGTHS.command)}\` (${shorten(oneLine(output), LENGTHS.output)})`,
    }));
}

function hasFailed({ text }: Entry): boolean {
  return FAILED.test(text.slice(0, LOOKED_AT)) || FAILED.test(text.slice(-LOOKED_AT));
}

function commandOf(input: unknown): string | null {
  if (!isRecord(input)) return null;
  const command = input["command"] ?? input["cmd"];
  if (typeof command === "string") return command;
  return Array.isArray(command) && command.every((word) => typeof word === "string") ? command.join(" ") : null;
}

/** The open items of the agent's latest to-do list. */
function toDo({ entries }: Conversation): OpenEnd[] {
  const last = entries.findLast((entry) => entry.type === "tool-use" && itemsOf(entry.toolInput).length > 0);
  return itemsOf(last?.toolInput)
    .filter(({ status }) => !/^(completed|done|cancelled|canceled)$/i.test(status))
    .slice(0, MAX_ITEMS)
    .map(({ text }) => ({ kind: "to-do", text: `To do: ${shorten(oneLine(text), LENGTHS.item)}` }));
}

/** `todos` of Claude Code, Gemini CLI, OpenCode and Droid; `plan` of Codex. */
function itemsOf(input: unknown): { text: string; status: string }[] {
  if (!isRecord(input)) return [];
  const list = input["todos"] ?? input["plan"];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    if (!isRecord(item)) return [];
    const text = item["content"] ?? item["description"] ?? item["step"];
    const status = item["status"];
    return typeof text === "string" && typeof status === "string" ? [{ text, status }] : [];
  });
}
