/** Finds sessions by an id prefix. */
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";

/** A shorter prefix may mean something else; a full id may have any length. */
const MIN_SESSION = 6;

/** The newest step of each session with this id prefix, or only of the exact match if there is one. */
export function sessionsBeginning(workspace: Workspace, beginning: string): Step[] {
  const found = new Map<string, Step>();
  for (const step of stepsNewestFirst(workspace, { part: `"session":${JSON.stringify(beginning).slice(0, -1)}` })) {
    if (step.session === null || step.kind === "safety" || found.has(step.session)) continue;
    const isLongEnough = step.session === beginning || beginning.length >= MIN_SESSION;
    if (isLongEnough && step.session.startsWith(beginning)) found.set(step.session, step);
  }
  const exact = found.get(beginning);
  return exact ? [exact] : [...found.values()];
}
