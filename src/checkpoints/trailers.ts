/** The trailer that ties a commit to its checkpoint, in the text of a commit message. */
import { CHECKPOINT_TRAILER, isCheckpointId } from "./layout.ts";

const SCISSORS = /^\S+ -{24} >8 -{24}$/;
const TRAILER = /^[A-Za-z0-9-]+: \S/;
/** What git offers as the character that begins a comment. */
const COMMENT_CHARACTERS = "#;@!$%^&|:";

/** Every checkpoint that a message names, in order, each once; also within the quoted messages of a squash. */
export function checkpointsIn(message: string): string[] {
  const found = [...message.matchAll(/^[ \t]*Entire-Checkpoint:[ \t]*([0-9a-f]+)[ \t]*\r?$/gm)];
  return [...new Set(found.map((match) => match[1] ?? "").filter(isCheckpointId))];
}

/** Those that stand as lines of their own, as in a commit that is linked already. */
export function linkedIn(message: string): string[] {
  return checkpointsIn(message.replace(/^[ \t]+.*$/gm, ""));
}

/** The message with the trailers in its last paragraph, or a paragraph of their own, above git's comments. */
export function withCheckpoints(message: string, ids: readonly string[]): string {
  const { text, rest } = split(message);
  const body = text.trimEnd();
  const trailers = ids.map((id) => `${CHECKPOINT_TRAILER}: ${id}\n`).join("");
  // The user's first line is where the cursor stands: the trailer leaves it free.
  if (body === "") return `\n\n${trailers}${rest === "" || rest.startsWith("\n") ? rest : `\n${rest}`}`;
  const gap = endsInTrailers(body) ? "\n" : "\n\n";
  return `${body}${gap}${trailers}${rest}`;
}

/** The message with the trailer as a comment that its writer may turn into one. Without `comment`, the message's own is taken. */
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

/** Whether nothing but trailers of ours, comments and blank lines is there. */
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

/** What the user writes, and what git drops: the comments at the end, and everything from the scissors on. */
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

/** Of the scissors; else of a last line that looks like git's own comment in whatever character is set; else `#`. */
function commentCharacter(lines: readonly string[], scissors: number): string {
  if (scissors !== -1) return (lines[scissors] ?? "#").charAt(0);
  const last = lines.findLast((line) => line.trim() !== "") ?? "";
  const first = last.charAt(0);
  const isComment = COMMENT_CHARACTERS.includes(first) && (last.length === 1 || /^.[ \t]/.test(last));
  return first !== "" && isComment ? first : "#";
}

/** git takes a last paragraph for trailers when all its lines are such; the subject alone never is one. */
function endsInTrailers(body: string): boolean {
  const paragraphs = body.split(/\n[ \t]*\n/);
  const last = paragraphs.at(-1) ?? "";
  return paragraphs.length > 1 && last.split("\n").every((line) => TRAILER.test(line) || /^[ \t]+\S/.test(line));
}
