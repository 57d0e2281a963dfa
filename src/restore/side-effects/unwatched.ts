/** Names changed files that git is set not to check, which no step records and no restore touches. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { PlanInput } from "../plan/files.ts";
import type { RestoreRequest } from "../plan/plan.ts";
import type { SideEffect } from "./model.ts";

/** In a sparse checkout most of the marked files do not exist, and there may be very many. */
const MAX_LOOKED_AT = 20_000;
const SHOWN = 20;

/** The marked files that exist and have changed since the state that is returned to. */
export function changedUnwatched(
  root: string,
  { skipWorktreePaths, isSelected }: Pick<PlanInput, "skipWorktreePaths" | "isSelected">,
  { kind, target }: RestoreRequest,
): SideEffect[] {
  const since = kind === "fork" ? undefined : beginningOf(target);
  if (since === undefined) return [];
  const changed: SideEffect[] = [];
  let looked = 0;
  for (const path of skipWorktreePaths) {
    if (++looked > MAX_LOOKED_AT) break;
    if (!isSelected(path)) continue;
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (!stat || stat.isDirectory() || Math.max(stat.mtimeMs, stat.ctimeMs) < since) continue;
    changed.push({ kind: "left-alone", path, reason: { kind: "unwatched" } });
  }
  const [like] = changed;
  if (!like || changed.length <= SHOWN) return changed;
  return [...changed.slice(0, SHOWN), { kind: "more", count: changed.length - SHOWN, like }];
}

/** A commit says nothing about when its files were last as they are in it. */
function beginningOf(target: RestoreRequest["target"]): number | undefined {
  if (target.kind === "step") return Date.parse(target.step.time);
  if (target.kind !== "turns") return undefined;
  return Math.min(...target.turns.map(({ first, last }) => Date.parse((first ?? last).time)));
}
