/** Finds sessions by an id prefix. */
import type { Workspace } from "../../git/workspace.ts";
import { type Step, TIMELINE_KINDS } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";

/** A shorter prefix may mean something else; a full id may have any length. */
const MIN_SESSION = 6;

/** The newest step of each session with this id prefix, or only of the exact match if there is one. */
export function sessionsBeginning(workspace: Workspace, beginning: string): Step[] {
  const found = new Map<string, Step>();
  for (const step of stepsIn(workspace).newestFirst({ sessionPrefix: beginning, kinds: TIMELINE_KINDS })) {
    if (step.session === null || found.has(step.session)) continue;
    if (step.session === beginning || beginning.length >= MIN_SESSION) found.set(step.session, step);
  }
  const exact = found.get(beginning);
  return exact ? [exact] : [...found.values()];
}
