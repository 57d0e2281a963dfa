/** What maintenance repaired or finished, as data. cli/render/words/maintenance.ts has the sentences. */
export type MaintenanceEvent =
  | { kind: "saves-finished"; steps: number }
  | { kind: "turns-closed"; turns: number }
  | { kind: "purge-interrupted" }
  | { kind: "purge-finished" }
  | { kind: "forget-finished"; conversations: number }
  /** `file`: relative to the work tree. */
  | { kind: "hooks-put-back"; file: string; agent: string };
