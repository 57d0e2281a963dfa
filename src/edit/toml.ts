/** Parses TOML into its value and the location of each table and key. Read-only. */
import { type AST, parseTOML } from "toml-eslint-parser";
import { messageOf } from "../base/errors.ts";
import { emptyTable, isTable, type Table, UnsupportedDocument, type Value } from "./value.ts";

export interface TomlDocument {
  /** Strings, booleans, lists and tables keep their type; any other value becomes a pair of its kind and its text. */
  value: Table;
  /** Tables that have their own header, in file order. */
  tables: TomlTable[];
}

export interface TomlTable {
  path: (string | number)[];
  /** From the opening bracket to the end of the last name. */
  header: Span;
  /** The comment on the header's line. */
  comment: (Span & { text: string }) | undefined;
  keys: TomlKey[];
}

interface TomlKey {
  path: string[];
  /** From the key's name to the end of its value. */
  whole: Span;
  value: Span;
}

export interface Span {
  start: number;
  end: number;
}

export function readToml(text: string): TomlDocument {
  const program = parsed(text);
  const [top] = program.body;
  const value = emptyTable();
  const tables: TomlTable[] = [];
  for (const item of top.body) {
    if (item.type === "TOMLKeyValue") {
      put(value, item);
      continue;
    }
    const table = tableAt(value, item.resolvedKey);
    for (const pair of item.body) put(table, pair);
    tables.push(tableOf(item, program.comments));
  }
  return { value, tables };
}

/** Quotes a string or key. TOML supports every JSON escape, and also requires U+007F to be escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: "1.1" });
  } catch (error) {
    const line = error instanceof Error && "lineNumber" in error ? Number(error.lineNumber) : null;
    throw new UnsupportedDocument({ kind: "not-toml", reason: messageOf(error), line });
  }
}

function tableOf(node: AST.TOMLTable, comments: readonly AST.Comment[]): TomlTable {
  const { line } = node.loc.start;
  const comment = comments.find((each) => each.loc.start.line === line);
  return {
    path: node.resolvedKey,
    header: { start: node.range[0], end: node.key.range[1] },
    comment: comment && { ...spanOf(comment), text: comment.value.trim() },
    keys: node.body.map((pair) => ({ path: namesOf(pair.key), whole: spanOf(pair), value: spanOf(pair.value) })),
  };
}

function spanOf({ range }: { range: [number, number] }): Span {
  return { start: range[0], end: range[1] };
}

function namesOf(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

function put(table: Table, pair: AST.TOMLKeyValue): void {
  const names = namesOf(pair.key);
  const last = names.pop();
  if (last !== undefined) tableAt(table, names)[last] = meaningOf(pair.value);
}

/** Returns the table at a path and creates missing ones; a number selects an element of a list of tables. */
function tableAt(root: Table, path: readonly (string | number)[]): Table {
  let place: Value = root;
  for (const [depth, key] of path.entries()) {
    const missing = typeof path[depth + 1] === "number" ? [] : emptyTable();
    let next: Value | undefined;
    if (typeof key === "number" && Array.isArray(place)) {
      place[key] ??= missing;
      next = place[key];
    } else if (typeof key === "string" && isTable(place)) {
      place[key] ??= missing;
      next = place[key];
    }
    if (next === undefined) break;
    place = next;
  }
  if (isTable(place)) return place;
  throw new UnsupportedDocument({ kind: "key-ambiguous", path });
}

function meaningOf(node: AST.TOMLContentNode): Value {
  if (node.type === "TOMLArray") return node.elements.map(meaningOf);
  if (node.type === "TOMLInlineTable") {
    const table = emptyTable();
    for (const pair of node.body) put(table, pair);
    return table;
  }
  if (node.kind === "string" || node.kind === "boolean") return node.value;
  return [node.kind, "datetime" in node ? node.datetime : node.number];
}
