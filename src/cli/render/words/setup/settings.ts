/** What each setting means, for `config list` and the documentation; and why a setting is ignored. */
import { findKey, KEYS } from "../../../../config/keys.ts";
import type { ExpectedValue, SettingDefect } from "../../../../config/problems.ts";
import type { RepositoryRule } from "../../../../config/repository.ts";

const MEANINGS: Readonly<Record<string, string>> = {
  enabled: "whether anything is recorded here",
  agent: "treat every hook as this agent's",
  project_root: "use this as the project's root, whatever a hook says",
  transcript_path: "use this as the transcript, whatever a hook says",
  transcript_paths: "more directories to read transcripts from, in addition to the agents' own",
  default_agent: "the agent where none is named or found",
  external_agents: "programs that may be run as agents, by path or name",
  strategy: "manual-commit: you or the agent commit; auto-commit: a commit after each turn",
  tier: "how often a step is taken: minimal, balanced, aggressive, or one of your own",
  "tiers.*": "rules of a tier of your own",
  "capture.max_file_size": "untracked files over this size are not captured",
  "capture.max_tracked_size": "tracked files over this size are not captured when they have changed",
  "capture.exclude": "paths that are never captured",
  "capture.include": "ignored files to record, such as .env: up to 1 MB each, for you alone",
  "retention.days": "how long steps are kept",
  "retention.max_size": "how much space the steps of a repository may take",
  "retention.conversations":
    "how much space conversations may take after their steps expired; 0: each is deleted with its last step",
  "push.enabled": "whether checkpoints are pushed with your own pushes",
  "push.remote": "where they are pushed to: a remote's name, or another repository's address",
  "push.timeout": "seconds to wait for a remote",
  "push.unasked": "what to do with a push that would include conversations by accident: warn, or refuse it",
  "checkpoints.branch":
    "where checkpoints are kept: public: on a branch of your repository; private: where no push reaches it; auto: public where push.enabled is set",
  "auto_commit.protected": "branches that auto-commit never commits to",
  commit_linking: "whether commits get the trailer that links them to their checkpoint",
  notify_agents: "whether open agents are told with their next prompt that files were restored",
  "scope.exclude": "repositories that `enable --scope user` does not record: paths or patterns, such as ~/clients",
  "redaction.rules": "more patterns for secrets",
  "redaction.allow": "exceptions: patterns that look secret and are not",
  "search.native": "whether search also reads the agents' own transcripts, of sessions that Backtrail did not record",
  "mcp.apply":
    "how to decide on an agent's proposals: command: only with `backtrail apply`; ask: the agent's program asks you too, if it can",
  "run.agents.*.model": "the model for headless runs of an agent",
  "run.agents.*.args": "more arguments for headless runs of an agent",
  "checks.command": "the command that checks each turn in the background; none: no checks",
  "checks.link": "ignored paths to link into the check's copy",
  "checks.copy": "ignored paths to copy into the check's copy",
  "checks.timeout": "seconds after which a check fails",
  "summarise.agent": "the agent that writes summaries; unset: no summaries",
  log_level: "the level of detail in the error log",
};

export function meaningOf(name: string): string {
  const key = findKey(name) ?? KEYS.find((candidate) => candidate.name === name);
  return (key && MEANINGS[key.name]) ?? "";
}

/** Continues a sentence that names the file or the setting. */
export function settingDefectText(defect: SettingDefect): string {
  switch (defect.kind) {
    case "file-unreadable":
      return defect.reason;
    case "file-not-an-object":
      return "must be a JSON object";
    case "group-not-an-object":
      return "expected an object";
    case "no-such-setting":
      return "there is no such setting";
    case "user-file-only":
      return "is only allowed in your own settings for all repositories (--user)";
    case "value-refused":
      return `a repository's file ${ruleText(defect.rule ?? undefined)}`;
    case "value-unexpected": {
      const found = typeof defect.found === "string" ? defect.found : `a very deep ${defect.found.deep}`;
      return `expected ${expectedText(defect.expected)}, found ${found}`;
    }
  }
}

const EXPECTED = {
  boolean: "true or false",
  text: "text",
  number: "a whole number",
  size: 'a size such as "50 MB"',
  list: "a list of texts",
  rules: "an object of rules",
  json: "valid JSON",
} as const;

function expectedText(expected: ExpectedValue): string {
  switch (expected.kind) {
    case "choice":
      return `one of ${expected.choices.join(", ")}`;
    case "minimum":
      return `at least ${expected.minimum}`;
    default:
      return EXPECTED[expected.kind];
  }
}

/** "may …" or "can't …", for messages and for the table in docs/formats/config.md. */
export function ruleText(rule: RepositoryRule | undefined): string {
  switch (rule?.may) {
    case "choose":
      return rule.from ? `may only choose ${choices(rule.from)}` : "may set this";
    case "lower":
      if (typeof rule.order[0] === "boolean") return "may only turn this off";
      return `may only move this toward ${rule.order[0]} (${rule.order.join(", ")})`;
    case "add":
      return "may only add to this";
    case undefined:
      return "can't set this";
  }
}

function choices(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
