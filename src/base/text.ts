/** Makes text safe to show. Prompts, file names and payloads are hostile: see `printable`. */

/**
 * Control characters (C0, C1, DEL) except tab and newline, line and paragraph separators, and all invisible characters:
 * bidirectional overrides, zero-width characters, tags, fillers, variation selectors. They can make a line read as
 * something else, or carry hidden text.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is matched separately
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]/g;
/** A joiner or selector that is part of an emoji hides nothing. */
const BEFORE_JOINER = /(?:\p{ExtPict}\ufe0f?|\p{EMod})$/u;
const BEFORE_SELECTOR = /\p{ExtPict}$/u;
const ESCAPE_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes are what this removes
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;

/** Removes terminal escapes, control characters and hidden characters; keeps tabs and newlines. */
export function printable(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCE, "")
    .replace(/\r\n?/g, "\n")
    .replace(HIDDEN, (character, at: number, whole: string) => (isOfEmoji(character, at, whole) ? character : ""));
}

function isOfEmoji(character: string, at: number, text: string): boolean {
  if (character !== "\u200d" && character !== "\ufe0f") return false;
  const before = text.slice(Math.max(0, at - 3), at);
  if (character === "\ufe0f") return BEFORE_SELECTOR.test(before);
  return BEFORE_JOINER.test(before) && /^\p{ExtPict}/u.test(text.slice(at + 1, at + 3));
}

/** Makes JSON safe to show: escapes hidden characters in strings, so that values stay the same. */
export function escapeHidden(json: string): string {
  return json.replace(HIDDEN, (character) => {
    let escaped = "";
    for (let i = 0; i < character.length; i++) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
    return escaped;
  });
}

/** Makes text printable on one line. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, " ").trim();
}

/** Formats a path for display: escapes control characters and backslashes as git does, without losing anything. */
export function shownPath(path: string): string {
  const quoted = escapeHidden(JSON.stringify(path));
  return quoted === `"${path}"` ? path : quoted;
}

export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

/** Cuts text to at most `length` characters, with an ellipsis; never splits a surrogate pair. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = Math.max(0, length - 1);
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code <= 0xdbff) end--;
  return `${text.slice(0, end)}…`;
}

/** The name closest to `word`, if close enough to suggest. */
export function closest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** The number of letters to insert, delete or replace, and of neighbors to swap. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8) return 99;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : substitute;
      row.push(Math.min(substitute, swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length] ?? 99;
}

/**
 * The start of a session's id that tells it from others on a screen: eight characters, after the agent's own word
 * (`ses_`, `session_`; a UUID has none, even if it begins with letters alone). A date or a count of milliseconds at the
 * start is kept whole, because its first digits are the same for days.
 */
export function shortSession(id: string): string {
  return SHORT_SESSION.exec(oneLine(id))?.[0] ?? "";
}

const SHORT_SESSION =
  /^(?:(?![0-9a-f]{8}-[0-9a-f]{4}-)[A-Za-z]{1,12}[_-])?(?:\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d|\d{13}|.{0,8})/s;
