/**
 * Edits the text of a settings file without touching the user's entries. Each syntax has its own editor; this file
 * verifies every editor's result before a caller may write it.
 */
import { applyChanges, type Change, isEqual, UnsupportedDocument, type Value } from "./value.ts";

export interface Editor {
  /** Returns the parsed value; undefined if the text has none (empty, only comments). Throws UnsupportedDocument. */
  read(text: string): Value | undefined;
  /** True if the container at `path` is empty, without even a comment; `[]` checks the whole text. */
  isEmpty(text: string, path: readonly string[]): boolean;
  /** Applies the changes in order and keeps the style of the text. Throws UnsupportedDocument. */
  change(text: string, changes: readonly Change[]): string;
}

/**
 * Applies the changes and verifies the result: it parses to the intended value, an addition dropped no existing
 * characters, and a removal added none. White space is exempt from these checks.
 */
export function changeAndVerify(editor: Editor, text: string, changes: readonly Change[]): string {
  if (changes.length === 0) return text;
  const intended = applyChanges(editor.read(text), changes);
  const result = editor.change(text, changes);
  const additions = changes.every((change) => change.do !== "remove");
  const removals = changes.every((change) => change.do === "remove");
  const proven =
    isEqual(readAgain(editor, result), intended) &&
    (!additions || isSubsequence(text, result)) &&
    (!removals || isSubsequence(result, text));
  if (!proven) throw new UnsupportedDocument({ kind: "not-separable" });
  return result;
}

function readAgain(editor: Editor, text: string): Value | undefined {
  try {
    return editor.read(text);
  } catch {
    return undefined;
  }
}

/** True if `whole` contains the characters of `part` in the same order, ignoring white space. */
export function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    if (/\s/.test(character)) continue;
    const found = whole.indexOf(character, at);
    if (found < 0) return false;
    at = found + character.length;
  }
  return true;
}
