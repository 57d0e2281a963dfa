/** The sentences for what `enable` and `disable` refuse or fail with. */
import type { SetupProblem } from "../../../../setup/problems.ts";
import type { WordsFor } from "../words.ts";

export const SETUP_WORDS: WordsFor<SetupProblem> = {
  "agents-not-connected": ({ failed }) => [failed.map(({ agent, message }) => `${agent}: ${message}`).join(" ")],
  "not-enabled": () => ["Backtrail is not enabled here, so there is nothing to turn off."],
  "store-record-damaged": () => [
    "The record of what was installed here (store.json) is damaged, so it cannot be taken out.",
    "`backtrail enable` with the same agents writes it anew; then `backtrail disable` works.",
  ],
  "profile-gone": ({ agent }) => [`The profile of ${agent} is gone, so its hooks cannot be found.`],
  "agent-not-connected": ({ agent, connected }) => [
    `${agent} is not connected here.`,
    `Connected: ${connected.join(", ") || "none"}.`,
  ],
  "agent-tells-nothing": ({ agent, name }) => [
    `The profile of ${name} has neither hooks nor a command for runs, so nothing of it can be recorded.`,
    `Add \`hooks\` or \`run\` to the profile, then run \`backtrail agents check ${agent}\`.`,
  ],
  "folder-too-large": ({ folder, isHome }) => [
    `${folder} is ${isHome ? "your home directory" : "the whole disk"}, which is too much to record.`,
    "Go into the folder of a project, then run `backtrail enable` there.",
  ],
  "bare-repository": ({ directory }) => [
    `${directory} is a bare repository: it has no files of its own to record.`,
    "Go into one of its work trees (`git worktree list`), then run `backtrail enable` there.",
  ],
  "work-tree-elsewhere": ({ repository, workTree }) => [
    `The files of the repository in ${repository} are in ${workTree} (core.worktree).`,
    "Recording works only where both are in one place.",
  ],
  "connected-everywhere": ({ agent }) => [
    `${agent} is connected for every repository, so it can't be disconnected in this one alone.`,
    "`backtrail disable` excludes this repository; `backtrail disable --scope user` disconnects agents everywhere.",
  ],
  "nothing-connected-everywhere": () => [
    "No agent is connected for every repository, so there is nothing to turn off.",
    "`backtrail enable --scope user` connects them; `backtrail status` shows what is connected here.",
  ],
  "agent-not-connected-everywhere": ({ agent, connected }) => [
    `${agent} is not connected for every repository.`,
    `Connected: ${connected.join(", ")}.`,
  ],
};
