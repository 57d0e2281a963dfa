/**
 * The coverage ledger: what a restore of files does not take back of what agents did in some stretch of time, read from
 * their conversations, from git's refs and from what git ignores; each with the command that did it. A long conversation
 * is read in pieces, from where the stretch begins, and not without end.
 */
import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { isInside } from "../base/paths.ts";
import { oneLine, plural, shorten, shownPath } from "../base/text.ts";
import { nulSeparated } from "../git/conversion.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { type CommandEffect, effectsOfCommand, filesWrittenBy, type Made } from "./commands.ts";
import { type Deed, deedsIn, type Stretch } from "./deeds.ts";
import type { NotUndone } from "./model.ts";
import { type MadeInGit, madeBetween, type Span } from "./refs-since.ts";

const COMMAND_LENGTH = 100;
/** Rows of one kind. */
const MOST_ROWS = 20;

/** What happened in these stretches of conversations, within this span of time; `made` is known to be git's. */
export async function coverage(
  workspace: Workspace,
  stretches: readonly Stretch[],
  span: Span,
  made: readonly MadeInGit[] | Promise<readonly MadeInGit[]>,
): Promise<NotUndone[]> {
  const making = madeBetween(workspace, span);
  // Waited for at the end, and its failure with it.
  making.catch(() => {});
  const deeds: Deed[] = [];
  let unread = 0;
  for (const stretch of stretches) {
    const read = await deedsIn(workspace, stretch);
    deeds.push(...read.deeds);
    unread += read.unread;
  }
  const effects = effectsOf(deeds);
  const inGit = [...(await made), ...(await making)];
  const told = new Set(inGit.map((one) => one.made));
  const megabytes = plural(Math.ceil(unread / (1 << 20)), "megabyte");
  return [
    ...few(inGit.map(({ made, what, why }) => row(what, why, commandThat(effects, made, what)))),
    ...few(await fileRows(workspace, deeds)),
    ...few(effects.flatMap((effect) => effectRow(effect, told))),
    ...(unread > 0 ? [row(`What was done in ${megabytes} of conversation`, "it is too long to be read whole")] : []),
  ];
}

interface Effects {
  command: string;
  effects: CommandEffect[];
}

/** Each command once. */
function effectsOf(deeds: readonly Deed[]): Effects[] {
  const found = new Map<string, Effects>();
  for (const { command, background } of deeds) {
    if (command === null) continue;
    const effects = effectsOfCommand(command, background);
    if (effects.length > 0) found.set(shownCommand(command), { command: shownCommand(command), effects });
  }
  return [...found.values()];
}

/** The one that names it, else the newest that makes such things. */
function commandThat(all: readonly Effects[], made: Made, what: string): string | undefined {
  const makers = all.filter(({ effects }) => effects.some(({ makes }) => makes === made)).map(({ command }) => command);
  const name = what.slice(what.indexOf(" ") + 1);
  return makers.findLast((command) => command.includes(name)) ?? makers.at(-1);
}

/** What refs tell of is told there. */
function effectRow({ command, effects }: Effects, told: ReadonlySet<Made>): NotUndone[] {
  const whys = effects.filter(({ makes }) => !makes || !told.has(makes)).map(({ why }) => why);
  return whys.length === 0 ? [] : [row(`\`${command}\``, whys.join("; "), command)];
}

/** Files that no step holds: outside of the work tree, or ignored. */
async function fileRows(workspace: Workspace, deeds: readonly Deed[]): Promise<NotUndone[]> {
  const written = new Map<string, string | undefined>();
  for (const { files, command, cwd, tool } of deeds) {
    const names = command === null ? files : [...files, ...filesWrittenBy(command)];
    const by = command === null ? (tool ?? undefined) : shownCommand(command);
    for (const name of names) {
      const path = isAbsolute(name) ? resolve(name) : resolve(cwd, name);
      if (!written.get(path)) written.set(path, by);
    }
  }
  const outside = [...written].filter(([path]) => !isInside(workspace.root, path));
  const ignored = await ignoredOf(
    workspace,
    [...written.keys()].filter((path) => isInside(workspace.root, path)),
  );
  return [
    ...ignored.map((path) =>
      row(shownPath(path), "it is ignored by git, so it is not recorded", written.get(join(workspace.root, path))),
    ),
    ...outside.map(([path, by]) => row(shownPath(path), "it lies outside of this folder", by)),
  ];
}

/** Those that are there and ignored, from the work tree's root. */
async function ignoredOf(workspace: Workspace, paths: readonly string[]): Promise<string[]> {
  const there = paths.filter((path) => existsSync(path)).map((path) => relative(workspace.root, path));
  const names = there.filter((path) => path !== "" && path !== ".git" && !path.startsWith(".git/"));
  if (names.length === 0) return [];
  const { args, cwd } = gitLocation(workspace);
  const asked = await tryGit([...args, "check-ignore", "-z", "--stdin"], { cwd, input: nulSeparated(names) });
  // 1: none of them is.
  if (asked.code !== 0) return [];
  return asked.stdout
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
}

function row(what: string, why: string, command?: string): NotUndone {
  return command === undefined ? { what, why } : { what, why, command };
}

function few(rows: readonly NotUndone[]): NotUndone[] {
  const more = rows.length - MOST_ROWS;
  const last = rows.at(-1);
  return more > 0 && last ? [...rows.slice(0, MOST_ROWS), { what: `${more} more`, why: last.why }] : [...rows];
}

export function shownCommand(command: string): string {
  return shorten(oneLine(command), COMMAND_LENGTH);
}
