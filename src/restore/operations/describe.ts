/** Looks up the subject of a restore: its target step or the prompts of its turns. */
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { turnKey } from "../../model/turn.ts";
import { stepsIn } from "../../steps/log.ts";

import type { RestoreRecord } from "../apply/restore-log.ts";

export type RestoreSubject =
  | { kind: "state"; commit: string }
  /** `found` is null if the step no longer exists. */
  | { kind: "step"; id: string; found: Step | null }
  | { kind: "turns"; turns: { prompt: string | null; isSubagent: boolean }[] }
  | { kind: "fork"; name: string };

export function subjectOf(workspace: Workspace, { kind, target }: RestoreRecord): RestoreSubject {
  if ("commit" in target) return { kind: "state", commit: target.commit };
  if ("step" in target) return { kind: "step", id: target.step, found: stepsIn(workspace).byId(target.step) ?? null };
  if (kind === "take") return { kind: "fork", name: target.changes[0]?.name ?? "" };
  const prompts = promptsOf(workspace, new Set(target.turns.map((turn) => turnKey(turn))));
  const turns = target.turns.map((turn) => ({
    prompt: prompts.get(turnKey(turn)) ?? null,
    isSubagent: turn.subagent !== null,
  }));
  return { kind: "turns", turns };
}

function promptsOf(workspace: Workspace, wanted: ReadonlySet<string>): Map<string, string> {
  const prompts = new Map<string, string>();
  for (const step of stepsIn(workspace).newestFirst({ kinds: ["turn-start", "turn-end"] })) {
    if (prompts.size === wanted.size) break;
    const key = turnKey(step);
    if (step.prompt !== null && wanted.has(key) && !prompts.has(key)) prompts.set(key, step.prompt);
  }
  return prompts;
}
