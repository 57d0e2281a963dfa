/** The sentences for what a restore, an undo or a resume refuses or fails with. */

import { oneLine, plural, shorten, shownPath } from "../../../../base/text.ts";
import type { Meaning, NamedTurn, RestoreProblem, Suggestions, TakenName } from "../../../../restore/problems.ts";
import type { ResumeProblem } from "../../../../restore/resume/problems.ts";
import { checkpointDefectText } from "../checkpoints.ts";
import { LOG_LISTS, MORE_LETTERS, quoted, shown, type WordsFor } from "../words.ts";
import { conflictText } from "./conflicts.ts";
import { noConversationText, noteText } from "./notes.ts";

const WRITABLE = "Make it and its directory writable, then try again.";
const FREE_SPACE = "Free some space, then try again.";
const FETCH = "If others have worked on it, fetch the branch entire/checkpoints/v1 from where they push.";

const TAKEN: Readonly<Record<TakenName["kind"], string>> = {
  keyword: "it has a meaning of its own",
  count: "a number counts turns",
  step: "it is a step",
  commit: "it is a commit",
  checkpoint: "it is a checkpoint",
  session: "it is a session",
};

/** By the code of the system's error: what is wrong, and what to do. */
const SYSTEM_ERRORS: Record<string, [string, string]> = {
  EACCES: ["permission denied", WRITABLE],
  EPERM: ["the operation is not permitted", WRITABLE],
  EROFS: ["the file system is read-only", "Make it writable, then try again."],
  ENOSPC: ["the disk is full", FREE_SPACE],
  EFBIG: ["it is larger than a file may be here", "Raise the limit (ulimit -f), or leave it out with --paths."],
  EDQUOT: ["the disk quota is used up", FREE_SPACE],
  ENAMETOOLONG: ["the name is too long for this file system", "Leave it out with --paths."],
};

export const RESTORE_WORDS: WordsFor<RestoreProblem> = {
  "empty-target": () => ["The target is empty.", LOG_LISTS],
  "checkpoint-without-commit": ({ checkpoint }) => [
    `The checkpoint ${checkpoint} is here, but no commit of this repository belongs to it.`,
    `\`backtrail resume ${checkpoint}\` continues its conversation, \`backtrail explain ${checkpoint}\` shows it.`,
  ],
  "target-unknown": ({ text, suggestions }) => [
    `There is no step, name, commit or checkpoint "${shown(text)}".`,
    suggestionHint(suggestions),
  ],
  "turn-unknown": ({ text }) => [
    `There is no turn, step, subagent or session "${shown(text)}".`,
    "`backtrail log` shows the turns; give a step's id, `last`, or how many turns back it is.",
  ],
  "turn-zero": ({ text }) => [
    `"${text}" is not a turn: turns are counted back from 1, the newest.`,
    "`last` is the newest turn, `prev` the state before it.",
  ],
  "target-ambiguous": ({ text, meanings: [one, other] }) => [
    `"${shown(text)}" has two meanings: ${meaningText(one)}, and ${meaningText(other)}.`,
    `Give ${unambiguousName(one)} or ${unambiguousName(other)}.`,
  ],
  "session-ambiguous": ({ text }) => [`"${shown(text)}" matches several sessions.`, MORE_LETTERS],
  "checkpoint-branch": ({ text }) => [
    `${shown(text)} holds checkpoints, which are conversations: there are no files of yours to go back to.`,
    "`backtrail explain` shows them, and `backtrail resume` continues one.",
  ],
  "no-green-step": ({ isChecked }) =>
    isChecked
      ? ["No step that led here has passed the check.", "`backtrail bisect -- <command>` looks for one that passes."]
      : [
          "No step has been checked here yet.",
          "`backtrail check -- npm test` checks each turn in the background; `backtrail check --now` does it at once.",
        ],
  "no-turn-here": ({ isEmpty, suggestions }) => [
    isEmpty ? "Nothing is recorded here yet." : "No turn led to the current state: it is from before the first one.",
    suggestionHint(suggestions),
  ],
  "too-few-turns": ({ count, available, suggestions }) => [
    available === 0
      ? "Nothing to rewind: no recorded turn led to the current files."
      : `Only ${plural(available, "turn")} can be rewound, not ${count}.`,
    suggestionHint(suggestions),
  ],
  "turn-count-too-high": ({ count, available, inSession }) => [
    available === 0
      ? `No turn ${inSession ? "of that session led here" : "is recorded here"}.`
      : `There is no turn @${count}: ${plural(available, "turn")}${inSession ? " of that session" : ""} led here.`,
    "`backtrail log` shows them.",
  ],
  "other-work-tree": ({ step, worktree }) => [
    `Step ${step} belongs to another work tree (${shown(worktree)}).`,
    "Undo it there: the files that it changed are not these.",
  ],
  "not-in-turn": ({ step }) => [
    `Step ${step} is not part of a turn.`,
    "`backtrail undo` takes back what an agent did in a turn; `backtrail rewind` goes to a step.",
  ],
  "step-gone": ({ step }) => [`Step ${step} is gone.`, "`backtrail log` shows what is left."],

  "no-turn-to-undo": ({ inSession }) => [
    `There is no turn${inSession ? " of that session" : ""} here to take back.`,
    LOG_LISTS,
  ],
  "turn-running": ({ agent, prompt, start }) => [
    `The turn of ${shown(agent)}${quoted(prompt)} has not ended yet.`,
    `Let it finish, then undo it; or go back to before it: backtrail rewind ${start}`,
  ],
  "turn-end-missing": ({ prompt, start }) => [
    `The end of the turn${quoted(prompt)} is not recorded.`,
    `\`backtrail rewind ${start}\` goes back to where it began.`,
  ],
  "turn-undone": (turn) => [`${namedTurn(turn)} is undone already.`, "`backtrail redo` takes the last undo back."],
  "turn-rewound": (turn) => [
    `${namedTurn(turn)} is not part of the present: a rewind took it back.`,
    "`backtrail log` shows which turns led here.",
  ],
  "subagent-unclear": () => [
    "What this subagent changed can't be separated from what was done beside it.",
    "The whole turn can be taken back: `backtrail log` shows it.",
  ],
  "already-undone": () => ["None of these changes are in the files anymore.", LOG_LISTS],

  "turn-not-ended": ({ agent, turn }) => [
    `Turn ${turn} of ${shown(agent)} has not ended, so its changes can't be separated from yours.`,
    "Let it finish or end its session, or rewind without --keep-mine.",
  ],
  "own-changes-unknown": ({ target }) => [
    `--keep-mine can't be used with ${target === "commit" ? "a commit" : "a step of another work tree"}: which changes since then are yours is not recorded.`,
    "Give a step of this work tree: `backtrail log` lists them.",
  ],

  "nothing-to-redo": () => [
    "There is no rewind or undo to take back.",
    "`backtrail ops` shows what you did here, and `backtrail log` every step that can be gone to.",
  ],
  "no-operation": () => ["There is nothing to take back.", "`backtrail ops` shows what you did here."],
  "operation-unknown": ({ text }) => [
    `There is no operation "${shown(text)}".`,
    "`backtrail ops` lists them with their ids.",
  ],
  "operation-ambiguous": ({ text, ids }) => [
    `"${shown(text)}" could be any of ${ids.slice(0, 5).join(", ")}.`,
    "Give a few more letters of the id.",
  ],
  "operation-reverted": ({ operation, id, by }) => [
    `The ${operation} ${id} is taken back already.`,
    `To have it again, take back what took it back: backtrail ops undo ${by}`,
  ],
  "branch-moved-since": ({ restore, safetyStep }) => [
    `The rewind ${restore} moved the branch, and other operations came since.`,
    `Take those back first, or go to the state before it: backtrail rewind ${safetyStep} --reset-head`,
  ],
  "fork-made-again": ({ fork }) => [
    `The fork ${shown(fork)} was made again by this.`,
    `\`backtrail fork drop ${fork}\` drops it once more.`,
  ],
  "name-taken": ({ name, meaning }) => {
    const word = shorten(oneLine(name), 60);
    const id = "id" in meaning ? ` (${oneLine(meaning.id).slice(0, 12)})` : "";
    return [
      `"${word}" can't be a name: ${TAKEN[meaning.kind]}${id}. Nothing was saved.`,
      `Choose a name that nothing else has, such as "before ${word}".`,
    ];
  },
  "nothing-named": ({ step }) => [
    `Nothing to take back: step ${step} has no name, and saving it changed nothing else.`,
    "It is removed with all other steps of its age.",
  ],
  "safety-step-gone": ({ step, restore }) => [
    `Step ${step}, which was saved before the ${restore}, is gone.`,
    "`backtrail log` shows what is left.",
  ],
  "target-step-gone": ({ step, restore, safetyStep }) => [
    `Step ${step}, to which the ${restore} led, is gone.`,
    `\`backtrail rewind ${safetyStep}\` goes to the state before it.`,
  ],

  "restore-running": () => ["Another rewind is under way in this work tree.", "Wait until it is done, then try again."],
  "restore-unfinished": ({ events, safetyStep }) => [
    [...events.map(noteText), "Nothing else can be restored before that."].join(" "),
    `Put right what is in its way, then try again. Everything as it was before is in step ${safetyStep}.`,
  ],
  "changed-since-plan": ({ path }) => [`${shownPath(path)} was changed in between. Nothing was changed.`],
  obstacle: ({ conflict, more }) => [
    `${shownPath(conflict.path)} can't be restored: ${conflictText(conflict.reason)}${more > 0 ? ` (and ${plural(more, "more path")})` : ""}. Nothing was changed.`,
    "Move what is in the way, or choose other files with --paths.",
  ],
  "no-space": () => ["There is not enough room on the disk for the files to restore.", FREE_SPACE],
  "not-checked-out": ({ path }) => [
    `git did not write ${shownPath(path)}.`,
    "Nothing was changed. `git fsck` shows whether objects are missing.",
  ],
  "checkout-failed": ({ reason }) => [
    `${reason.replace(/\.?$/, ".")} Nothing was changed.`,
    reason.includes("smudge filter")
      ? "The filter's program must run here; --paths leaves its files out."
      : "Is the disk full? Otherwise `git fsck` shows whether objects are missing.",
  ],
  "file-not-restored": ({ path, code, reason, unchanged }) => {
    const [what, hint] = SYSTEM_ERRORS[code ?? ""] ?? [reason];
    return [`${shownPath(path)} could not be restored: ${what}.${unchanged ? " Nothing was changed." : ""}`, hint];
  },
  "became-directory": ({ path }) => [`${shownPath(path)} has become a directory, so no file can be written there.`],
  "written-by-other": ({ path }) => [`${shownPath(path)} is being written by another process again and again.`],
  "parent-not-a-directory": ({ path, parent }) => [
    `${shownPath(parent)} is not a directory anymore, so ${shownPath(path)} can't be written.`,
  ],
  "failed-before": ({ reason }) => [reason ?? "It had failed before."],
  "rolled-back": ({ reason, hint, notes }) => [[reason, ...notes.map(noteText)].join(" "), hint],
  "partly-restored": ({ reason, rollback, safetyStep }) => [
    `${reason} The files are only partly restored (${rollback}).`,
    `The next backtrail command tries again. Everything as it was before is in step ${safetyStep}.`,
  ],

  "conversation-exists": ({ path }) => [`${path} exists already and was left as it is.`],
  "conversation-outside": () => [noConversationText({ kind: "outside" })],
  "nothing-to-hand-off": ({ reason }) => [`There is nothing to hand over: ${noConversationText(reason)}`],
  "transcript-unreadable": ({ agent }) => [`Backtrail can't read the transcripts of ${agent}.`],
};

export const RESUME_WORDS: WordsFor<ResumeProblem> = {
  "no-conversation": ({ reason }) => [noConversationText(reason)],
  "agent-unknown": ({ agent }) => [
    `The agent "${shown(agent, 40)}" is not known here.`,
    "`backtrail agents list` shows which are.",
  ],
  "checkpoint-missing": ({ checkpoint }) => [`The checkpoint ${checkpoint} is not here.`, FETCH],
  "checkpoint-conversation-missing": ({ checkpoint, defects }) => [
    [`The conversation of checkpoint ${checkpoint} is missing.`, ...defects.map(checkpointDefectText)].join(" "),
  ],
  "checkpoint-conversation-removed": ({ checkpoint }) => [
    `The conversation of checkpoint ${checkpoint} was removed.`,
    "This conversation was removed with `backtrail forget`.",
  ],
  "session-not-in-checkpoint": ({ checkpoint, sessions }) => [
    `Checkpoint ${checkpoint} has no such conversation.`,
    sessions.length > 0
      ? `It has ${sessions.map((session) => shown(session, 40)).join(", ")}.`
      : "Only its prompts are kept: `backtrail explain` shows them.",
  ],
  "session-not-recorded": ({ session }) => [
    `The conversation of session ${shown(session, 40)} is not recorded here.`,
    "An imported conversation is where its agent keeps it: the agent itself can resume it.",
  ],
  "branch-without-session": ({ branch }) => [`No session is recorded on the branch ${shown(branch)}.`, FETCH],
  "commit-without-session": ({ commit }) => [`No session is recorded behind commit ${commit.slice(0, 12)}.`, FETCH],
  "step-without-conversation": () => [
    "No conversation was recorded with that step.",
    "`backtrail log` shows the turns.",
  ],
  "conversation-empty": () => ["The conversation has no message up to there.", "Start a new session."],
  "resume-unsupported": ({ agent }) => [
    `Backtrail can't give ${agent} a conversation to continue.`,
    "--agent hands it over to another one.",
  ],
  "transcript-appeared": ({ path }) => [`${shownPath(path)} has appeared in the meantime and was left as it is.`],
};

function suggestionHint({ closest, steps }: Suggestions): string {
  if (closest !== null) return `Did you mean "${shown(closest)}"?`;
  if (steps.length === 0) return "Start an agent here, or save the current state with `backtrail save`.";
  return `The newest steps are ${steps.join(", ")}; \`backtrail log\` shows them all.`;
}

function meaningText(meaning: Meaning): string {
  switch (meaning.kind) {
    case "turn":
      return `the turn @${meaning.count}`;
    case "named-step":
      return `step ${meaning.step}, saved under this name`;
    case "session":
      return `session ${shown(meaning.session, 80)}`;
    case "subagent":
      return `the subagent ${meaning.id} of step ${meaning.step}`;
    case "commit":
      return `commit ${meaning.commit.slice(0, 12)}`;
  }
}

function unambiguousName(meaning: Meaning): string {
  if (meaning.kind === "turn") return `@${meaning.count}`;
  return meaning.kind === "commit" ? meaning.commit.slice(0, 12) : meaning.step;
}

function namedTurn({ step, isSubagent, prompt }: NamedTurn): string {
  return `${isSubagent ? "The subagent's work" : "Turn"} ${step}${quoted(prompt)}`;
}
