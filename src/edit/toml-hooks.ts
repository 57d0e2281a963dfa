/**
 * Our hooks in a TOML file that lists them as an array of tables: `[[hooks]]`, with an event and a command in each.
 * New tables are appended to the file; ours are recognized by their command.
 */
import { decode, type Edit, encode } from "./edit.ts";
import { isSubsequence } from "./editor.ts";
import type { HookEntry } from "./hook-layouts.ts";
import { quoted, readToml, type Span, type TomlDocument, type TomlTable } from "./toml.ts";
import { emptyTable, entryOf, isEqual, type Table, UnsupportedDocument, type Value } from "./value.ts";

/** The agent's names for the keys of a hook, where they differ. A hook has a name of its own only if `name` is there. */
export interface TomlHookKeys {
  event?: string | undefined;
  command?: string | undefined;
  name?: string | undefined;
  matcher?: string | undefined;
  timeout?: string | undefined;
}

export interface OurTomlHooks {
  /** The name of the array of tables. */
  table: string;
  names: TomlHookKeys;
  entries: readonly HookEntry[];
  isOurs(command: string): boolean;
}

export function tomlHooksEdit(ours: OurTomlHooks): Edit {
  return {
    presence(bytes) {
      const found = oursIn(readToml(decode(bytes).text), ours).map(({ value }) => value);
      if (found.length === 0) return "absent";
      const wanted = ours.entries.map((entry) => tableOf(entry, ours));
      const isSame =
        found.length === wanted.length && wanted.every((each) => found.some((other) => isEqual(each, other)));
      return isSame ? "installed" : "outdated";
    },

    add(bytes) {
      const { mark, text } = decode(bytes ?? Buffer.alloc(0));
      const list = entryOf(readToml(text).value, ours.table);
      if (list !== undefined && !hasOwnHeaders(text, ours)) {
        throw new UnsupportedDocument({ kind: "not-array-of-tables", key: ours.table });
      }
      const newline = newlineOf(text);
      const blocks = ours.entries.map((entry) => blockOf(entry, ours, newline));
      const gap = text === "" || text.endsWith("\n") ? "" : newline;
      const result = text + gap + blocks.map((block, i) => (text === "" && i === 0 ? block : newline + block)).join("");
      const expected = [...(Array.isArray(list) ? list : []), ...ours.entries.map((entry) => tableOf(entry, ours))];
      if (!isEqual(entryOf(readToml(result).value, ours.table), expected)) throw unfit();
      return encode(mark, result);
    },

    remove(bytes, before) {
      const { mark, text } = decode(bytes);
      const found = oursIn(readToml(text), ours);
      if (found.length === 0) return bytes;
      let left = text;
      for (const { table } of found.reverse()) left = without(left, table);
      if (!isSubsequence(left, text) || oursIn(readToml(left), ours).length > 0) throw unfit();
      if (left.trim() === "" && !before) return null;
      return encode(mark, left);
    },
  };
}

/** Our tables, each with its value, in file order. */
function oursIn({ tables, value }: TomlDocument, ours: OurTomlHooks): { table: TomlTable; value: Value }[] {
  const list = entryOf(value, ours.table);
  return tables.flatMap((table) => {
    const [name, index] = table.path;
    if (table.path.length !== 2 || name !== ours.table || typeof index !== "number" || !Array.isArray(list)) return [];
    const own = list[index];
    const command = entryOf(own, ours.names.command ?? "command");
    return own !== undefined && typeof command === "string" && ours.isOurs(command) ? [{ table, value: own }] : [];
  });
}

/** False for a list that is written as a value, or a plain table: nothing can be appended to those. */
function hasOwnHeaders(text: string, { table: name }: OurTomlHooks): boolean {
  const { tables, value } = readToml(text);
  const list = entryOf(value, name);
  if (!Array.isArray(list)) return false;
  const own = tables.filter(({ path }) => path.length === 2 && path[0] === name && typeof path[1] === "number");
  return own.length > 0 && own.length === list.length;
}

/** The value as `readToml` reads it: numbers are pairs of their kind and text. */
function tableOf({ event, command, name, matcher, timeout }: HookEntry, { names }: OurTomlHooks): Table {
  const table = emptyTable();
  if (names.name !== undefined && name !== undefined) table[names.name] = name;
  table[names.event ?? "event"] = event;
  if (matcher !== undefined) table[names.matcher ?? "matcher"] = matcher;
  table[names.command ?? "command"] = command;
  if (timeout !== undefined) table[names.timeout ?? "timeout"] = ["integer", String(timeout)];
  return table;
}

function blockOf(entry: HookEntry, { table, names }: OurTomlHooks, newline: string) {
  const { event, command, name, matcher, timeout } = entry;
  const lines = [`[[${table}]]`];
  if (names.name !== undefined && name !== undefined) lines.push(`${names.name} = ${quoted(name)}`);
  lines.push(`${names.event ?? "event"} = ${quoted(event)}`);
  if (matcher !== undefined) lines.push(`${names.matcher ?? "matcher"} = ${quoted(matcher)}`);
  lines.push(`${names.command ?? "command"} = ${quoted(command)}`);
  if (timeout !== undefined) lines.push(`${names.timeout ?? "timeout"} = ${timeout}`);
  return lines.map((line) => `${line}${newline}`).join("");
}

/** Removes the table's lines, and the blank line above it, which we add with each table. */
function without(text: string, { header, keys }: TomlTable): string {
  const last = keys.reduce((end, { whole }) => Math.max(end, whole.end), header.end);
  const { start, end } = wholeLines(text, { start: header.start, end: last });
  const above = text.slice(0, start);
  const blank = ["\r\n", "\n"].find((line) => above === line || above.endsWith(`\n${line}`)) ?? "";
  return text.slice(0, start - blank.length) + text.slice(end);
}

function wholeLines(text: string, { start, end }: Span): Span {
  const newline = text.indexOf("\n", end);
  return { start: text.lastIndexOf("\n", start - 1) + 1, end: newline < 0 ? text.length : newline + 1 };
}

function newlineOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function unfit(): UnsupportedDocument {
  return new UnsupportedDocument({ kind: "not-separable" });
}
