/** What `agents check` says about the things that a profile promises. */
import type { Proof, Provable } from "../../../../agents/authoring/proofs.ts";
import { plural } from "../../../../base/text.ts";

export const PROVABLE_NAMES: Record<Provable, string> = {
  hooks: "hooks",
  prompts: "prompts",
  place: "where transcripts are",
  conversation: "the conversation",
  tokens: "tokens",
  cuts: "cut points",
  fork: "that the agent finds a fork",
};

const PROVEN: Record<Provable, (by: number) => string> = {
  hooks: (by) => `Every hook that is installed was recorded (${plural(by, "payload")}).`,
  prompts: (by) => `Prompts are read (${by}).`,
  place: (by) => `Transcripts are where the profile says (${by}).`,
  conversation: (by) => `Prompts and answers are read from the transcript (${plural(by, "pair")}).`,
  tokens: (by) => `Tokens are counted (${by}).`,
  cuts: () => "The conversation can be cut before each prompt.",
  fork: (by) => `The agent continued a copy of a conversation (${by}).`,
};

const UNPROVEN: Record<Provable, string> = {
  hooks: "Hooks are not proven: record every event that the profile installs.",
  prompts: "Prompts are not proven: no event and no transcript has one. See hooks.fields.prompt, or cannot.chat.",
  place: "Where transcripts are is not proven: record a session with `agents record`.",
  conversation: "The conversation is not proven: no transcript has a prompt and an answer. See transcript.lines.",
  tokens: "Tokens are not proven: none were found. See transcript.lines.tokens, or remove it.",
  cuts: "Cut points are not proven: record a session with two prompts or more.",
  fork: "That the agent finds a fork is not proven: rewind a session, continue it, and record that.",
};

const ABSENT: Record<Provable, string> = {
  hooks: "The profile installs no hooks.",
  prompts: "The profile has no prompts.",
  place: "The profile names no transcripts.",
  conversation: "The profile describes no conversation.",
  tokens: "The profile counts no tokens.",
  cuts: "The profile can't cut conversations: transcript.fork or resume is missing.",
  fork: "The profile can't rewind conversations.",
};

export function proofText(what: Provable, state: Proof["state"], by: number): string {
  if (state === "proven") return PROVEN[what](by);
  return state === "absent" ? ABSENT[what] : UNPROVEN[what];
}
