/** Reads and writes the trailer in a commit message that links a commit to its checkpoint. */
import { CHECKPOINT_TRAILER, isCheckpointId } from "../format/layout.ts";

const SCISSORS = /^\S+ -{24} >8 -{24}$/;
const TRAILER = /^[A-Za-z0-9-]+: \S/;
/** The characters that git offers to begin a comment. */
const COMMENT_CHARACTERS = "#;@!$%^&|:";

/** Returns the distinct checkpoints that a message names, in order, including the quoted messages of a squash. */
export function checkpointsIn(message: string): string[] {
  const found = [...message.matchAll(/^[ \t]*Entire-Checkpoint:[ \t]*([0-9a-f]+)[ \t]*\r?$/gm)];
  return [...new Set(found.map((match) => match[1] ?? "").filter(isCheckpointId))];
}

/** Returns only the unindented trailers, as in a commit that is already linked. */
export function linkedIn(message: string): string[] {
  return checkpointsIn(message.replace(/^[ \t]+.*$/gm, ""));
}

/** Adds the trailers to the last paragraph, or as a new paragraph, above git's comments. */
export function withCheckpoints(message: string, ids: readonly string[]): string {
  const { text, rest } = split(message);
  const body = text.trimEnd();
  const trailers = ids.map((id) => `${CHECKPOINT_TRAILER}: ${id}\n`).join("");
  // The editor's cursor is on the first line: leave it free for the user's subject.
  if (body === "") return `\n\n${trailers}${rest === "" || rest.startsWith("\n") ? rest : `\n${rest}`}`;
  const gap = endsInTrailers(body) ? "\n" : "\n\n";
  return `${body}${gap}${trailers}${rest}`;
}

/** Adds the trailer as a comment that the user may uncomment. Detects the comment character if none is given. */
export function withSuggestion(message: string, id: string, comment?: string): string {
  const { text, rest, comment: own } = split(message);
  const mark = comment ?? own;
  const body = text.trimEnd();
  const lines = [
    `${mark} ${CHECKPOINT_TRAILER}: ${id}`,
    `${mark} Take the "${mark} " off the line above to link this commit to its conversation.`,
  ];
  return `${body === "" ? "" : body}\n\n${lines.join("\n")}\n${rest.replace(/^\n+/, "")}`;
}

/** True if the message contains only our trailers, comments and blank lines. */
export function isOtherwiseEmpty(message: string): boolean {
  return withoutTrailers(split(message).text).trim() === "";
}

export function withoutCheckpoints(message: string): string {
  const { text, rest } = split(message);
  return withoutTrailers(text) + rest;
}

function withoutTrailers(text: string): string {
  return text.replace(/^Entire-Checkpoint:.*(?:\n|$)/gm, "");
}

/** Splits the user's text from what git drops: trailing comments, and everything from the scissors line on. */
function split(message: string): { text: string; rest: string; comment: string } {
  const lines = message.split("\n");
  const scissors = lines.findIndex((line) => SCISSORS.test(line));
  const comment = commentCharacter(lines, scissors);
  let end = scissors === -1 ? lines.length : scissors;
  while (end > 0 && isDropped(lines[end - 1] ?? "", comment)) end--;
  // Blank lines between the text and the comments stay with the comments.
  const text = lines.slice(0, end).join("\n");
  return { text: end > 0 && end < lines.length ? `${text}\n` : text, rest: lines.slice(end).join("\n"), comment };
}

function isDropped(line: string, comment: string): boolean {
  return line.trim() === "" || line.startsWith(comment);
}

/** Taken from the scissors line, else from a last line that looks like a git comment, else `#`. */
function commentCharacter(lines: readonly string[], scissors: number): string {
  if (scissors !== -1) return (lines[scissors] ?? "#").charAt(0);
  const last = lines.findLast((line) => line.trim() !== "") ?? "";
  const first = last.charAt(0);
  const isComment = COMMENT_CHARACTERS.includes(first) && (last.length === 1 || /^.[ \t]/.test(last));
  return first !== "" && isComment ? first : "#";
}

/** git treats the last paragraph as trailers if all its lines are trailers; the subject alone never counts. */
function endsInTrailers(body: string): boolean {
  const paragraphs = body.split(/\n[ \t]*\n/);
  const last = paragraphs.at(-1) ?? "";
  // A squash's quoted message is indented throughout, but a continuation line follows a trailer.
  const [first = "", ...rest] = last.split("\n");
  return (
    paragraphs.length > 1 && TRAILER.test(first) && rest.every((line) => TRAILER.test(line) || /^[ \t]+\S/.test(line))
  );
}
