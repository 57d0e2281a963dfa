/** Decides whether a restore moves the branch too. */
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { HeadMove, RewindOptions, Target } from "../types.ts";

/** Null if the branch stays. */
export function headMove(present: Snapshot, target: Target, options: RewindOptions): HeadMove | null {
  if (target.kind === "turns") return null;
  const to = target.kind === "commit" ? target.commit : target.step.head;
  if (!options.resetHead || !to || !present.head || to === present.head) return null;
  if (target.kind === "step" && target.step.branch !== present.branch) return null;
  return { from: present.head, to };
}
