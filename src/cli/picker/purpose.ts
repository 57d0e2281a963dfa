/** What a step is picked for, and how the picker says so. */
import type { PickerEntry } from "./entries.ts";

export interface Purpose {
  /** Over a numbered list. */
  question: string;
  /** Over the list on a screen, before where the chosen one leads; a purpose without sides asks its question there. */
  lead: string;
  /** What the enter key does. */
  verb: string;
  /** Whether before or after a turn makes a difference. */
  sides: boolean;
  offers(entry: PickerEntry): boolean;
  nothing: string;
}

const ANYTHING = () => true;
const NOTHING = "Nothing is recorded here yet, so there is nothing to";

export const TO_REWIND: Purpose = {
  question: "Go back to:",
  lead: "Go back to ",
  verb: "go",
  sides: true,
  offers: ANYTHING,
  nothing: `${NOTHING} go back to.`,
};

export const TO_FORK: Purpose = {
  question: "Fork from:",
  lead: "Fork from ",
  verb: "fork",
  sides: true,
  offers: ANYTHING,
  nothing: `${NOTHING} fork from.`,
};

export const TO_UNDO: Purpose = {
  question: "Take back which turn?",
  lead: "",
  verb: "take back",
  sides: false,
  offers: ({ isTurn, isGone }) => isTurn && !isGone,
  nothing: "There is no turn here to take back.",
};
