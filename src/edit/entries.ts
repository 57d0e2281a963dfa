/** Edits that own one entry of a settings file: a key of a table, or an item of a list. */
import { decode, type Edit, encode } from "./edit.ts";
import { changeAndVerify, type Editor } from "./editor.ts";
import { entryOf, isEqual, isTable, UnsupportedDocument, type Value } from "./value.ts";

export interface OurEntry {
  /** The keys that lead to the entry, from the top level. */
  path: readonly string[];
  /** Null only removes the entry. */
  value: Value | null;
  isOurs(value: Value): boolean;
}

/** Owns the value of one key. A value of the user's under that key is never touched. */
export function entryEdit(editor: Editor, { path, value, isOurs }: OurEntry): Edit {
  return {
    presence(bytes) {
      const found = valueAt(editor.read(decode(bytes).text), path);
      if (found === undefined || !isOurs(found)) return "absent";
      return value !== null && holds(found, value) ? "installed" : "outdated";
    },

    add(bytes) {
      const { mark, text } = decode(bytes ?? Buffer.alloc(0));
      if (value === null) throw new UnsupportedDocument({ kind: "nothing-to-write" });
      if (valueAt(editor.read(text), path) !== undefined)
        throw new UnsupportedDocument({ kind: "entry-not-ours", path });
      return encode(mark, changeAndVerify(editor, text, [{ do: "put", path, value }]));
    },

    remove(bytes, before) {
      const found = valueAt(editor.read(decode(bytes).text), path);
      if (found === undefined || !isOurs(found)) return bytes;
      return withoutEntry(editor, bytes, before, path, path.slice(0, -1));
    },
  };
}

/** Owns one text in a list of texts. A text that the user put there first stays. */
export function itemEdit(editor: Editor, path: readonly string[], item: string): Edit {
  const indexIn = (text: string) => {
    const list = valueAt(editor.read(text), path);
    return Array.isArray(list) ? list.lastIndexOf(item) : -1;
  };
  return {
    presence: (bytes) => (indexIn(decode(bytes).text) < 0 ? "absent" : "installed"),

    add(bytes) {
      const { mark, text } = decode(bytes ?? Buffer.alloc(0));
      return encode(mark, changeAndVerify(editor, text, [{ do: "append", path, value: item }]));
    },

    remove(bytes, before) {
      const index = indexIn(decode(bytes).text);
      const earlier = before ? valueAt(readLeniently(editor, before), path) : undefined;
      if (index < 0 || (Array.isArray(earlier) && earlier.includes(item))) return bytes;
      return withoutEntry(editor, bytes, before, [...path, index], path);
    },
  };
}

/** Also removes the containers that are empty now and did not exist before; null if nothing is left of our own file. */
function withoutEntry(
  editor: Editor,
  bytes: Buffer,
  before: Buffer | null | undefined,
  path: readonly (string | number)[],
  containers: readonly string[],
): Buffer | null {
  const { mark, text } = decode(bytes);
  let result = changeAndVerify(editor, text, [{ do: "remove", path }]);
  const earlier = before ? readLeniently(editor, before) : undefined;
  for (let depth = containers.length; depth > 0; depth--) {
    const container = containers.slice(0, depth);
    if (valueAt(earlier, container) !== undefined || !editor.isEmpty(result, container)) break;
    result = changeAndVerify(editor, result, [{ do: "remove", path: container }]);
  }
  return !before && editor.isEmpty(result, []) ? null : encode(mark, result);
}

/** True if `value` has everything of `wanted`: keys that the user added to our entry stay. */
function holds(value: Value, wanted: Value): boolean {
  if (!isTable(value) || !isTable(wanted)) return isEqual(value, wanted);
  return Object.keys(wanted).every((key) => isEqual(value[key], wanted[key]));
}

function valueAt(root: Value | undefined, path: readonly string[]): Value | undefined {
  let place = root;
  for (const key of path) place = entryOf(place, key);
  return place;
}

function readLeniently(editor: Editor, bytes: Buffer): Value | undefined {
  try {
    return editor.read(decode(bytes).text);
  } catch {
    return undefined;
  }
}
