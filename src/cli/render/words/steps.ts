/** The sentences for steps that can't be found or changed, and for mistakes of the library's callers. */
import type { ApiProblem } from "../../../api/problems.ts";
import { shownPath } from "../../../base/text.ts";
import type { StepProblem } from "../../../steps/problems.ts";
import { MORE_LETTERS, shown, TRY_AGAIN, type WordsFor } from "./words.ts";

export const STEP_WORDS: WordsFor<StepProblem> = {
  "session-prefix-ambiguous": ({ text }) => [`"${shown(text)}" matches several sessions.`, MORE_LETTERS],
  "session-prefix-unknown": ({ text }) => [
    `No session here begins with "${shown(text)}".`,
    "`backtrail sessions` lists them.",
  ],
  "step-prefix-ambiguous": ({ text, ids }) => [
    `"${text}" could be any of ${ids.slice(0, 5).join(", ")}.`,
    "Give more letters of the id.",
  ],
  "session-busy": ({ change }) =>
    change === "rename"
      ? ["The step's session is busy. Nothing was changed.", TRY_AGAIN]
      : ["The session is busy.", "End its agent, then try again."],
  "session-changed": () => ["The session has just changed.", TRY_AGAIN],
};

export const API_WORDS: WordsFor<ApiProblem> = {
  "foreign-plan": () => [
    "This plan can't be applied: it is a copy, or another program made it.",
    "Pass the object that planRewind, planUndo or planRedo returned.",
  ],
  "executable-missing": () => ["The program `backtrail` was not found in PATH.", "Name it with `executable`."],
  "file-not-in-state": ({ path }) => [`There is no file ${shownPath(path)} in this state.`],
  "not-a-directory": ({ path }) => [`${shownPath(path)} is not a directory.`],
  "proposal-stale": () => [
    "The files changed since this was proposed. Nothing was changed.",
    "Check the new plan and apply it again.",
  ],
  "target-not-in-turn": ({ target }) => [`"${shown(target)}" is not part of a turn.`],
};
