/** The sentences for what `doctor` finds, and for what its repairs did. */
import { plural, shorten, shownPath } from "../../../../base/text.ts";
import { showSize } from "../../../../config/values.ts";
import type { DoctorFact, DoctorRepair } from "../../../../maintenance/doctor/facts.ts";
import type { Finding } from "../../../../maintenance/doctor/finding.ts";
import { moment } from "../../layout/time.ts";
import { some, type WordsFor } from "../words.ts";
import { entireText } from "./entire.ts";
import { settingDefectText } from "./settings.ts";

const MAX_REASON = 200;
const FIX = "`backtrail doctor --fix` fixes it.";
const NEXT_COMMAND = "The next command finishes it, or `backtrail doctor --fix`.";
const CORRECT_FILE = "Correct that file.";
const PRUNE = "`git gc --prune=now` removes them. Run it while no agent is at work.";
const ACCEPT = "`backtrail config trust` makes what the repository asks for your own setting.";

const WHY_SHARED = {
  entire: "the Entire CLI is enabled here, whose pre-push hook pushes it",
  remote: "a remote has it",
  others: "it holds checkpoints of another tool",
} as const;

const DOCTOR_WORDS: WordsFor<DoctorFact> = {
  "check-failed": ({ reason }) => [`This could not be checked: ${reason}`],
  "git-version": ({ version }) => [`git ${version}`],
  "git-too-old": ({ version, required }) => [
    `git ${version ?? "of unknown version"} is too old.`,
    `Install git ${required} or newer.`,
  ],

  "store-made-later": () => ["none yet: it is created when an agent first works here"],
  "store-absent": () => ["Backtrail is not enabled here.", "`backtrail enable` turns it on."],
  "store-record-broken": () => [
    "The record of what was installed here (store.json) is damaged.",
    "Write it again with `backtrail enable` and the same agents.",
  ],
  "store-of-other-version": () => ["Another version of Backtrail wrote the store.", "Use the newer Backtrail."],
  "store-read-only": ({ directory, code }) => [
    `The store cannot be written (${code}).`,
    `Check who owns ${shownPath(directory)}.`,
  ],
  "store-usable": ({ directory }) => [`${shownPath(directory)} can be read and written`],
  size: (sizes) => [sizesText(sizes)],
  "size-exceeded": (sizes) => [
    `Steps take more space than allowed: ${sizesText(sizes)}.`,
    "Delete the oldest with `backtrail clean`, or raise the limit `retention.max_size`.",
  ],

  private: () => ["only you can read the store"],
  "readable-by-others": ({ paths }) => [`Others on this machine may read ${some(paths)}.`, FIX],
  "owned-by-another": ({ paths }) => [
    `Another user owns ${some(paths)}, and can read it.`,
    "Was Backtrail run as another user? `chown` makes it yours.",
  ],
  "settings-readable-by-others": ({ paths }) => [`Others on this machine may read your settings: ${some(paths)}.`, FIX],
  "conversations-in-object-store": ({ objects }) => [
    `git's object store still has conversations that were kept there before (${plural(objects, "object")}). Everybody who can read the repository can read them, and a local clone copies them.`,
    PRUNE,
  ],
  "conversations-not-moved": () => [
    "Conversations that an earlier version recorded are still in git's object store.",
    "`backtrail doctor --fix` moves them into private files.",
  ],
  "private-files-in-object-store": ({ paths, steps }) => [
    `Steps of an earlier version have copies of files that others may not read in git's object store: ${some(paths)} (${plural(steps.length, "step")}, such as ${steps[0]}).`,
    "They are deleted with the steps: when these expire, or with `backtrail forget <step>` and `git gc --prune=now`.",
  ],

  "steps-listed": ({ steps }) => [`${plural(steps, "step")}, all listed`],
  "steps-unlisted": ({ steps }) => [
    `${plural(steps.length, "step")} ${areOrIs(steps.length)} stored, but missing from the list.`,
    "Rebuild the list with `backtrail doctor --fix`.",
  ],
  "steps-not-stored": ({ steps }) => [
    `${plural(steps.length, "step")} ${areOrIs(steps.length)} listed, but not stored: ${some(steps)}.`,
    "Remove them from the list with `backtrail doctor --fix`.",
  ],
  "steps-unknown": ({ steps }) => [
    `The files of ${plural(steps.length, "step")} are stored, but their records are missing: ${some(steps)}.`,
    "Was something below .git/backtrail deleted? Restore it from a backup.",
  ],
  "steps-without-copy": ({ steps }) => [
    `The second copy of the records of ${plural(steps.length, "step")} is missing.`,
    "`backtrail doctor --fix` writes it again.",
  ],
  "ref-unreadable": ({ ref }) => [`${ref} cannot be read.`, "`git fsck` may say more."],
  "objects-complete": () => ["all objects of the steps are there"],
  "objects-missing": ({ reason }) => [
    `Objects of the steps are missing: ${reason ?? "git did not name them"}`,
    "Was something below .git deleted? `git fsck` may say more.",
  ],
  "private-files-missing": ({ steps }) => [
    `Private files of the steps are missing, of ${plural(steps, "step")}`,
    "Was something below .git deleted? `git fsck` may say more.",
  ],
  "conversations-incomplete": ({ sessions }) => [
    `The conversations of ${plural(sessions.length, "session")} are incomplete: ${some(sessions)}.`,
    "Was something below .git/backtrail/conversations deleted? The files of their steps are complete.",
  ],
  "clock-right": () => ["no step is from the future"],
  "steps-from-future": ({ steps, last }) => [
    `${plural(steps, "step")} ${areOrIs(steps)} from the future, up to ${last}: the clock was or is wrong.`,
    "They work, but expire later.",
  ],

  "saves-done": () => ["none is unfinished"],
  "forget-unfinished": () => ["Forgetting a conversation was interrupted, or is in progress.", NEXT_COMMAND],
  "saves-unfinished": ({ saves }) => [
    `${plural(saves, "save")} of a killed process ${areOrIs(saves)} unfinished.`,
    NEXT_COMMAND,
  ],
  "no-locks": () => ["no stale lock"],
  "git-locks": ({ paths }) => [
    `git's own ${some(paths)} has been there for a while.`,
    "If no git is running here, a killed one left it: remove the file.",
  ],
  "locks-abandoned": ({ paths }) => [
    `A killed process left ${some(paths)}.`,
    "The next command removes it, or `backtrail doctor --fix`.",
  ],
  "restores-done": () => ["none is unfinished"],
  "restores-unfinished": ({ restores }) => [`${plural(restores, "rewind")} in progress or interrupted.`, NEXT_COMMAND],
  "turns-ended": () => ["none was left open"],
  "turns-orphaned": ({ turns }) => [
    `${plural(turns, "turn")} never ended: the agent is gone.`,
    "The next command closes it, or `backtrail doctor --fix`.",
  ],
  "turn-very-long": ({ session, agent, since }) => [
    `Session ${shorten(session, 12)} of ${agent} has been in one turn since ${since}, and its agent still runs.`,
    "If it hangs, end the agent: what it did so far is saved then.",
  ],
  queue: ({ checkpoints }) => [
    checkpoints === 0 ? "no checkpoint is waiting" : `${plural(checkpoints, "checkpoint")} to be written`,
  ],
  "queue-stuck": ({ checkpoints, since }) => [
    `${plural(checkpoints, "checkpoint")} ${checkpoints === 1 ? "waits" : "wait"} since ${since}, and no process writes ${checkpoints === 1 ? "it" : "them"}.`,
    FIX,
  ],
  "queue-unreadable": ({ files }) => [
    `A waiting checkpoint can't be read: ${some(files)}.`,
    "It was set aside; its commit has no conversation.",
  ],
  "checkpoints-lost": ({ checkpoints }) => [
    `A commit names a checkpoint that was never written: ${some(checkpoints)}.`,
    FIX,
  ],
  "pushes-done": () => ["no push of checkpoints failed"],
  "push-failed": ({ remote, time, reason }) => [
    `Checkpoints could not be pushed to ${remote} (${time}): ${shorten(reason, MAX_REASON)}`,
    `\`backtrail sync push ${remote}\` tries again.`,
  ],
  "branch-stays-shared": ({ why }) => [
    `The branch entire/checkpoints/v1 stays in your repository, since ${WHY_SHARED[why]}: \`git push --all\` pushes it too.`,
    "`git push <remote> 'refs/heads/*' '^refs/heads/entire/*'` pushes all other branches.",
  ],

  "agent-profile-gone": ({ agent }) => [
    `The profile of ${agent} is gone.`,
    `Bring it back, or run \`backtrail disable --agent ${agent}\`.`,
  ],
  "agent-without-hooks": ({ agent, by }) => [
    `${agent}: has no hooks, and is recorded ${by === "watch" ? "while `backtrail watch` runs" : "by `backtrail run`"}`,
  ],
  "agent-file-unusable": ({ file, reason }) => [`${shownPath(file)} cannot be used: ${reason}`, CORRECT_FILE],
  "hooks-outdated": ({ agent, file }) => [`The hooks of ${agent} in ${shownPath(file)} call another Backtrail.`, FIX],
  "hooks-gone": ({ agent, file }) => [`The hooks of ${agent} are gone from ${shownPath(file)}.`, FIX],
  "hooks-obstructed": ({ text, remedy }) => [text, remedy],
  "hooks-not-called": ({ agent, session, time }) => [
    `${agent} worked here without calling its hooks: session ${session} (last written ${time}).`,
    "Nothing of it was recorded. Restart the agent; `backtrail import` reads its conversation.",
  ],
  "hooks-called": ({ agent, file, last }) => [
    `${agent}: ${hooksPlace(file)}${last === null ? "" : `, last called ${moment(last)}`}`,
  ],
  "hooks-not-called-yet": ({ agent, file }) => [
    `${agent}: installed, not called yet (${hooksPlace(file)}).`,
    "Start or restart the agent here, then check again.",
  ],
  "no-agent-connected": () => [
    "No agent is connected.",
    "Connect the agents that are found here with `backtrail enable`.",
  ],
  "mcp-outdated": ({ agent, file }) => [
    `${agent} starts another Backtrail as its MCP server (${shownPath(file)}).`,
    FIX,
  ],
  "mcp-gone": ({ agent, file }) => [`The MCP server is gone from ${shownPath(file)}, so ${agent} lacks it.`, FIX],
  "mcp-installed": ({ agent, file }) => [`${agent}: in ${shownPath(file)}`],
  "agent-version-tested": ({ agent, version }) => [`${agent} ${version}`],
  "agent-never-tested": ({ agent, version }) => [`${agent} ${version}: no version of it was tested`],
  "agent-version-untested": ({ agent, version, than, tested }) => [
    `${agent} ${version} is ${than} than what Backtrail was tested with (${tested.join(", ")}).`,
    "Check with `backtrail log` whether its turns are recorded completely.",
  ],

  "git-hooks-installed": ({ directory, manager }) => [
    `in ${shownPath(directory)}${manager === null ? "" : `, beside ${manager}`}`,
  ],
  "git-hooks-absent": ({ isUserScopeAlone }) =>
    isUserScopeAlone
      ? ["not installed, so commits are not linked; `backtrail enable` here installs them"]
      : ["Commits are not linked to their conversations.", "`backtrail enable` links them."],
  "git-hooks-off": () => ["git runs no hooks here (core.hooksPath is /dev/null).", "Commits are not linked."],
  "git-hooks-outdated": ({ directory }) => [`git's hooks in ${shownPath(directory)} call another Backtrail.`, FIX],
  "git-hooks-shadowed": ({ directory, isForced }) => [
    `git now uses the hooks in ${shownPath(directory)} (core.hooksPath), which lacks Backtrail's.`,
    isForced ? "Commits in this work tree are not linked." : FIX,
  ],
  "git-hooks-missing": ({ directory, manager, hooks }) => [
    `${manager ?? "Another tool"} replaced or removed Backtrail's hooks in ${shownPath(directory)}: ${hooks.join(", ")}.`,
    FIX,
  ],
  "git-hooks-contested": ({ directory, manager, hooks }) => [
    `${manager ?? "Another tool"} keeps replacing Backtrail's hooks in ${shownPath(directory)}: ${hooks.join(", ")}. Backtrail no longer restores them.`,
    "`backtrail doctor --fix` tries again.",
  ],
  "git-hooks-circular": ({ directory, manager, hooks }) => [
    `Hooks of ${manager ?? "another tool"} and of Backtrail in ${shownPath(directory)} call each other or run twice: ${hooks.join(", ")}.`,
    FIX,
  ],
  "git-hooks-old": ({ directory, hooks }) => [
    `Hooks of an earlier version are in ${shownPath(directory)}: ${hooks.join(", ")}.`,
    FIX,
  ],
  "git-hooks-left": ({ directory, hooks }) => [
    `Hooks in ${shownPath(directory)} call hooks that Backtrail keeps, and were left as they are: ${hooks.join(", ")}.`,
    "Remove those calls; until then commits may not be linked.",
  ],

  "scope-user": ({ agents, isRepository }) => [
    `user: all your git repositories are recorded (${agents.join(", ")})${isRepository ? "" : "; this is not one"}`,
  ],
  "scope-disabled": () => ["Recording is turned off in this repository.", "`backtrail enable` turns it on."],
  "scope-excluded": ({ pattern }) => [`user, but \`scope.exclude\` has ${pattern}: this repository is not recorded`],
  "scope-too-large": () => ["user, but not here: this is the home directory or the root directory"],
  "scope-not-owned": () => ["This repository belongs to another user, so it is not recorded."],
  entire: entireText,

  "setting-ignored": ({ file, key, defect, isUntrusted }) => [
    `${shownPath(file)}: ${key ? `${shownPath(key)}: ` : ""}${isUntrusted ? "ignored, " : ""}${settingDefectText(defect)}`,
    isUntrusted ? ACCEPT : "`backtrail config` shows the settings in effect.",
  ],
  "profile-untrusted": ({ file }) => [`${shownPath(file)}: ignored, since you have not accepted it`, ACCEPT],
  "tier-invalid": ({ tier, reason }) => [`tiers.${tier}: ${reason}`],
  "tier-unknown": ({ tier, known }) => [
    `There is no tier "${shownPath(tier)}"; balanced is used.`,
    `Tiers: ${known.join(", ")}, or one of your own under \`tiers\`.`,
  ],
  "recording-off": () => [
    "The setting `enabled` is false: nothing is recorded.",
    "`backtrail config set enabled true`",
  ],
  "settings-valid": ({ tier, rules }) => [`tier ${tier} (${plural(rules, "rule")})`],
  "log-empty": () => ["no failures in the last day"],
  "log-failure": ({ where, message, count, last }) => [
    `${where}: ${message} (${count === 1 ? "once" : `${count} times`}, last ${last})`,
  ],
  "log-more": ({ messages }) => [`and ${plural(messages, "other message")}`],
};

/** A finding in words, for the terminal, `--json` and the bundle. */
export function findingText({ fact }: Finding): { message: string; hint: string | null } {
  const words = DOCTOR_WORDS[fact.kind] as (fact: DoctorFact) => readonly [string, (string | undefined)?];
  const [message, hint = null] = words(fact);
  return { message, hint };
}

export function repairText(repair: DoctorRepair): string {
  switch (repair.kind) {
    case "steps-relisted":
      return `Rebuilt the list of steps: ${plural(repair.steps, "step")}.`;
    case "lost-checkpoints-written":
      return `Wrote ${plural(repair.checkpoints, "checkpoint")} that was lost.`;
    case "waiting-checkpoints-written":
      return "Wrote the waiting checkpoints.";
    case "permissions-closed":
      return `Made ${plural(repair.paths, "file or folder", "files and folders")} private again.`;
    case "agent-hooks-reinstalled":
      return `Restored the hooks of ${repair.agent} in ${shownPath(repair.file)}.`;
    case "git-hooks-reinstalled":
      return "Restored git's hooks.";
    case "mcp-reinstalled":
      return `Restored the MCP server of ${repair.agent} in ${shownPath(repair.file)}.`;
    case "hooks":
      return repair.text;
  }
}

function sizesText({ steps, limit, redoable }: { steps: number; limit: number; redoable: number }): string {
  const beside = redoable > 0 ? `, and ${showSize(redoable)} for redo` : "";
  return `${showSize(steps)} of ${showSize(limit)}${beside}`;
}

function areOrIs(count: number): string {
  return count === 1 ? "is" : "are";
}

/** Null for hooks that the user made. */
function hooksPlace(file: string | null): string {
  return file === null ? "hooks installed by hand" : `in ${shownPath(file)}`;
}
