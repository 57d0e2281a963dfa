/** What each command was asked to change; everything else of the user's must be as it was. */
import type { Invocation } from "./invocation.ts";

export interface Allowance {
  /** Files and what is staged; `places`: work trees may come and go, and nothing changes in those that stay. */
  files: "all" | "places" | "none";
  /** Branches and HEAD. */
  refs: boolean;
  /** Steps may go. */
  steps: boolean;
  /** Conversations in the agents' own places may be replaced. */
  transcripts: boolean;
}

const NOTHING: Allowance = { files: "none", refs: false, steps: false, transcripts: false };

export function allowanceOf({ args }: Invocation, autoCommit: boolean): Allowance {
  const [first, second] = args;
  switch (first) {
    case "rewind":
      return { ...NOTHING, files: "all", refs: args.includes("--reset-head") };
    // A redo takes back whatever the restore did.
    case "redo":
      return { ...NOTHING, files: "all", refs: true };
    case "undo":
      return { ...NOTHING, files: "all" };
    case "fork":
      if (second === "list" || second === "diff") return NOTHING;
      return { ...NOTHING, files: second === "take" ? "all" : "places", refs: second !== "take" };
    case "run":
      return { ...NOTHING, files: "all", refs: true };
    case "resume":
      return { ...NOTHING, transcripts: true };
    case "forget":
      return { ...NOTHING, steps: true };
    // Removes worktrees of runs that are done with.
    case "clean":
      return { ...NOTHING, files: "places", refs: true };
    case "hooks":
      return autoCommit ? { ...NOTHING, files: "all", refs: true } : NOTHING;
    default:
      return NOTHING;
  }
}

/** A command whose killing leaves something that the next one finishes. */
export function isFinishedLater({ args }: Invocation): boolean {
  return ["rewind", "redo", "undo", "fork", "resume", "run", "clean", "forget", "hooks"].includes(args[0] ?? "");
}

/** A command that finishes what others have left; hooks have no time for it. */
export function finishesOthers({ args }: Invocation): boolean {
  return !["hooks", "status", "config", "enable", "disable", "completion", "sync", "run"].includes(args[0] ?? "");
}
