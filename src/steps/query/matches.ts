/** Filters turns by agent, file, text and time. Pure: uses only the given steps. */
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";

export interface TurnQuery {
  /** Matches any of these agents; every agent if empty. */
  agents: ReadonlySet<string>;
  /** Matches a prompt, an answer or a name, ignoring case. */
  text: string | null;
  changes: ((path: string) => boolean) | null;
  /** The turn ended at that time or later. */
  since: Date | null;
  /** The turn began before that time. */
  before: Date | null;
}

/** Every condition must hold. `steps` are all steps of one turn, newest first. */
export function matchesTurn(query: TurnQuery, steps: readonly Step[]): boolean {
  const { agents, since, before, changes } = query;
  if (agents.size > 0 && !steps.some(({ agent }) => agent !== null && agents.has(agent))) return false;
  if (since && !steps.some(({ time }) => Date.parse(time) >= since.getTime())) return false;
  if (before && !steps.some(({ time }) => Date.parse(time) < before.getTime())) return false;
  if (changes && !steps.some(({ files }) => changedPaths(files).some(changes))) return false;
  return query.text === null || contains(steps, query.text);
}

export function isEmptyQuery({ agents, text, changes, since, before }: TurnQuery): boolean {
  return agents.size === 0 && [text, changes, since, before].every((condition) => condition === null);
}

function contains(steps: readonly Step[], text: string): boolean {
  const wanted = text.toLowerCase();
  return steps.some(({ prompt, response, name }) =>
    [prompt, response, name].some((part) => part?.toLowerCase().includes(wanted)),
  );
}
