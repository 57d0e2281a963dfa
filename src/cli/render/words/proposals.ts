/** The sentences for what proposals refuse: to the person who decides, and to the agent that proposes. */
import { plural, shownPath } from "../../../base/text.ts";
import type { ProposalProblem } from "../../../proposals/problems.ts";
import { MORE_LETTERS, shown, type WordsFor } from "./words.ts";

const ASK_AGAIN = "Ask the agent to propose it again, or use `backtrail undo` or `backtrail rewind`.";

export const PROPOSAL_WORDS: WordsFor<ProposalProblem> = {
  "proposal-unknown": ({ id }) => [
    `There is no proposal "${shown(id)}" in this work tree.`,
    "`backtrail proposals --all` lists them.",
  ],
  "proposal-ambiguous": ({ id }) => [`"${shown(id)}" matches several proposals.`, MORE_LETTERS],
  "proposal-closed": ({ id, state }) => [
    `Proposal ${id} ${state === "expired" ? "has expired" : `is already ${state}`}.`,
    state === "applied" ? "`backtrail redo` undoes the last rewind or undo." : ASK_AGAIN,
  ],
  "proposal-without-reason": () => [
    "A proposal needs a reason.",
    "Explain in a sentence what is wrong with these changes.",
  ],
  "too-many-proposals": ({ open }) => [
    `${plural(open, "proposal")} are already open.`,
    "Ask the user to decide on them: `backtrail proposals` lists them.",
  ],
  "proposal-in-conflict": ({ path, more }) => [
    `Later changes touch the same lines: ${shownPath(path)}${more > 0 ? ` (and ${plural(more, "more file")})` : ""}.`,
    "Propose to undo the later turns first, or rewind to before this turn.",
  ],
  "proposal-changes-nothing": ({ isUndo }) => [
    isUndo ? "Nothing to undo: none of these changes are in the files." : "The files are already in this state.",
  ],
};
