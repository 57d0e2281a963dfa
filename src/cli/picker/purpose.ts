/** Defines the purposes of the picker and their texts. */
import { countOf } from "../render/files.ts";
import type { PickerEntry } from "./entries.ts";

export interface Purpose {
  /** The heading of a numbered list. */
  question: string;
  /** The heading on a screen, before the description of the chosen state; without `sides`, the question itself. */
  lead: string;
  /** The label of the enter key. */
  verb: string;
  /** Whether the user can choose between before and after a turn. */
  sides: boolean;
  offers(entry: PickerEntry): boolean;
  nothing: string;
}

const ANYTHING = () => true;
const NOTHING = "Nothing is recorded here yet, so there is nothing to";

export const TO_REWIND: Purpose = {
  question: "Rewind to:",
  lead: "Rewind to ",
  verb: "select",
  sides: true,
  offers: ANYTHING,
  nothing: `${NOTHING} rewind to.`,
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
  question: "Undo which turn?",
  lead: "",
  verb: "undo",
  sides: false,
  offers: ({ isTurn, isGone, after }) =>
    isTurn && !isGone && !(after.kind === "turn-end" && countOf(after.files) === 0),
  nothing: "There is no turn to undo here.",
};
