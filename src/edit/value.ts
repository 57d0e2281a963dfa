/**
 * The value of a settings file, independent of its syntax, and the changes we make to it. Changes are data: an editor
 * applies them to the text, `applyChanges` applies them to the value, and both must agree before a file is written.
 */
import type { DocumentProblem } from "./problems.ts";
export type Value = null | boolean | number | string | Value[] | Table;
export interface Table {
  [key: string]: Value;
}

export type Change =
  /** Appends to the list at `path`; creates the list and its parent tables if they are missing. */
  | { do: "append"; path: readonly string[]; value: Value }
  /** Sets a key of the outermost table unless the key exists. */
  | { do: "provide"; key: string; value: Value }
  /** Sets a key of a nested table that lacks it; creates the parent tables if they are missing. */
  | { do: "put"; path: readonly string[]; value: Value }
  /** Removes a key of a table or an element of a list. */
  | { do: "remove"; path: readonly (string | number)[] };

/** The document does not support the requested change. */
export class UnsupportedDocument extends Error {
  readonly reason: DocumentProblem;

  constructor(reason: DocumentProblem) {
    super(reason.kind);
    this.reason = reason;
  }
}

/** Creates a table without a prototype, so that `__proto__` is an ordinary key. */
export function emptyTable(): Table {
  return Object.create(null) as Table;
}

export function isTable(value: Value | undefined): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value of the table's own key, ignoring inherited ones. */
export function entryOf(value: Value | undefined, key: string): Value | undefined {
  return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Returns a changed copy; `before` is not modified. */
export function applyChanges(before: Value | undefined, changes: readonly Change[]): Value {
  const root = copyOf(before ?? emptyTable());
  for (const change of changes) {
    if (change.do === "append") listAt(root, change.path).push(copyOf(change.value));
    else if (change.do === "provide") provideIn(root, change.key, change.value);
    else if (change.do === "put") putIn(root, change.path, change.value);
    else removeAt(root, change.path);
  }
  return root;
}

export function isEqual(a: Value | undefined, b: Value | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (isTable(a) && isTable(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && isEqual(a[key], b[key]));
  }
  return Object.is(a, b);
}

export function copyOf(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isTable(value)) return value;
  const table = emptyTable();
  for (const key of Object.keys(value)) table[key] = copyOf(value[key] ?? null);
  return table;
}

function listAt(root: Value, path: readonly string[]): Value[] {
  let place = root;
  for (const [depth, key] of path.entries()) {
    if (!isTable(place)) throw new UnsupportedDocument(notA("object", path.slice(0, depth)));
    const isLast = depth === path.length - 1;
    const next = entryOf(place, key) ?? (key in place ? null : isLast ? [] : emptyTable());
    place[key] = next;
    place = next;
  }
  if (!Array.isArray(place)) throw new UnsupportedDocument(notA("list", path));
  return place;
}

function putIn(root: Value, path: readonly string[], value: Value): void {
  let place = root;
  for (const [depth, key] of path.entries()) {
    if (!isTable(place)) throw new UnsupportedDocument(notA("object", path.slice(0, depth)));
    if (depth === path.length - 1) {
      if (key in place) throw new UnsupportedDocument({ kind: "key-exists", path });
      place[key] = copyOf(value);
      return;
    }
    place[key] ??= emptyTable();
    place = place[key] ?? null;
  }
}

function provideIn(root: Value, key: string, value: Value): void {
  if (!isTable(root)) throw new UnsupportedDocument(notA("object", []));
  if (!Object.hasOwn(root, key)) root[key] = copyOf(value);
}

function removeAt(root: Value, path: readonly (string | number)[]): void {
  let place: Value | undefined = root;
  for (const key of path.slice(0, -1)) place = childOf(place, key);
  const last = path.at(-1);
  if (Array.isArray(place) && typeof last === "number" && last < place.length) place.splice(last, 1);
  else if (isTable(place) && typeof last === "string" && last in place) delete place[last];
  else throw new UnsupportedDocument({ kind: "nothing-at", path });
}

function childOf(value: Value | undefined, key: string | number): Value | undefined {
  return typeof key === "number" ? (Array.isArray(value) ? value[key] : undefined) : entryOf(value, key);
}

export function notA(expected: "object" | "list", path: readonly (string | number)[]): DocumentProblem {
  return { kind: "wrong-type", expected, path };
}
