/** The sentences for what git fails with, and for folders that are not recorded. */
import type { GitProblem } from "../../../git/problems.ts";
import type { WordsFor } from "./words.ts";

export const GIT_WORDS: WordsFor<GitProblem> = {
  "git-missing": () => ["git was not found in PATH.", "Install git 2.38 or newer and try again."],
  "git-failed": ({ verb, code, reason }) => [`git ${verb} failed: ${reason || `exit status ${code}`}`],
  "object-missing": ({ object }) => [
    `Object ${object} is missing from the repository.`,
    "Run `git fsck` to see what else is missing.",
  ],
  "object-type": ({ object, type, expected }) => [`Object ${object} is a ${type}, not a ${expected}.`],
  "git-ended": () => ["git cat-file ended unexpectedly."],
  "ref-locked": ({ lock }) => [`The ref's lock ${lock} is held.`, "If no git process is running, remove that file."],
  "private-files-not-pruned": ({ reason }) => [
    `Private files could not be removed from the store: ${reason}`,
    "`backtrail doctor` may say more; the next command tries again.",
  ],
  "not-recorded": ({ directory, root }) => [
    root === null
      ? `${directory} is not a git repository, and Backtrail is not enabled for it.`
      : `Backtrail is not enabled in ${root}.`,
    "Run `backtrail enable` here to start recording.",
  ],
};
