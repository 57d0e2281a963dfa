/** Lays out help texts from the command table: grouped commands at the top level, examples for every command. */

import { described, nameWidth } from "../render/layout/described.ts";
import { wrap } from "../render/layout/text.ts";
import type { Paint } from "../terminal/io.ts";
import { type CommandSpec, GROUPS, type OptionSpec } from "./spec.ts";

const INDENT = 2;
/** Help is prose: without a terminal it is wrapped as for a usual one. */
const PIPED_COLUMNS = 80;
const ABOUT =
  "Backtrail is undo for AI coding agents. It records what they do, turn by turn, and rewinds code and conversation together.";
const EVERYWHERE: readonly [string, string][] = [
  ["-C <directory>", "run in this directory"],
  ["-h, --help", "show help, also for a command"],
  ["-V, --version", "show the version"],
];
const TOP_EXAMPLES: readonly [string, string][] = [
  ["backtrail enable", "record the agents that work here"],
  ["backtrail log", "show what they did, turn by turn"],
  ["backtrail rewind", "choose a step and go back to it"],
  ["backtrail rewind last --dry-run", "show the plan without applying it"],
  ["backtrail redo", "undo the last rewind"],
];

/** `aiwr` is `backtrail run` as a separate program. */
export type ProgramName = "backtrail" | "aiwr";

/** Replaces `backtrail run` in a text if the user called `aiwr`. */
export function calledAs(name: ProgramName, text: string): string {
  return name === "aiwr" ? text.replaceAll("backtrail run", name) : text;
}

export function topHelp(commands: readonly CommandSpec[], paint: Paint, room: number): string {
  const columns = columnsFor(room);
  const shown = commands.filter((command) => !command.hidden && !command.path.includes(" "));
  const summaries = (of: readonly CommandSpec[]) => of.map((command) => [nameOf(command), command.summary] as const);
  const look = { indent: INDENT, width: nameWidth([...summaries(shown), ...EVERYWHERE]) };
  const lines = [...wrap(ABOUT, columns), "", `${heading("Usage", paint)} backtrail <command> [options]`];
  for (const group of GROUPS) {
    const members = shown.filter((command) => command.group === group);
    if (members.length > 0) lines.push("", paint("bold", group), ...described(summaries(members), columns, look));
  }
  lines.push("", paint("bold", "Everywhere"), ...described(EVERYWHERE, columns, look));
  lines.push("", paint("bold", "Examples"), ...examples(TOP_EXAMPLES, paint, columns));
  return `${lines.join("\n")}\n`;
}

export function commandHelp(command: CommandSpec, all: readonly CommandSpec[], paint: Paint, room: number): string {
  const columns = columnsFor(room);
  const children = all.filter((other) => other.path.startsWith(`${command.path} `) && !other.hidden);
  const lines = [...wrap(command.details ?? sentence(command.summary), columns), ""];
  // The command that runs if only the group is named.
  const alone = command.load ? command : children.find(({ isDefault }) => isDefault);
  for (const line of usages(command, alone, children.length > 0)) lines.push(`${heading("Usage", paint)} ${line}`);
  if (command.alias) lines.push(`${heading("Alias", paint)} backtrail ${command.alias}`);
  if (children.length > 0) {
    const names = children.map((child) => `${child.path.slice(command.path.length + 1)} ${argumentsOf(child)}`.trim());
    const summaries = children.map((child, i) => [names[i] ?? "", child.summary] as const);
    lines.push("", paint("bold", "Commands"), ...described(summaries, columns, { indent: INDENT }));
  }
  const given: OptionSpec[] = [...(alone?.options ?? []), { flags: "-h, --help", help: "show this help" }];
  const options = given.map(({ flags, help }) => [flags, help] as const);
  const args = (alone?.arguments ?? []).map(({ name, help }) => [name, help] as const);
  const look = { indent: INDENT, width: nameWidth([...args, ...options]) };
  if (args.length > 0) lines.push("", paint("bold", "Arguments"), ...described(args, columns, look));
  lines.push("", paint("bold", "Options"), ...described(options, columns, look));
  if (command.examples?.length)
    lines.push("", paint("bold", "Examples"), ...examples(command.examples, paint, columns));
  return `${lines.join("\n")}\n`;
}

/** A summary is a phrase in a list of commands; alone it is a sentence. */
function sentence(summary: string): string {
  const text = summary.replace(/ \(default\)$/, "");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function columnsFor(room: number): number {
  return Number.isFinite(room) ? room : PIPED_COLUMNS;
}

function usages({ path }: CommandSpec, alone: CommandSpec | undefined, hasChildren: boolean): string[] {
  const line = (rest: string) => ["backtrail", path, rest, "[options]"].filter((part) => part !== "").join(" ");
  return [...(alone ? [line(argumentsOf(alone))] : []), ...(hasChildren ? [line("<command>")] : [])];
}

function argumentsOf(command: CommandSpec): string {
  return (command.arguments ?? []).map((argument) => argument.name).join(" ");
}

function nameOf(command: CommandSpec): string {
  return command.alias ? `${command.path}, ${command.alias}` : command.path;
}

function heading(text: string, paint: Paint): string {
  return paint("bold", `${text}:`);
}

function examples(pairs: readonly (readonly [string, string])[], paint: Paint, columns: number): string[] {
  return described(pairs, columns, { indent: INDENT, paint: (text) => paint("dim", text) });
}
