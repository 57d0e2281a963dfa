/** The sentences for the errors of a bisection or a check. */
import { shownPath } from "../../../base/text.ts";
import type { TrialProblem } from "../../../trials/problems.ts";
import { LOG_LISTS, shown, type WordsFor } from "./words.ts";

export const TRIAL_WORDS: WordsFor<TrialProblem> = {
  "nothing-to-bisect": ({ hasEnds }) => [
    hasEnds ? "The files are the same at both ends." : "Nothing to bisect: all recorded states have the same files.",
    LOG_LISTS,
  ],
  "path-not-below-root": ({ path }) => [
    `${shownPath(path)} is not a path below the work tree's root.`,
    "Give a path relative to the root, such as node_modules.",
  ],
  "not-between-ends": ({ step }) => [
    `${step} is not between the two ends.`,
    "--good must be older than --bad; `backtrail log` shows the order.",
  ],
  "command-denied": ({ program }) => [`"${shown(program)}" can't be started: permission denied.`],
  "command-missing": ({ program }) => [
    `"${shown(program)}" was not found in PATH.`,
    /\s/.test(program)
      ? "Remove the quotes around the whole command, or use a shell: sh -c '…'"
      : "The command runs without a shell. For shell syntax, write: sh -c '…'",
  ],
  "trial-stopped": () => ["Stopped. Nothing was changed."],
};
