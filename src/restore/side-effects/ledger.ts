/**
 * The coverage ledger: what agents did in a time span that restoring files does not undo, each with the responsible
 * command. Reads conversations (in pieces, up to a limit), git's refs and the ignored files.
 */
import type { Workspace } from "../../git/workspace.ts";
import { type AgentAction, agentActions, type Stretch, shownCommand } from "./actions.ts";
import { fileEffects, type IgnoredSpan } from "./file-effects.ts";
import { gitChangesBetween, type Span } from "./git-refs.ts";
import type { GitChanges, SideEffect } from "./model.ts";
import { type CommandEffect, effectsOfCommand, type Made } from "./shell.ts";

/** Maximum effects per group. */
const MAX_EFFECTS = 20;

/** The side effects within these conversation slices and this time span; `made` are changes already found in git. */
export async function coverage(
  workspace: Workspace,
  stretches: readonly Stretch[],
  span: Span,
  made: readonly GitChanges[] | Promise<readonly GitChanges[]>,
  ignored: Promise<IgnoredSpan>,
): Promise<SideEffect[]> {
  const making = gitChangesBetween(workspace, span);
  // This and `touching` are awaited below, which reports a failure.
  making.catch(() => {});
  const actions: AgentAction[] = [];
  let unread = 0;
  for (const stretch of stretches) {
    const read = await agentActions(workspace, stretch);
    actions.push(...read.actions);
    unread += read.unread;
  }
  const effects = effectsOf(actions);
  const touching = fileEffects(workspace, actions, ignored);
  touching.catch(() => {});
  const inGit = [...(await made), ...(await making)];
  const known = new Set(inGit.map(madeBy));
  return [
    ...few(inGit.map((one) => withCommand(one, commandThat(effects, one)))),
    ...few(await touching),
    ...few(effects.flatMap((effect) => commandEffect(effect, known))),
    ...(unread > 0 ? [{ kind: "conversation-unread" as const, bytes: unread }] : []),
  ];
}

function madeBy({ kind }: GitChanges): Made {
  return kind === "commits" ? "commit" : kind;
}

function withCommand(made: GitChanges, by: string | undefined): GitChanges {
  return by === undefined ? made : { ...made, by };
}

interface Effects {
  command: string;
  effects: CommandEffect[];
}

/** Each command once. */
function effectsOf(actions: readonly AgentAction[]): Effects[] {
  const found = new Map<string, Effects>();
  for (const { command, background } of actions) {
    if (command === null) continue;
    const effects = effectsOfCommand(command, background);
    if (effects.length > 0) found.set(shownCommand(command), { command: shownCommand(command), effects });
  }
  return [...found.values()];
}

/** The last command that names it, else the last that creates such objects. */
function commandThat(all: readonly Effects[], made: GitChanges): string | undefined {
  const makers = all.filter(({ effects }) => effects.includes(madeBy(made))).map(({ command }) => command);
  const name = made.kind === "commits" ? null : made.name;
  return makers.findLast((command) => name !== null && command.includes(name)) ?? makers.at(-1);
}

/** Omits effects that refs already show. */
function commandEffect({ command, effects }: Effects, known: ReadonlySet<CommandEffect>): SideEffect[] {
  const others = effects.filter((effect) => !known.has(effect));
  return others.length === 0 ? [] : [{ kind: "command", command, effects: others }];
}

function few(effects: readonly SideEffect[]): SideEffect[] {
  const count = effects.length - MAX_EFFECTS;
  const like = effects.at(-1);
  return count > 0 && like ? [...effects.slice(0, MAX_EFFECTS), { kind: "more", count, like }] : [...effects];
}
