/** The sentences for forks: errors of making or dropping one, and what a drop would lose. */
import { oneLine, plural, shownPath } from "../../../../base/text.ts";
import type { ForkProblem } from "../../../../restore/fork/problems.ts";
import type { KeepReason } from "../../../../restore/fork/stale-worktrees.ts";
import type { GitOperation } from "../../../../restore/owned/activity.ts";
import type { OwnWork } from "../../../../restore/owned/repositories.ts";
import type { BlockedPath } from "../../../../restore/owned/walk.ts";
import type { DropRisk } from "../../../../restore/owned/work.ts";
import { MORE_LETTERS, shown, type WordsFor } from "../words.ts";
import { noteText } from "./notes.ts";

const OTHER_DIRECTORY = "Choose another directory with --directory.";
const LEAVE_OUT = "Leave it out.";

export const FORK_WORDS: WordsFor<ForkProblem> = {
  "forks-locked": () => ["Another process is creating or dropping a fork.", "Wait until it is done, then try again."],
  "fork-unknown": ({ text, names, closest }) => [
    `There is no fork "${shown(text)}".`,
    closest !== null
      ? `Did you mean ${closest}?`
      : names.length > 0
        ? `Existing forks: ${names.join(", ")}`
        : "Create one with `backtrail fork <step>`.",
  ],
  "fork-ambiguous": ({ text, names }) => [
    `"${shown(text)}" could be any of ${names.slice(0, 5).join(", ")}.`,
    MORE_LETTERS,
  ],
  "fork-gone": ({ fork }) => [`The fork ${fork} is gone.`, "Remove it from the list with `backtrail fork drop`."],
  "fork-unreadable": ({ fork, directory }) => [
    `The fork ${fork} can't be read: ${shownPath(directory)} does not lead to this repository.`,
    `If one of them was moved: git worktree repair ${shownPath(directory)}`,
  ],
  "fork-is-here": ({ fork, action }) => [
    `This is the fork ${fork} itself.`,
    action === "drop"
      ? "Drop it from another work tree."
      : `Run this from the work tree that should get its changes: backtrail -C <directory> fork take ${fork}`,
  ],

  "folder-has-no-branches": () => ["This folder has no git, so a fork of it has no branch.", "Leave the option out."],
  "branch-name-invalid": ({ branch }) => [
    `"${shown(branch, 80)}" can't be the name of a branch.`,
    "Choose another one with --branch.",
  ],
  "branch-exists": ({ branch }) => [
    `A branch ${shown(branch, 80)} already exists.`,
    "Choose another name with --branch.",
  ],
  "branch-not-made": ({ reason }) => [`The branch could not be created: ${reason}.`],
  "branch-name-taken": ({ branch, tip }) => [
    `The branch ${oneLine(branch)} can't be created again: another branch has its name.`,
    tip === null ? undefined : `Create it under another name: git branch <name> ${tip}`,
  ],
  "directory-exists": ({ directory }) => [`${shownPath(directory)} already exists.`, OTHER_DIRECTORY],
  "directory-in-git": ({ directory }) => [`${shownPath(directory)} is inside git's own directory.`, OTHER_DIRECTORY],
  "directory-in-work-tree": ({ directory }) => [
    `${shownPath(directory)} is inside the work tree, and git does not ignore it.`,
    OTHER_DIRECTORY,
  ],
  "directory-has-steps": ({ directory }) => [
    `${shownPath(directory)} already has steps, of a folder that was there before.`,
    OTHER_DIRECTORY,
  ],
  "fork-not-made": ({ directory, reason }) => [
    `The fork could not be created in ${shownPath(directory)}: ${reason}.`,
    OTHER_DIRECTORY,
  ],
  "fork-filter-failed": ({ directory, reason }) => [
    `The fork could not be created in ${shownPath(directory)}: ${oneLine(reason)}.`,
    "git can't write this file without its filter: repair the filter, or create only a branch with --branch-only.",
  ],
  "fork-vanished": ({ directory }) => [`The fork in ${shownPath(directory)} does not exist after it was created.`],
  "fork-source-gone": ({ step }) => [`Step ${step}, which the fork was made from, is gone.`],
  "fork-step-gone": ({ step, fork, branch, tip }) => [
    `Step ${step}, which holds the files of the fork ${oneLine(fork)}, is gone.`,
    tip === null ? undefined : `Its last commit may still be there: git branch ${branch} ${tip}`,
  ],
  "path-missing": ({ path }) => [`${shownPath(path)} is not in this work tree.`, LEAVE_OUT],
  "path-not-ignored": ({ path }) => [
    `${shownPath(path)} is not ignored by git, so the fork gets it from the step.`,
    LEAVE_OUT,
  ],
  "fork-left-files": ({ reason, hint, left }) => [`${reason} ${noteText(left)}`, hint],

  "appeared-in-fork": ({ path, fork }) => [
    `${shownPath(path)} appeared in the fork ${fork} after you confirmed. Nothing was changed.`,
    "Try again to see everything that would be deleted.",
  ],
  "fork-not-linked": ({ directory, fork }) => [
    `${shownPath(directory)} does not lead to git's record of the fork ${fork}, so it may be something else. Nothing was changed.`,
    `If the repository or the fork was moved: git worktree repair ${shownPath(directory)}. If the fork is gone, move what is there away and run \`git worktree prune\`. Then try again.`,
  ],
  "fork-missing": ({ directory, fork, why }) => [
    `The directory of the fork ${fork} is not at ${shownPath(directory)}, and ${why === "locked" ? "it is locked" : "the repository was moved since it was made"}. Nothing was changed.`,
    why === "locked"
      ? "If the directory is gone, run `git worktree unlock` and try again."
      : "If it was moved too: git worktree repair <its directory>. If it is gone: git worktree prune. Then try again.",
  ],
  "fork-replaced": ({ directory }) => [
    `${shownPath(directory)} is now a separate repository, or belongs to another store. Nothing was changed.`,
    "Move it away, then try again.",
  ],
  "repository-not-moved": ({ from, to }) => [
    `${shownPath(from)} could not be moved to ${shownPath(to)}.`,
    "Move whatever is there away; the next command tries again.",
  ],
  "repository-elsewhere": ({ path }) => [
    `${shownPath(path)} has changes that can't be kept: it is on another file system than its repository.`,
    "Push them, or move the directory away; then try again.",
  ],
  "commits-not-kept": () => [
    "Commits that exist only in the fork could not be kept. Nothing was changed.",
    "Try again.",
  ],
  "ignored-unknown": ({ directory, reason }) => [
    `Git can't tell which files of ${shownPath(directory)} are ignored: ${reason}`,
  ],
  "directory-gone": ({ directory }) => [`${shownPath(directory)} no longer exists.`],
  "directory-replaced": ({ directory }) => [
    `${shownPath(directory)} was replaced by another directory. Nothing was changed.`,
  ],
  "aside-exists": ({ directory }) => [`${shownPath(directory)} already exists.`, "Move it away and try again."],
  "not-removed": ({ directory, reason }) => [
    `${shownPath(directory)} can't be removed: ${reason}. Nothing was changed.`,
  ],
  blocked: ({ directory, first, more }) => [
    `${shownPath(directory)} can't be removed: ${shownPath(first.path)}${more > 0 ? ` (and ${plural(more, "more path")})` : ""}: ${blockedText(first)}.`,
    "Fix this or move it away, then try again.",
  ],
  "file-unreadable": ({ path, reason }) => [`${shownPath(path)} can't be read: ${reason}. Nothing was changed.`],
};

function blockedText(blocked: BlockedPath): string {
  return blocked.kind === "mounted" ? "another file system is mounted there" : `it can't be read (${blocked.code})`;
}

const OPERATIONS: Record<GitOperation, string> = {
  rebase: "A rebase",
  merge: "A merge",
  "cherry-pick": "A cherry-pick",
  revert: "A revert",
  bisect: "A bisection",
};

/** A row of a drop's plan. */
export function dropRiskRow(risk: DropRisk): { kind: DropRisk["kind"]; what: string; why: string } {
  return { kind: risk.kind, ...riskWords(risk) };
}

function riskWords(risk: DropRisk): { what: string; why: string } {
  switch (risk.kind) {
    case "unmarked-fork":
      return {
        what: shownPath(risk.directory),
        why: "an older version created it without a mark, so only its name shows that it is the fork",
      };
    case "agent-in-turn":
      return { what: `A turn of ${oneLine(risk.agent)}`, why: "the agent is working there" };
    case "agent-open":
      return { what: `A session of ${oneLine(risk.agent)}`, why: "the agent is still open there" };
    case "process":
      return { what: `Process ${risk.pid}`, why: "it is running there" };
    case "ignored":
    case "unsaved": {
      const what = "path" in risk ? shownPath(risk.path) : plural(risk.more, "more path");
      return { what, why: risk.kind === "ignored" ? "git ignores it, so no step holds it" : "no step holds it" };
    }
    case "git-operation":
      return { what: OPERATIONS[risk.operation], why: "it is in progress there" };
  }
}

const OWN_WORK: Record<OwnWork, string> = {
  unreadable: "git can't read it",
  "other-worktree": "it is a worktree of another repository",
  "uncommitted-files": "it has files that are not committed",
  "unpushed-commits": "it has commits that none of its remotes has",
};

/** Why a nested repository is moved out before its directory is removed. */
export function ownWorkText(work: OwnWork | null): string {
  return work === null ? "" : OWN_WORK[work];
}

/** Why a run's worktree stays. */
export function keepReasonText(reason: KeepReason): string {
  switch (reason.kind) {
    case "directory-missing":
      return "its directory is missing; remove it from git's list with `git worktree prune`";
    case "not-a-worktree":
      return "its directory is not a worktree of this repository";
    case "not-linked":
      return "it does not lead here; fix this with `git worktree repair`";
    case "unmerged-commits":
      return "it has commits that are on no other branch";
    case "run-active":
      return "its run is still in progress";
    case "agent-active":
      return "an agent is working there";
    case "locked":
      return "it is locked";
    case "detached":
      return "it is on no branch";
    case "state-unknown":
      return "git can't list its changes";
    case "unreadable":
      return "its content can't be read";
    case "submodules":
      return "it has submodules";
    case "process":
      return `process ${reason.pid} is running there`;
    case "git-operation":
      return `${OPERATIONS[reason.operation].toLowerCase()} is in progress there`;
    case "other-branch":
      return `it is on another branch, ${shownPath(reason.branch)}`;
    case "uncommitted":
      return `${plural(reason.files, "file")} there ${reason.files === 1 ? "is" : "are"} not committed`;
    case "ignored-files":
      return reason.more === 0
        ? `${shownPath(reason.path)} is only there, and git ignores it`
        : `${shownPath(reason.path)} and ${plural(reason.more, "more path")} are only there, and git ignores them`;
  }
}
