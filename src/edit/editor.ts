/**
 * Changing the text of a settings file without touching what is not ours. One editor for each syntax; whatever
 * an editor does is checked here before anybody may write it.
 */
import { applyChanges, type Change, isEqual, UnfitDocument, type Value } from "./value.ts";

export interface Editor {
  /** What the text says; undefined for one that says nothing (empty, only comments). Throws UnfitDocument. */
  read(text: string): Value | undefined;
  /** Whether the container at `path` holds nothing at all, not even a comment; for `[]`, whether the text does. */
  isBare(text: string, path: readonly string[]): boolean;
  /** The text with the changes made, in order, in the text's own style. Throws UnfitDocument. */
  change(text: string, changes: readonly Change[]): string;
}

/**
 * The changed text, proven: it says what was intended, an addition lost nothing that was written before, and a
 * removal brought in nothing new. Only white space may differ beyond that.
 */
export function changeVerified(editor: Editor, text: string, changes: readonly Change[]): string {
  if (changes.length === 0) return text;
  const intended = applyChanges(editor.read(text), changes);
  const result = editor.change(text, changes);
  const additions = changes.every((change) => change.do !== "remove");
  const removals = changes.every((change) => change.do === "remove");
  const proven =
    isEqual(readAgain(editor, result), intended) &&
    (!additions || isWrittenWithin(text, result)) &&
    (!removals || isWrittenWithin(result, text));
  if (!proven) throw new UnfitDocument("it could not be changed without disturbing what is not ours");
  return result;
}

function readAgain(editor: Editor, text: string): Value | undefined {
  try {
    return editor.read(text);
  } catch {
    return undefined;
  }
}

/** Whether the characters of `part`, white space aside, all stand in `whole` in the same order. */
export function isWrittenWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    if (/\s/.test(character)) continue;
    const found = whole.indexOf(character, at);
    if (found < 0) return false;
    at = found + character.length;
  }
  return true;
}
