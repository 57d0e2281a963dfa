/**
 * Identifiers. A step id is twelve letters from k to z: it can never be mistaken for a commit, a
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

/** A whole step id, or the beginning of one (at least four letters). */
export function looksLikeStepId(text: string): boolean {
  return /^[k-z]{4,12}$/.test(text);
}

export function newSessionId(): string {
  return crypto.randomUUID();
}

/**
 * The name under which a session is kept in files and refs. Session ids come from agents and may hold
 * anything, so a name is never built from them directly.
 */
export function sessionKey(agent: string, session: string): string {
  return hexDigest("sha256", `${agent}\0${session}`).slice(0, 20);
}
