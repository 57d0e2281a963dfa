/** Renders the list of operations as text and as JSON. */
import { oneLine } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { RestoreRecord } from "../../../restore/apply/restore-log.ts";
import type { Operation } from "../../../restore/operations/list.ts";
import type { Paint } from "../../terminal/io.ts";
import { fitQuoted, pad, widthOf } from "../layout/text.ts";
import { age } from "../layout/time.ts";
import { operationSentence } from "./sentence.ts";

export interface OperationsView {
  paint: Paint;
  columns: number;
  now: Date;
}

const MIN_SENTENCE = 20;

/** One line per operation, followed by the step that holds the state before it. */
export function operationLines(workspace: Workspace, operations: readonly Operation[], view: OperationsView): string[] {
  const { paint, columns, now } = view;
  const widest = Math.max(0, ...operations.map(({ time }) => widthOf(age(time, now))));
  return operations.flatMap((operation) => {
    const takenBack = operation.takenBackBy === null ? "" : "  undone";
    const when = pad(age(operation.time, now), widest);
    const room = Math.max(MIN_SENTENCE, columns - operation.id.length - widest - 4 - takenBack.length);
    const sentence = fitQuoted(operationSentence(workspace, operation), room);
    const head = `${paint("magenta", operation.id)}  ${paint("dim", when)}  ${sentence}${paint("yellow", takenBack)}`;
    const restore = restoreOf(operation);
    return restore ? [head, paint("dim", `  state before: ${restore.safetyStep}`)] : [head];
  });
}

export function operationJson(workspace: Workspace, operation: Operation) {
  const { id, kind, time, takesBack, takenBackBy } = operation;
  const restore = restoreOf(operation);
  return {
    id,
    kind,
    time,
    description: operationSentence(workspace, operation),
    takesBack,
    takenBackBy,
    safetyStep: restore?.safetyStep ?? null,
    target: restore ? targetJson(restore) : null,
    step: operation.kind === "save" ? operation.step.id : null,
    name: operation.kind === "save" && operation.name !== null ? oneLine(operation.name) : null,
    fork: forkOf(operation),
  };
}

function restoreOf(operation: Operation): RestoreRecord | undefined {
  return "restore" in operation ? operation.restore : undefined;
}

function targetJson({ target, kind }: RestoreRecord) {
  if (kind === "take") return null;
  return "turns" in target ? { turns: target.turns } : target;
}

function forkOf(operation: Operation): string | null {
  if (operation.kind === "drop") return operation.drop.fork.name;
  const restore = restoreOf(operation);
  if (restore?.kind === "take" && "turns" in restore.target) return restore.target.changes[0]?.name ?? null;
  return operation.kind === "redo" && !operation.restore && operation.record.what === "drop"
    ? operation.record.fork
    : null;
}
