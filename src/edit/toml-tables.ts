/**
 * Our tables in a TOML file, with strings and lists of strings. New tables are appended to the file, and a comment on their
 * header identifies them as ours. If the user's table already has the string, its value is changed in place.
 */
import { decode, type Edit, encode } from "./edit.ts";
import { isSubsequence } from "./editor.ts";
import type { Presence } from "./hook-entries.ts";
import { quoted, readToml, type Span, type TomlDocument, type TomlTable } from "./toml.ts";
import { copyOf, emptyTable, entryOf, isEqual, isTable, type Table, UnsupportedDocument, type Value } from "./value.ts";

export interface TomlEntry {
  table: readonly string[];
  key: string;
  value: string | readonly string[];
}

export interface OurTables {
  /** The comment, without its number sign. */
  mark: string;
  /** Selects among the marked tables, since other edits may use the same mark. */
  isOurs(table: readonly (string | number)[]): boolean;
  keys: readonly string[];
  /** Returns the entries that a file with these values needs; null if our tables are only to be removed. */
  wanted: ((answers: Table) => readonly TomlEntry[]) | null;
}

interface Splice extends Span {
  text: string;
}

export function tomlTablesEdit(ours: OurTables): Edit {
  return {
    presence(bytes): Presence {
      const { text } = decode(bytes);
      if (ours.wanted === null && !text.includes(ours.mark)) return "absent";
      const document = readToml(text);
      const marked = markedIn(document, ours);
      const wanted = ours.wanted?.(document.value) ?? [];
      const isAllThere = ours.wanted !== null && wanted.every((entry) => isThere(document.value, entry));
      const isStale = marked.some(({ path }) => !wanted.some(({ table }) => isEqual([...table], [...path])));
      if (isAllThere && !isStale) return "installed";
      return marked.length > 0 ? "outdated" : "absent";
    },

    add(bytes) {
      const { mark, text } = decode(bytes ?? Buffer.alloc(0));
      return encode(mark, withTables(text, ours));
    },

    remove(bytes, before) {
      const { mark, text } = decode(bytes);
      const left = withoutTables(text, ours);
      if (left === text) return bytes;
      if (left === "" && !before) return null;
      const result = encode(mark, left);
      const isBefore = before && result.equals(Buffer.concat([before, Buffer.from(newlineOf(text))]));
      return isBefore ? before : result;
    },
  };
}

function withTables(text: string, ours: OurTables): string {
  const document = readToml(text);
  const missing = (ours.wanted?.(document.value) ?? []).filter((entry) => !isThere(document.value, entry));
  const newline = newlineOf(text);
  const splices: Splice[] = [];
  let block = "";
  let header = "";
  for (const entry of missing) {
    const key = keyOf(document, entry);
    if (key) {
      splices.push({ ...key.value, text: valueText(entry.value) });
      continue;
    }
    const gap = text === "" && block === "" ? "" : newline;
    const before = header;
    header = `[${entry.table.map(written).join(".")}] # ${ours.mark}`;
    if (header !== before) block += `${gap}${header}${newline}`;
    block += `${entry.key} = ${valueText(entry.value)}${newline}`;
  }
  const isReplacing = splices.length > 0;
  const end = text === "" || text.endsWith("\n") || block === "" ? "" : newline;
  splices.push({ start: text.length, end: text.length, text: end + block });
  const result = spliced(text, splices);
  const intended = copyOf(document.value);
  for (const { table, key, value } of missing) put(intended, table, key, value);
  if (!says(result, (value) => isEqual(value, intended)) || (!isReplacing && !result.startsWith(text))) throw unfit();
  return result;
}

function withoutTables(text: string, ours: OurTables): string {
  const document = readToml(text);
  const marked = markedIn(document, ours);
  if (marked.length === 0) return text;
  const intended = copyOf(document.value);
  const splices: Splice[] = [];
  for (const table of marked) {
    const [mine, theirs] = [table.keys.filter(isMine), table.keys.filter((key) => !isMine(key))];
    for (const { whole } of mine) splices.push({ ...linesOf(text, whole), text: "" });
    if (theirs.length > 0) splices.push({ ...withSpace(text, table.comment ?? table.header), text: "" });
    else splices.push({ ...withBlankLine(text, linesOf(text, table.header)), text: "" });
    for (const { path } of mine) removeKey(intended, [...table.path, ...path]);
  }
  const result = spliced(text, splices);
  const paths = marked.map(({ path }) => path);
  const isIntended = (value: Table) => isEqual(pruned(value, paths), pruned(intended, paths));
  if (!says(result, isIntended) || !isSubsequence(result, text)) throw unfit();
  return result;

  function isMine({ path }: { path: string[] }): boolean {
    return path.length === 1 && ours.keys.includes(path[0] ?? "");
  }
}

function markedIn({ tables }: TomlDocument, { mark, isOurs }: OurTables): TomlTable[] {
  return tables.filter((table) => table.comment?.text === mark && isOurs(table.path));
}

function isThere(answers: Table, { table, key, value }: TomlEntry): boolean {
  let place: Value | undefined = answers;
  for (const name of table) place = entryOf(place, name);
  return isEqual(entryOf(place, key), typeof value === "string" ? value : [...value]);
}

function keyOf({ tables }: TomlDocument, entry: TomlEntry) {
  const table = tables.find(({ path }) => isEqual([...path], [...entry.table]));
  return table?.keys.find(({ path }) => path.length === 1 && path[0] === entry.key);
}

function put(root: Value, path: readonly string[], key: string, value: TomlEntry["value"]): void {
  let place = root;
  for (const name of path) {
    if (!isTable(place)) throw unfit();
    place[name] ??= emptyTable();
    place = place[name];
  }
  if (!isTable(place)) throw unfit();
  place[key] = typeof value === "string" ? value : [...value];
}

function removeKey(root: Value, path: readonly (string | number)[]): void {
  let place: Value | undefined = root;
  for (const name of path.slice(0, -1)) place = entryOf(place, String(name));
  if (isTable(place)) delete place[String(path.at(-1))];
}

/** Drops empty tables on these paths: an empty table is equivalent to a missing one. */
function pruned(root: Value, paths: readonly (readonly (string | number)[])[]): Value {
  const result = copyOf(root);
  for (const path of paths) {
    for (let depth = path.length; depth > 0; depth--) {
      let place: Value | undefined = result;
      for (const name of path.slice(0, depth)) place = entryOf(place, String(name));
      if (isTable(place) && Object.keys(place).length === 0) removeKey(result, path.slice(0, depth));
    }
  }
  return result;
}

function says(text: string, isIntended: (value: Table) => boolean): boolean {
  try {
    return isIntended(readToml(text).value);
  } catch (error) {
    if (error instanceof UnsupportedDocument) return false;
    throw error;
  }
}

function unfit(): UnsupportedDocument {
  return new UnsupportedDocument({ kind: "not-separable" });
}

function spliced(text: string, splices: readonly Splice[]): string {
  let result = text;
  for (const { start, end, text: into } of [...splices].sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + into + result.slice(end);
  }
  return result;
}

/** Extends a span to whole lines, including the line ending. */
function linesOf(text: string, { start, end }: Span): Span {
  const newline = text.indexOf("\n", end);
  return { start: text.lastIndexOf("\n", start - 1) + 1, end: newline < 0 ? text.length : newline + 1 };
}

/** Includes the blank line above, which we add with each table. */
function withBlankLine(text: string, { start, end }: Span): Span {
  const above = text.slice(0, start);
  const blank = ["\r\n", "\n"].find((line) => above === line || above.endsWith(`\n${line}`)) ?? "";
  return { start: start - blank.length, end };
}

/** Includes the white space before the span on the same line. */
function withSpace(text: string, { start, end }: Span): Span {
  let spaces = 0;
  while (/[ \t]/.test(text[start - spaces - 1] ?? "")) spaces++;
  return { start: start - spaces, end };
}

function newlineOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function valueText(value: TomlEntry["value"]): string {
  return typeof value === "string" ? quoted(value) : `[${value.map(quoted).join(", ")}]`;
}

function written(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name);
}
