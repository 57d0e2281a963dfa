/** Computes the diff of each turn for `log --patch`. */
import type { Workspace } from "../../../git/workspace.ts";
import { changedPaths } from "../../../model/changes.ts";
import type { Step } from "../../../model/step.ts";
import type { Turn } from "../../../model/turn.ts";
import { patchOfFiles } from "../../../steps/diff.ts";
import { stepsIn } from "../../../steps/log.ts";

const AT_ONCE = 4;

/** Keyed by the id of each turn's head. A turn without a recorded start or without changes has no diff. */
export async function patchesOf(
  workspace: Workspace,
  turns: readonly Turn[],
  isWanted: (path: string) => boolean,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waiting = [...turns];
  const work = async () => {
    for (let turn = waiting.shift(); turn; turn = waiting.shift()) {
      const text = await patchOf(workspace, turn, isWanted);
      if (text !== "") found.set(turn.head.id, text);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** Covers only files that the turn itself changed: another session may have worked in the same tree meanwhile. */
async function patchOf(workspace: Workspace, turn: Turn, isWanted: (path: string) => boolean): Promise<string> {
  const { head } = turn;
  const before = beginningOf(workspace, turn);
  const paths = changedPaths(head.files).filter(isWanted);
  if (!before || paths.length === 0) return "";
  return patchOfFiles(workspace, before.snapshot.work, head.snapshot.work, paths);
}

function beginningOf(workspace: Workspace, { head, steps }: Turn): Step | undefined {
  const start = head.kind === "turn-end" ? steps.find(({ kind }) => kind === "turn-start") : undefined;
  return start ?? (head.parent === null ? undefined : stepsIn(workspace).byId(head.parent));
}
