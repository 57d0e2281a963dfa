/** Lays out help texts from the command table: grouped commands at the top level, examples for every command. */

import { wrap } from "../render/layout/text.ts";
import type { Paint } from "../terminal/io.ts";
import { type CommandSpec, GROUPS, type OptionSpec } from "./spec.ts";

const INDENT = 2;
/** Help is prose: without a terminal it is wrapped as for a usual one. */
const PIPED_COLUMNS = 80;
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
  const names = [...shown.map(nameOf), ...EVERYWHERE.map(([flags]) => flags)];
  const width = Math.max(...names.map((name) => name.length)) + 2;
  const lines = [
    "Backtrail is undo for AI coding agents. It records what they do, turn by turn,",
    "and rewinds code and conversation together.",
    "",
    `${heading("Usage", paint)} backtrail <command> [options]`,
  ];
  for (const group of GROUPS) {
    const members = shown.filter((command) => command.group === group);
    if (members.length === 0) continue;
    lines.push("", paint("bold", group), ...members.flatMap((c) => row(nameOf(c), c.summary, width, columns)));
  }
  lines.push("", paint("bold", "Everywhere"));
  for (const [flags, text] of EVERYWHERE) lines.push(...row(flags, text, width, columns));
  lines.push("", paint("bold", "Examples"), ...examples(TOP_EXAMPLES, paint));
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
    const width = Math.max(...names.map((name) => name.length)) + 2;
    lines.push("", paint("bold", "Commands"));
    for (const [i, child] of children.entries()) lines.push(...row(names[i] ?? "", child.summary, width, columns));
  }
  const rows: OptionSpec[] = [...(alone?.options ?? []), { flags: "-h, --help", help: "show this help" }];
  const width =
    Math.max(...[...(alone?.arguments ?? []).map((a) => a.name), ...rows.map((o) => o.flags)].map((t) => t.length)) + 2;
  if (alone?.arguments?.length) {
    lines.push("", paint("bold", "Arguments"));
    for (const argument of alone.arguments) lines.push(...row(argument.name, argument.help, width, columns));
  }
  lines.push("", paint("bold", "Options"));
  for (const option of rows) lines.push(...row(option.flags, option.help, width, columns));
  if (command.examples?.length) lines.push("", paint("bold", "Examples"), ...examples(command.examples, paint));
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

function row(name: string, text: string, width: number, columns: number): string[] {
  const left = " ".repeat(INDENT) + name.padEnd(width);
  const [first = "", ...rest] = wrap(text, Math.max(30, columns - left.length));
  return [left + first, ...rest.map((line) => " ".repeat(left.length) + line)];
}

function examples(pairs: readonly (readonly [string, string])[], paint: Paint): string[] {
  const width = Math.max(...pairs.map(([command]) => command.length)) + 2;
  return pairs.map(([command, meaning]) => `  ${command.padEnd(width)}${paint("dim", meaning)}`);
}
