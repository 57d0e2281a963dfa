/**
 * The editor for JSON and JSON with comments. It preserves comments, key order, indentation, line endings, trailing
 * commas and a missing final newline.
 */
import { type JsonArray, type JsonObject, type Node, parse, type RootNode } from "jsonc-morph";
import { messageOf } from "../base/errors.ts";
import type { Editor } from "./editor.ts";
import { type Change, emptyTable, notA, UnsupportedDocument, type Value } from "./value.ts";

/** Accept JSON with comments as other tools do, but none of the looser forms that the parser supports. */
const ACCEPTED = {
  allowComments: true,
  allowTrailingCommas: true,
  allowLooseObjectPropertyNames: false,
  allowMissingCommas: false,
  allowSingleQuotedStrings: false,
  allowHexadecimalNumbers: false,
  allowUnaryPlusNumbers: false,
};

export const jsonc: Editor = {
  read(text) {
    const node = parsed(text).value();
    return node === undefined ? undefined : meaningOf(node);
  },

  isEmpty(text, path) {
    const root = parsed(text);
    if (path.length === 0 && root.children().some((child: Node) => child.isComment())) return false;
    let place: Node | undefined = root.value();
    for (const key of path) place = childOf(place, key);
    const container = place?.asObject() ?? place?.asArray();
    const [, ...inner] = container?.children() ?? [];
    return (
      container !== undefined && inner.slice(0, -1).every((child: Node) => child.isWhitespace() || child.isNewline())
    );
  },

  change(text, changes) {
    const root = parsed(parsed(text).value() === undefined ? withEmptyObject(text) : text);
    for (const change of changes) {
      if (change.do === "append") append(root, change);
      else if (change.do === "provide") provide(root, change);
      else if (change.do === "put") put(root, change);
      else remove(root, change.path);
    }
    return root.toString();
  },
};

function parsed(text: string): RootNode {
  try {
    return parse(text, ACCEPTED);
  } catch (error) {
    throw new UnsupportedDocument({ kind: "not-json", reason: messageOf(error).replace(/^Parse error: /, "") });
  }
}

/** Adds an empty object below the comments and blank lines of a file that has no value yet. */
function withEmptyObject(text: string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" || text.endsWith("\n") ? "" : newline;
  return `${text}${gap}{}${newline}`;
}

function append(root: RootNode, change: Extract<Change, { do: "append" }>): void {
  const last = change.path.at(-1);
  if (last === undefined) throw new UnsupportedDocument(notA("list", []));
  const table = tableAt(root, change.path.slice(0, -1));
  const list = keepingCommas(table, () => table.getIfArrayOrCreate(last));
  if (!list) throw new UnsupportedDocument(notA("list", change.path));
  // In a one-line list, the library loses adjacent comments and commas when it later removes the element.
  if (list.children().length > 2) list.ensureMultiline();
  keepingCommas(list, () => list.append(change.value));
}

function put(root: RootNode, { path, value }: Extract<Change, { do: "put" }>): void {
  const last = path.at(-1);
  if (last === undefined) throw new UnsupportedDocument(notA("object", []));
  const table = tableAt(root, path.slice(0, -1));
  keepingCommas(table, () => table.append(last, value));
}

/** The object at a path; creates missing ones. */
function tableAt(root: RootNode, path: readonly string[]): JsonObject {
  let table = rootObject(root);
  for (const [depth, key] of path.entries()) {
    const parent = table;
    const next = keepingCommas(parent, () => parent.getIfObjectOrCreate(key));
    if (!next) throw new UnsupportedDocument(notA("object", path.slice(0, depth + 1)));
    table = next;
  }
  return table;
}

function provide(root: RootNode, { key, value }: Extract<Change, { do: "provide" }>): void {
  const table = rootObject(root);
  if (!table.get(key)) keepingCommas(table, () => table.append(key, value));
}

function remove(root: RootNode, path: readonly (string | number)[]): void {
  const last = path.at(-1);
  let place: Node | undefined = root.value();
  for (const key of path.slice(0, -1)) place = childOf(place, key);
  const container = place?.asObject() ?? place?.asArray();
  const found = typeof last === "string" ? place?.asObject()?.get(last) : elementOf(place, last);
  if (!container || !found) throw new UnsupportedDocument({ kind: "nothing-at", path });
  keepingCommas(container, () => found.remove());
}

/** Preserves whether the last member has a trailing comma. */
function keepingCommas<T>(container: JsonObject | JsonArray, work: () => T): T {
  const had = hasTrailingComma(container);
  const result = work();
  if (had !== undefined && hasTrailingComma(container) === !had) container.setTrailingCommas(had);
  return result;
}

function hasTrailingComma(container: JsonObject | JsonArray): boolean | undefined {
  if (container.childrenExcludeTriviaAndTokens().length === 0) return undefined;
  const written = container.children().filter((child: Node) => !child.isTrivia());
  return written.at(-2)?.isComma();
}

function childOf(node: Node | undefined, key: string | number): Node | undefined {
  return typeof key === "string" ? node?.asObject()?.get(key)?.value() : elementOf(node, key);
}

function elementOf(node: Node | undefined, index: number | undefined): Node | undefined {
  return index === undefined ? undefined : node?.asArray()?.elements()[index];
}

function rootObject(root: RootNode): JsonObject {
  const object = root.value()?.asObject();
  if (!object) throw new UnsupportedDocument(notA("object", []));
  return object;
}

function meaningOf(node: Node): Value {
  const object = node.asObject();
  if (object) return tableOf(object);
  const list = node.asArray();
  if (list) return list.elements().map(meaningOf);
  const text = node.asString();
  if (text !== undefined) return text;
  const number = node.numberValue();
  if (number !== undefined) return Number(number);
  return node.asBoolean() ?? null;
}

function tableOf(object: JsonObject): Value {
  const table = emptyTable();
  for (const property of object.properties()) {
    const name = property.decodedName();
    const value: Node | undefined = property.value();
    if (name === undefined || value === undefined) throw new UnsupportedDocument({ kind: "key-unreadable" });
    // The last duplicate of a key wins, as in JSON.parse. An edit of a duplicate key fails verification.
    table[name] = meaningOf(value);
  }
  return table;
}
