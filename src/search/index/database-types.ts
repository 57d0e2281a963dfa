/** The few functions of SQLite that the index uses; database.ts and database.node.ts implement them. */
export type Value = string | number | null | Uint8Array;

export interface Statement {
  run(...values: Value[]): void;
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}

export interface Database {
  /** Runs statements that return nothing. */
  execute(sql: string): void;
  /** Compiles a statement once for each text. */
  statement(sql: string): Statement;
  close(): void;
}
