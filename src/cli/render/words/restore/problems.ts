/** The sentences for the errors of a restore, an undo or a resume. */

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
  keyword: "it has a special meaning",
  count: "a number counts turns",
  step: "it is a step",
  commit: "it is a commit",
  checkpoint: "it is a checkpoint",
  session: "it is a session",
};

/** For each system error code: the problem, and what to do. */
const SYSTEM_ERRORS: Record<string, [string, string]> = {
  EACCES: ["permission denied", WRITABLE],
  EPERM: ["the operation is not permitted", WRITABLE],
  EROFS: ["the file system is read-only", "Make it writable, then try again."],
  ENOSPC: ["the disk is full", FREE_SPACE],
  EFBIG: ["it is larger than the file system allows", "Raise the limit (ulimit -f), or leave it out with --paths."],
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
    "`backtrail log` shows the turns. Give a step's id, `last`, or a number of turns back.",
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
    `${shown(text)} holds checkpoints, which are conversations without files.`,
    "Show them with `backtrail explain`, or continue one with `backtrail resume`.",
  ],
  "no-green-step": ({ isChecked }) =>
    isChecked
      ? [
          "No step before the current state has passed the check.",
          "Search for one that passes with `backtrail bisect -- <command>`.",
        ]
      : [
          "No step has been checked here yet.",
          "Check each turn in the background with `backtrail check -- npm test`, or now with `backtrail check --now`.",
        ],
  "no-turn-here": ({ isEmpty, suggestions }) => [
    isEmpty ? "Nothing is recorded here yet." : "The current state is from before the first turn.",
    suggestionHint(suggestions),
  ],
  "too-few-turns": ({ available, suggestions }) => [
    available === 0
      ? "Nothing to rewind: no recorded turn led to the current files."
      : `There ${available === 1 ? "is" : "are"} only ${plural(available, "turn")}.`,
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
    "Undo it there.",
  ],
  "not-in-turn": ({ step }) => [
    `Step ${step} is not part of a turn.`,
    "`backtrail undo` undoes turns of agents. To go to a step, use `backtrail rewind`.",
  ],
  "step-gone": ({ step }) => [`Step ${step} is gone.`, "`backtrail log` shows what is left."],

  "no-turn-to-undo": ({ inSession }) => [
    `Nothing to undo: ${inSession ? "that session has no turn here" : "no turn is recorded here"}.`,
    LOG_LISTS,
  ],
  "turn-running": ({ agent, prompt, start }) => [
    `The turn of ${shown(agent)}${quoted(prompt)} has not ended yet.`,
    `Let it finish, then undo it; or rewind to before it: backtrail rewind ${start}`,
  ],
  "turn-end-missing": ({ prompt, start }) => [
    `The end of the turn${quoted(prompt)} is not recorded.`,
    `Rewind to its beginning with \`backtrail rewind ${start}\`.`,
  ],
  "turn-undone": (turn) => [
    `${namedTurn(turn)} is already undone.`,
    "`backtrail redo` brings back what you undid last.",
  ],
  "turn-rewound": (turn) => [
    `${namedTurn(turn)} is already rewound.`,
    "`backtrail log` shows the turns before the current state.",
  ],
  "subagent-unclear": () => [
    "This subagent's changes can't be separated from the work beside it.",
    "Undo the whole turn: `backtrail log` shows it.",
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

  "nothing-to-redo": ({ isAllRedone }) => [
    isAllRedone ? "Nothing left to redo." : "Nothing to redo: there is no rewind, undo or take.",
    "`backtrail ops` shows what you did here, and `backtrail log` the steps to rewind to.",
  ],
  "no-operation": () => ["Nothing to undo: there is no operation here.", "`backtrail ops` shows what you did here."],
  "operation-unknown": ({ text }) => [
    `There is no operation "${shown(text)}".`,
    "`backtrail ops` lists them with their ids.",
  ],
  "operation-ambiguous": ({ text, ids }) => [
    `"${shown(text)}" could be any of ${ids.slice(0, 5).join(", ")}.`,
    "Give more letters of the id.",
  ],
  "operation-reverted": ({ operation, id, by }) => [
    `The ${operation} ${id} is already undone.`,
    `To redo it, undo the operation that undid it: backtrail ops undo ${by}`,
  ],
  "branch-moved-since": ({ restore, safetyStep }) => [
    `The rewind ${restore} moved the branch, and there were other operations since.`,
    `Undo those first, or rewind to the state before it: backtrail rewind ${safetyStep} --reset-head`,
  ],
  "fork-made-again": ({ fork }) => [
    `This operation created the fork ${shown(fork)} again.`,
    `Drop it with \`backtrail fork drop ${fork}\`.`,
  ],
  "name-taken": ({ name, meaning }) => {
    const word = shorten(oneLine(name), 60);
    const id = "id" in meaning ? ` (${oneLine(meaning.id).slice(0, 12)})` : "";
    return [
      `"${word}" can't be a name: ${TAKEN[meaning.kind]}${id}. Nothing was saved.`,
      `Choose another name, such as "before ${word}".`,
    ];
  },
  "nothing-named": ({ step }) => [
    `Nothing to undo: step ${step} has no name, and saving it changed nothing else.`,
    "It expires like other steps.",
  ],
  "safety-step-gone": ({ step, restore }) => [
    `Step ${step}, which was saved before the ${restore}, is gone.`,
    "`backtrail log` shows what is left.",
  ],
  "target-step-gone": ({ step, restore, safetyStep }) => [
    `Step ${step}, the target of the ${restore}, is gone.`,
    `Rewind to the state before it with \`backtrail rewind ${safetyStep}\`.`,
  ],

  "restore-running": () => [
    "Another rewind is in progress in this work tree.",
    "Wait until it is done, then try again.",
  ],
  "restore-unfinished": ({ events, safetyStep }) => [
    [...events.map(noteText), "Nothing else can be restored until it is finished."].join(" "),
    `Remove the obstacle, then try again. The previous state is saved as step ${safetyStep}.`,
  ],
  "changed-since-plan": ({ path }) => [`${shownPath(path)} has changed since the plan. Nothing was changed.`],
  obstacle: ({ conflict, more }) => [
    `${shownPath(conflict.path)} can't be restored: ${conflictText(conflict.reason)}${more > 0 ? ` (and ${plural(more, "more path")})` : ""}. Nothing was changed.`,
    "Move the obstacle away, or choose other files with --paths.",
  ],
  "no-space": () => ["There is not enough disk space for the files to restore.", FREE_SPACE],
  "not-checked-out": ({ path }) => [
    `git did not write ${shownPath(path)}.`,
    "Nothing was changed. `git fsck` shows whether objects are missing.",
  ],
  "checkout-failed": ({ reason }) => [
    `${reason.replace(/\.?$/, ".")} Nothing was changed.`,
    reason.includes("smudge filter")
      ? "Install the filter's program, or leave its files out with --paths."
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
  "failed-before": ({ reason }) => [reason ?? "It failed earlier."],
  "rolled-back": ({ reason, hint, notes }) => [[reason, ...notes.map(noteText)].join(" "), hint],
  "partly-restored": ({ reason, rollback, safetyStep }) => [
    `${reason} The files are only partly restored (${rollback}).`,
    `The next backtrail command tries again. The previous state is saved as step ${safetyStep}.`,
  ],

  "conversation-exists": ({ path }) => [`${path} already exists and was left as it is.`],
  "conversation-outside": () => [noConversationText({ kind: "outside" })],
  "nothing-to-hand-off": ({ reason }) => [`Nothing to hand over: ${noConversationText(reason)}`],
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
  "conversation-empty": () => ["The conversation has no messages up to this step.", "Start a new session."],
  "resume-unsupported": ({ agent }) => [
    `Backtrail can't restore conversations of ${agent}.`,
    "Hand it to another agent with --agent.",
  ],
  "transcript-appeared": ({ path }) => [`${shownPath(path)} appeared in the meantime and was left as it is.`],
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
