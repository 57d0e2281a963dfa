/** What each setting means, for people. */
import { closest } from "../base/text.ts";
import { findKey, KEYS } from "./keys.ts";

const MEANINGS: Readonly<Record<string, string>> = {
  enabled: "whether anything is recorded here",
  agent: "take every hook as this agent's, whatever it says",
  project_root: "take this as the project's root, whatever a hook says",
  transcript_path: "take this as the transcript, whatever a hook says",
  default_agent: "the agent where none is named or found",
  external_agents: "programs that may be run as agents, by path or name",
  strategy: "manual-commit: you or the agent commit; auto-commit: a commit after each turn",
  tier: "how often a step is taken: minimal, balanced, aggressive, or one of your own",
  "tiers.*": "rules of a tier of your own",
  "capture.max_file_size": "untracked files over this size are not captured",
  "capture.exclude": "paths that are never captured",
  "retention.days": "how long steps are kept",
  "retention.max_size": "how much room the steps of a repository may take",
  "push.enabled": "whether checkpoints are pushed with your own pushes",
  "push.remote": "where they are pushed to: a remote's name, or another repository's address",
  "push.timeout": "seconds after which a remote that does not answer is given up",
  "auto_commit.protected": "branches that auto-commit never commits to",
  commit_linking: "whether commits get the trailer that links them to their checkpoint",
  "redaction.rules": "patterns of your own for what is secret",
  "redaction.allow": "what looks secret and is not",
  "run.agents.*.model": "the model for headless runs of an agent",
  "run.agents.*.args": "more arguments for headless runs of an agent",
  "summarise.agent": "the agent that writes summaries; unset: nobody does",
  log_level: "how much goes into the log of failures",
};

export function meaningOf(name: string): string {
  const key = findKey(name) ?? KEYS.find((candidate) => candidate.name === name);
  return (key && MEANINGS[key.name]) ?? "";
}

/** "Did you mean …" for a name that is no setting. */
export function suggestKey(name: string): string | undefined {
  const names = KEYS.map((key) => key.name);
  const near = closest(name, names);
  if (near) return near;
  // Two letters the wrong way round are the commonest slip: `teir`.
  const swapped = names.find((candidate) => lettersOf(candidate) === lettersOf(name));
  if (swapped) return swapped;
  // The last part alone is what people remember: `max_file_size` for `capture.max_file_size`.
  const last = name.split(".").at(-1) ?? name;
  const ends = names.filter((candidate) => closest(last, [candidate.split(".").at(-1) ?? ""]) !== undefined);
  return ends.length === 1 ? ends[0] : undefined;
}

function lettersOf(text: string): string {
  return [...text].sort().join("");
}
