/** The sentences for checkpoints: blame, sync, redaction, and what `forget` and `purge` fail with. */
import { oneLine, plural, printable, shorten, shownPath } from "../../../base/text.ts";
import type { CheckpointProblem } from "../../../checkpoints/problems.ts";
import type { MaintenanceProblem } from "../../../maintenance/problems.ts";
import type { RedactionProblem } from "../../../transcripts/problems.ts";
import { LOG_LISTS, MORE_LETTERS, shown, TRY_AGAIN, type WordsFor } from "./words.ts";

const MAX_FILES = 5;

export const CHECKPOINT_WORDS: WordsFor<CheckpointProblem> = {
  "line-missing": ({ path, line, lines }) => [
    `${shownPath(path)} has no line ${line}.`,
    `It has ${plural(lines, "line")}.`,
  ],
  "not-a-file": ({ path }) => [`${shownPath(path)} is not a file.`, "Name one file of text."],
  "file-missing": ({ path }) => [`There is no file ${shownPath(path)} here.`, "Give its path as it is now."],
  "not-text": ({ path }) => [`${shownPath(path)} is not text, or too large.`, "Only text files can be blamed."],
  "not-in-work-tree": ({ path }) => [`${shownPath(path)} is not in this work tree.`, "Name a file of this repository."],

  "checkpoints-locked": () => ["Another process is writing checkpoints here.", TRY_AGAIN],
  "checkpoint-branch-moving": ({ branch }) => [`The branch ${branch} kept changing.`, TRY_AGAIN],
  "checkpoint-unreadable": ({ checkpoint, problems }) => [
    `Checkpoint ${checkpoint} cannot be read: ${problems.join(" ") || "it has no metadata.json."}`,
    "It was written by something else, or damaged on its way here.",
  ],
  "session-name-ambiguous": ({ text }) => [`"${shown(text)}" matches several sessions.`, MORE_LETTERS],
  "session-gone": () => ["That session is gone.", LOG_LISTS],
  "no-readable-transcripts": ({ agent }) => [
    `${agent} has no transcripts that Backtrail can read.`,
    "`backtrail agents list` shows which agents have (chat).",
  ],
  "git-hooks-locked": () => ["Another process is changing git's hooks here.", TRY_AGAIN],

  "sync-locked": () => ["Another process is syncing checkpoints here.", TRY_AGAIN],
  interrupted: () => ["Interrupted."],
  "nothing-to-sync": () => ["This folder is not a git repository: it has no checkpoints to sync."],
  "remote-invalid": ({ text }) => [`"${shown(text)}" is neither a remote nor an address.`],
  "remote-unknown": ({ text, names }) => [
    `There is no remote "${shown(text)}" here.`,
    names.length > 0
      ? `Existing remotes: ${names.map((name) => oneLine(name)).join(", ")}`
      : "`git remote add` makes one; an address will do as well.",
  ],
  "remote-unreachable": ({ remote, reason, asks }) => [
    `${remote} could not be reached: ${reason}`,
    asks
      ? "Nobody is asked for a password here: `git fetch` from there must work without one."
      : "`git ls-remote` shows whether git gets there.",
  ],
  "remote-refused": ({ remote, reason }) => [
    `What ${remote} has on the branch entire/checkpoints/v1 is refused: ${reason}`,
    "None of it was kept.",
  ],
  "push-rejected": ({ remote, reason }) => [`${remote} did not take the checkpoints: ${reason}`],
  "push-has-secrets": ({ count, files }) => {
    const listed = files.slice(0, MAX_FILES).map(({ path, rules }) => `${shownPath(path)} (${rules.join(", ")})`);
    const more = files.length > MAX_FILES ? ` and ${plural(files.length - MAX_FILES, "more file")}` : "";
    return [
      `Nothing was pushed: ${plural(count, "text")} in the checkpoints ${count === 1 ? "looks" : "look"} secret: ${listed.join("; ")}${more}.`,
      "They were written before the rules knew them. If they are harmless, add them to the setting redaction.allow; --anyway pushes all the same.",
    ];
  },
  "push-too-large": ({ path, bytes }) => [
    `Nothing was pushed: ${shownPath(path)} has ${Math.ceil(bytes / (1024 * 1024))} MiB, which hosts refuse.`,
    "--anyway pushes all the same.",
  ],
};

export const REDACTION_WORDS: WordsFor<RedactionProblem> = {
  "pattern-invalid": ({ setting, pattern, reason }) => [
    `${setting}: ${shorten(printable(JSON.stringify(pattern)), 80)} is not a pattern: ${printable(reason)}.`,
    "Patterns are written as RE2 takes them: no back-references and no look-around.",
  ],
  "vault-key-damaged": ({ path }) => [
    "The key of the redacted secrets is damaged.",
    `Put ${path} back from a backup, or remove it: what was redacted with it then stays redacted.`,
  ],
  "vault-locked": () => ["Another process holds the redacted secrets.", TRY_AGAIN],
};

export const MAINTENANCE_WORDS: WordsFor<MaintenanceProblem> = {
  "steps-not-forgotten": ({ steps }) => [
    `${plural(steps, "step")} could not be forgotten: the session is busy.`,
    "End its agent; the next command goes on with it.",
  ],
  "session-not-forgotten": () => ["The session is busy.", "End its agent; the next command goes on with it."],
  "step-without-own-conversation": () => [
    "A single step has no conversation of its own.",
    "Name its session, or leave --conversation-only out.",
  ],
  "nothing-to-forget": ({ target }) => [
    `No session or step is called ${shownPath(target)}, and no recorded session contains it.`,
    LOG_LISTS,
  ],
  "text-too-short": ({ min }) => ["That is too short to look for.", `Give at least ${min} characters.`],
  "worker-running": () => ["Backtrail is at work in the background here.", TRY_AGAIN],
};
