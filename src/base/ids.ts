/**
 * Creates and checks identifiers. A step id is twelve letters from k to z, so it never looks like a commit, a
 * checkpoint (both hexadecimal) or a number of turns.
 */
import { hexDigest } from "./digest.ts";

const STEP_LETTERS = "klmnopqrstuvwxyz";
const STEP_ID_LENGTH = 12;

export function newStepId(): string {
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(STEP_ID_LENGTH / 2))) {
    id += STEP_LETTERS.charAt(byte >> 4) + STEP_LETTERS.charAt(byte & 15);
  }
  return id;
}

/** Accepts a step id or a prefix of at least four letters. */
export function looksLikeStepId(text: string): boolean {
  return /^[k-z]{4,12}$/.test(text);
}

export function newSessionId(): string {
  return crypto.randomUUID();
}

/**
 * Whether a session id can be a command argument. Ids come from agents, transcripts and remotes: one with a leading
 * hyphen would parse as an option, and a control character does not survive being shown and typed.
 */
export function isCommandWord(id: string): boolean {
  return id !== "" && !id.startsWith("-") && !/\p{Cc}/u.test(id);
}

/** Changes an agent's id so that no program parses it as an option. */
export function withoutLeadingHyphen(id: string): string {
  return id.startsWith("-") ? `_${id}` : id;
}

/**
 * The session's name in files and refs. Session ids come from agents and may contain anything, so names never include
 * them directly.
 */
export function sessionKey(agent: string, session: string): string {
  return hexDigest("sha256", `${agent}\0${session}`).slice(0, 20);
}
