/** What the user did with Backtrail, and what `redo` would take back. */
import { activeRestores } from "../../../../restore/apply/restore-log.ts";
import type { OperationRow, RedoState } from "../../../protocol.ts";
import type { Context } from "../../routes.ts";
import { operationRows } from "./turn-rows.ts";

const MAX_OPERATIONS = 500;

export async function operations({ repository }: Context): Promise<{ operations: OperationRow[]; redo: RedoState }> {
  const rows = operationRows(repository, repository.turns().turns);
  const newest = activeRestores(repository.workspace).at(-1);
  const operation = newest && rows.find(({ id }) => id === newest.id);
  return {
    operations: rows.slice(0, MAX_OPERATIONS),
    redo: operation ? { possible: true, operation } : { possible: false },
  };
}
