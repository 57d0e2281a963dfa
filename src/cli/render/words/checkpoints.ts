/** The sentences for checkpoints: blame, sync, redaction, and what `forget` and `purge` fail with. */
import { oneLine, plural, printable, shorten, shownPath } from "../../../base/text.ts";
import { REMOVED } from "../../../checkpoints/format/layout.ts";
import type {
  CheckpointDefect,
  CheckpointProblem,
  FormatDefect,
  RemoteFailure,
} from "../../../checkpoints/problems.ts";
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
  "file-missing": ({ path }) => [`There is no file ${shownPath(path)} here.`, "Give its current path."],
  "not-text": ({ path }) => [`${shownPath(path)} is not text, or too large.`, "Only text files can be blamed."],
  "not-in-work-tree": ({ path }) => [`${shownPath(path)} is not in this work tree.`, "Name a file of this repository."],

  "checkpoints-locked": () => ["Another process is writing checkpoints here.", TRY_AGAIN],
  "checkpoint-branch-moving": ({ branch }) => [`The branch ${branch} kept changing.`, TRY_AGAIN],
  "checkpoint-unreadable": ({ checkpoint, defects }) => [
    `Checkpoint ${checkpoint} cannot be read: ${defects.map(checkpointDefectText).join(" ") || "it has no metadata.json."}`,
    "Another program wrote it, or it was damaged.",
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
      : "Add one with `git remote add`, or give an address.",
  ],
  "remote-unreachable": ({ remote, reason, asks }) => [
    `${remote} could not be reached: ${remoteFailureText(reason)}`,
    asks
      ? "Backtrail can't ask for a password: `git fetch` must work without one."
      : "Check with `git ls-remote` whether git can reach it.",
  ],
  "remote-refused": ({ remote, reason }) => [
    `The branch entire/checkpoints/v1 of ${remote} was refused: ${remoteFailureText(reason)}`,
    "Nothing was kept.",
  ],
  "push-rejected": ({ remote, reason }) => [`${remote} rejected the checkpoints: ${reason}`],
  "push-has-secrets": ({ count, files }) => {
    const listed = files.slice(0, MAX_FILES).map(({ path, rules }) => `${shownPath(path)} (${rules.join(", ")})`);
    const more = files.length > MAX_FILES ? ` and ${plural(files.length - MAX_FILES, "more file")}` : "";
    return [
      `Nothing was pushed: ${plural(count, "text")} in the checkpoints ${count === 1 ? "looks" : "look"} secret: ${listed.join("; ")}${more}.`,
      "They were written before the rules covered them. If they are harmless, add them to the setting redaction.allow, or push with --anyway.",
    ];
  },
  "push-too-large": ({ path, bytes }) => [
    `Nothing was pushed: ${shownPath(path)} has ${Math.ceil(bytes / (1024 * 1024))} MiB, which hosts refuse.`,
    "Push it with --anyway.",
  ],
};

export const REDACTION_WORDS: WordsFor<RedactionProblem> = {
  "pattern-invalid": ({ setting, pattern, reason }) => [
    `${setting}: ${shorten(printable(JSON.stringify(pattern)), 80)} is not a pattern: ${printable(reason)}.`,
    "Patterns use RE2 syntax: no back-references and no look-around.",
  ],
  "vault-key-damaged": ({ path }) => [
    "The key of the redacted secrets is damaged.",
    `Put ${path} back from a backup, or remove it: what was redacted with it then stays redacted.`,
  ],
  "vault-locked": () => ["Another process is using the redacted secrets.", TRY_AGAIN],
};

export const MAINTENANCE_WORDS: WordsFor<MaintenanceProblem> = {
  "steps-not-forgotten": ({ steps }) => [
    `${plural(steps, "step")} could not be forgotten: the session is busy.`,
    "End its agent; the next command continues.",
  ],
  "session-not-forgotten": () => ["The session is busy.", "End its agent; the next command continues."],
  "step-without-own-conversation": () => [
    "A single step has no conversation of its own.",
    "Name its session, or leave --conversation-only out.",
  ],
  "nothing-to-forget": ({ target }) => [
    `No session or step is called ${shownPath(target)}, and no recorded session contains it.`,
    LOG_LISTS,
  ],
  "text-too-short": ({ min }) => ["That is too short to look for.", `Give at least ${min} characters.`],
  "worker-running": () => ["Backtrail is working in the background here.", TRY_AGAIN],
};

export function checkpointDefectText(defect: CheckpointDefect): string {
  switch (defect.kind) {
    case "file-missing":
      return `${defect.path} is missing.`;
    case "file-not-plain":
      return `${defect.path} is refused: it is not a plain file.`;
    case "file-too-large":
      return `${defect.path} is refused: ${defect.mebibytes} MiB are too large for it.`;
    case "file-invalid":
      return `${defect.path} is refused: ${FORMAT_DEFECTS[defect.reason]}.`;
    case "names-another":
      return "Its metadata.json names another checkpoint.";
    case "too-many-sessions":
      return `Only the first ${defect.read} of its ${defect.sessions} sessions are read.`;
    case "sessions-miscounted":
      return `Its metadata.json names ${plural(defect.named, "session")}; ${defect.sessions} are there.`;
    case "too-many-tasks":
      return `Only the first ${defect.read} of its tasks are read.`;
    case "transcript-too-large":
      return `The transcript of session ${defect.session} has ${defect.mebibytes} MiB, which is too large to show.`;
    case "transcript-changed":
      return `The transcript of session ${defect.session} does not match its content_hash.txt.`;
    case "images-too-large":
      return `The images of session ${defect.session} are too large to show.`;
    case "conversation-removed":
      return REMOVED;
    case "conversation-missing":
      return `Session ${defect.session} has no conversation here to summarize.`;
    case "summary-not-kept":
      return "The checkpoint has changed since, so its summary was discarded.";
  }
}

const FORMAT_DEFECTS: Readonly<Record<FormatDefect, string>> = {
  "not-json": "it is not valid JSON",
  "not-an-object": "it is not a JSON object",
  "invalid-checkpoint-id": "its checkpoint_id is not a checkpoint id",
  "sessions-not-a-list": "its sessions are not a list",
  "no-session-id": "it names no session",
  "invalid-session-id": "its session_id is not a session id",
  "newer-version": "a newer version of Backtrail wrote it",
};

function remoteFailureText(failure: RemoteFailure): string {
  switch (failure.kind) {
    case "said":
      return failure.text;
    case "ended":
      return `git ended with ${failure.code}.`;
    case "timeout":
      return `It did not answer within ${failure.seconds} seconds.`;
    case "too-much":
      return "It sends more than a repository of checkpoints can hold.";
    case "interrupted":
      return "It was interrupted.";
    case "unknown-object":
      return `It sends a ${failure.type}, which no checkpoint has.`;
    case "large-object":
      return `It sends a ${failure.type} of ${failure.mebibytes} MiB.`;
    case "too-many-objects":
      return `It sends more than ${failure.max} objects.`;
  }
}
