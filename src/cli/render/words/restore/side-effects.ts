/** The words for side effects, which a restore does not undo: for the user, and for agents. */

import type { SideEffectRow } from "../../../../api/words.ts";
import { oneLine, plural, shorten, shownPath } from "../../../../base/text.ts";
import type { NotCaptured } from "../../../../model/step.ts";
import type { FileEffect, IgnoredFileChange } from "../../../../restore/side-effects/file-effects.ts";
import type { GitOperation, LeftReason, SideEffect } from "../../../../restore/side-effects/model.ts";
import type { CommandEffect } from "../../../../restore/side-effects/shell.ts";
import { conflictText } from "./conflicts.ts";

const PROMPT_LENGTH = 60;

const NOT_CAPTURED: Record<NotCaptured["why"], string> = {
  "too-large": "it is larger than the limit, so it is not recorded",
  "too-many": "more files match capture.include than are recorded",
  "no-time": "there was no time to record it",
  "nested-repository": "a repository inside this one is not recorded",
  submodule: "submodules are not changed",
  unreadable: "it could not be read, so it is not recorded",
  "special-file": "it is neither a file nor a link",
};
const NOT_CAPTURED_THEN: Partial<Record<NotCaptured["why"], string>> = {
  "too-large": "it was too large to be recorded then",
  "too-many": "it was not recorded then",
  "no-time": "there was no time to record it then",
};

const IGNORED = "it is ignored by git, so it is not recorded";
const IGNORED_CHANGES: Record<IgnoredFileChange, string> = {
  created: IGNORED,
  written: IGNORED,
  changed: "it was changed; git ignores it, so its earlier content is not recorded",
  removed: "it was removed; git ignores it, so its content is not recorded",
  "maybe-removed": "it may have been removed; git ignores it, so its content is not recorded",
  moved: "it was moved; git ignores it, so it is not recorded",
};

const GIT_STATE = "it changed git's own state: commits, branches, tags and the stash stay";
const GIT_STATE_BUT_BRANCH = "it changed git's own state: other branches, tags and the stash stay";

const COMMAND_EFFECTS: Record<CommandEffect, string> = {
  packages: "it installed or removed packages",
  database: "it may have changed a database",
  machine: "it contacted another machine",
  services: "it changed running services or processes",
  background: "it may still be running in the background",
  infrastructure: "it may have changed containers or infrastructure",
  push: "it pushed to another repository",
  commit: GIT_STATE,
  branch: GIT_STATE,
  tag: GIT_STATE,
  stash: GIT_STATE,
  "git-config": GIT_STATE,
};

const ABORT: Record<GitOperation, string> = {
  merge: "git merge --abort",
  rebase: "git rebase --abort",
  "cherry-pick": "git cherry-pick --abort",
  revert: "git revert --abort",
};

/** A side effect as a row of a plan, in text and in JSON. */
export function sideEffectRow(effect: SideEffect): SideEffectRow {
  const { what, why } = wordsOf(effect);
  const command = effect.kind === "command" ? effect.command : "by" in effect ? effect.by : undefined;
  return { kind: effect.kind, what, why, ...(command === undefined ? {} : { command }) };
}

function wordsOf(effect: SideEffect): { what: string; why: string } {
  switch (effect.kind) {
    case "ignored-file":
      return { what: `${shownPath(effect.path)}${effect.isDirectory ? "/" : ""}`, why: ignoredText(effect) };
    case "outside-file":
      return { what: shownPath(effect.path), why: "it is outside this folder" };
    case "ignored-files-removed":
      return { what: `\`${effect.by}\``, why: "it removed ignored files, which are not recorded" };
    case "ignored-files-cut":
      return {
        what: "Other ignored files",
        why: `there are more than ${effect.limit}, so not all of them were compared`,
      };
    case "left-alone":
      return { what: shownPath(effect.path), why: leftText(effect.reason) };
    case "not-captured": {
      const why = NOT_CAPTURED[effect.reason];
      return {
        what: shownPath(effect.path),
        why: effect.isGone ? `it is gone, and can't be brought back: ${why}` : why,
      };
    }
    case "unresolved":
      return { what: shownPath(effect.path), why: `${conflictText(effect.reason)}: it is left as it is` };
    case "commits":
      return { what: commitsText(effect), why: commitsReason(effect) };
    case "branch":
    case "tag":
    case "stash":
      return {
        what: `${effect.kind} ${effect.name}`,
        why: `${effect.kind === "stash" ? "stashes" : `${effect.kind}${effect.kind === "branch" ? "es" : "s"}`} are not changed`,
      };
    case "branch-switched": {
      const shown = (branch: string | null) => (branch === null ? "no branch" : `branch ${shownPath(branch)}`);
      const what = `You are on ${shown(effect.now)}; this step was on ${shown(effect.then)}`;
      return { what, why: "the branch is not switched" };
    }
    case "branch-not-moved":
      return { what: "The branch", why: "another branch was checked out at this step, so the branch is not moved" };
    case "staged":
      return effect.files === null
        ? { what: "Staged changes", why: "the branch was at another commit at this step" }
        : {
            what: `Staged changes of ${plural(effect.files, "file")}`,
            why: "they stay staged as they are; only the working copies change",
          };
    case "in-progress": {
      const why = `it began after this step, and a commit would now finish it with these files; \`${ABORT[effect.operation]}\` ends it`;
      return { what: `The ${effect.operation} in progress`, why };
    }
    case "agent-running": {
      const prompt = shorten(oneLine(effect.prompt ?? ""), PROMPT_LENGTH);
      const what = `${oneLine(effect.agent)} is working${prompt === "" ? "" : ` on "${prompt}"`}`;
      return { what, why: "its turn has not ended; what it writes from now on stays" };
    }
    case "command": {
      const whys = new Set(
        effect.effects.map((one) => {
          const why = COMMAND_EFFECTS[one];
          return why === GIT_STATE && effect.branchMoves ? GIT_STATE_BUT_BRANCH : why;
        }),
      );
      return { what: `\`${effect.command}\``, why: [...whys].join("; ") };
    }
    case "conversation-unread": {
      const megabytes = plural(Math.ceil(effect.bytes / (1 << 20)), "megabyte");
      return {
        what: `Side effects in ${megabytes} of conversation`,
        why: "the conversation is too long to search completely",
      };
    }
    case "more":
      return { what: `${effect.count} more`, why: wordsOf(effect.like).why };
  }
}

function ignoredText({ change, to }: Extract<FileEffect, { kind: "ignored-file" }>): string {
  return to === undefined
    ? IGNORED_CHANGES[change]
    : `it was moved to ${shownPath(to)}; git ignores it, so it is not recorded`;
}

function leftText(reason: LeftReason): string {
  switch (reason.kind) {
    case "unsafe-path":
      return "git refuses to write to that path";
    case "ignored-then":
      return "git ignored it at this step, so it is not changed";
    case "unwatched":
      return "git is set not to check it (sparse checkout, or assume-unchanged)";
    case "in-the-way":
      return "an unrecorded file (ignored or excluded) is there";
    case "agents-own":
      return `${shownPath(reason.directory)} belongs to an agent and is never touched`;
    case "not-captured":
      return (reason.when === "then" ? NOT_CAPTURED_THEN[reason.reason] : undefined) ?? NOT_CAPTURED[reason.reason];
  }
}

type Commits = Extract<SideEffect, { kind: "commits" }>;

function commitsText({ from, to, count }: Commits): string {
  if (from === null) return "All commits";
  const since = shownPath(from.slice(0, 8));
  return count === null ? `HEAD (${to.slice(0, 8)}, then ${since})` : `${plural(count, "commit")} since ${since}`;
}

function commitsReason({ newest }: Commits): string {
  const why = "commits and the branch are not changed";
  return newest.length > 0 ? `${why}: ${newest.join(", ")}` : why;
}
