/** Lists the operations of a work tree: everything the user did with Backtrail and can revert. */

import { looksLikeStepId } from "../../base/ids.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";
import { type RestoreRecord, readRestores } from "../apply/restore-log.ts";
import { RestoreError } from "../problems.ts";
import { type DropRecord, readOperations, type TakenBackDrop, type TakenBackSave } from "./records.ts";

type OperationKind = "rewind" | "undo" | "redo" | "take" | "save" | "drop";

interface Base {
  id: string;
  time: string;
  /** The operation that this one reverted. */
  takesBack: string | null;
  /** The kind of that operation; null if none, or if it no longer exists. */
  reversed: OperationKind | null;
  /** The operation that reverted this one; null while this one is in effect. */
  takenBackBy: string | null;
}

export type Operation = Base &
  (
    | { kind: "rewind" | "undo" | "redo" | "take"; restore: RestoreRecord }
    | { kind: "save"; step: Step; name: string | null }
    | { kind: "drop"; drop: DropRecord }
    | { kind: "redo"; restore?: undefined; record: TakenBackSave | TakenBackDrop }
  );

type Unlinked = Operation extends infer Each
  ? Each extends Operation
    ? Omit<Each, "takenBackBy" | "reversed">
    : never
  : never;

/** Newest first. */
export function listOperations(workspace: Workspace): Operation[] {
  const others = readOperations(workspace);
  const found: Unlinked[] = [
    ...readRestores(workspace).flatMap((restore) => ofRestore(restore) ?? []),
    ...savesIn(
      workspace,
      others.filter((record) => record.kind === "redo" && record.what === "save") as TakenBackSave[],
    ),
    ...others.map(
      (record): Unlinked =>
        record.kind === "drop"
          ? { kind: "drop", id: record.id, time: record.time, takesBack: null, drop: record }
          : { kind: "redo", id: record.id, time: record.time, takesBack: record.takesBack, record },
    ),
  ];
  // The sort is stable: among equal times, later records come first.
  found.reverse().sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
  const kinds = new Map(found.map(({ id, kind }) => [id, kind]));
  const takenBack = new Map<string, string>();
  return found.map((operation) => {
    const takenBackBy = takenBack.get(operation.id) ?? null;
    if (takenBackBy === null && operation.takesBack !== null) takenBack.set(operation.takesBack, operation.id);
    const reversed = kinds.get(operation.takesBack ?? "") ?? null;
    return { ...operation, reversed, takenBackBy } as Operation;
  });
}

/** Finds an operation by a prefix of its id or its safety step's id; defaults to the newest one in effect. */
export function findOperation(workspace: Workspace, text?: string): Operation {
  const operations = listOperations(workspace);
  if (text === undefined) {
    const newest = operations.find(({ takenBackBy }) => takenBackBy === null);
    if (newest) return newest;
    throw new RestoreError("not-found", { kind: "no-operation" });
  }
  const wanted = text.trim();
  const found = looksLikeStepId(wanted)
    ? operations.filter((one) => idsOf(one).some((id) => id.startsWith(wanted)))
    : [];
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only)
    throw new RestoreError("usage", { kind: "operation-ambiguous", text: wanted, ids: found.map(({ id }) => id) });
  throw new RestoreError("not-found", { kind: "operation-unknown", text: wanted });
}

function idsOf(operation: Operation): string[] {
  return "restore" in operation && operation.restore ? [operation.id, operation.restore.safetyStep] : [operation.id];
}

/** Creating a fork's files is not an operation: the fork is dropped as a whole. */
function ofRestore(restore: RestoreRecord): Unlinked | undefined {
  const { id, time, takesBack, kind } = restore;
  return kind === "fork" ? undefined : { kind, id, time, takesBack, restore };
}

/** A step that lost its name still counts as the save that named it. */
function savesIn(workspace: Workspace, takenBack: readonly TakenBackSave[]): Unlinked[] {
  const names = new Map(takenBack.map(({ step, name }) => [step, name]));
  return stepsIn(workspace)
    .oldestFirst({ worktree: workspace.worktree, kinds: ["manual"] })
    .map((step) => {
      const { id, time, name } = step;
      return { kind: "save", id, time, takesBack: null, step, name: name ?? names.get(id) ?? null };
    });
}
