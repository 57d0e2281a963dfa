/** The stops of the time slider: every recorded state, and after them the files on disk. */
import type { Moment, Topic } from "../../../protocol.ts";
import { line, visible } from "../../text/visible.ts";

export type Stop = Omit<Moment, "kind"> & { kind: Moment["kind"] | "now" };

/** The newest recorded state is not what is on disk: an undo, a rewind or the user's own edits came after it. */
export const NOW: Stop = {
  // The server's name for the current files.
  step: "files",
  time: "",
  kind: "now",
  agent: null,
  session: null,
  number: 0,
  prompt: null,
  name: null,
  current: true,
};

/** The files on disk change; a recorded state never does. */
export function topicsOf(step: string): readonly Topic[] {
  return step === NOW.step ? ["timeline", "operations", "worktree"] : [];
}

/** What the stop is: "After turn 3 of session 53dbf6a2, "Tidy up"". */
export function titleOf({ kind, prompt, name, number, session }: Stop): string {
  const text = prompt === null ? "(no prompt recorded)" : `"${line(prompt, 80)}"`;
  const turn = session === null ? text : `turn ${number} of session ${line(session.slice(0, 8), 8)}, ${text}`;
  switch (kind) {
    case "now":
      return "Now (files on disk)";
    case "turn-start":
      return `Before ${turn}`;
    case "turn-end":
      return `After ${turn}`;
    case "task":
      return `A subagent's work in ${turn}`;
    case "tool":
      return `Before a command in ${turn}`;
    case "manual":
      return name === null ? "Saved by hand" : `Saved: ${visible(name)}`;
    case "safety":
      return name === null ? "Before going back" : line(name, 100);
    case "baseline":
      return "Between turns";
  }
}
