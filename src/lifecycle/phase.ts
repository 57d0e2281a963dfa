/**
 * The life of a session as a pure machine: a phase and an event give the next phase and what is to be done.
 * The table is the specification; docs/phases.md is drawn from it.
 */
export type Phase = "IDLE" | "ACTIVE" | "ACTIVE_COMMITTED" | "ENDED";

export type PhaseEvent = "SessionStart" | "TurnStart" | "TurnEnd" | "Compaction" | "SessionEnd" | "GitCommit";

export type Action =
  /** Say through the agent that recording is on. */
  | "Announce"
  /** A turn that never said it ended is closed with a step. */
  | "CloseOpenTurn"
  /** A turn begins: the state before its prompt. */
  | "CaptureBefore"
  | "SaveStep"
  | "ResetTranscriptOffset"
  /** A commit was made in the middle of a turn: its checkpoint is completed at the turn's end. */
  | "CondenseProvisionally"
  | "Condense"
  | "CondenseIfTouched";

export interface PhaseContext {
  /** The commit is part of a rebase, merge or cherry-pick. */
  rewriting?: boolean;
  /** The agent starts the same session again without having left it (after a compaction). */
  continuing?: boolean;
}

export interface Transition {
  phase: Phase;
  actions: readonly Action[];
}

type Row = Record<PhaseEvent, Transition>;

export const PHASES: readonly Phase[] = ["IDLE", "ACTIVE", "ACTIVE_COMMITTED", "ENDED"];
export const PHASE_EVENTS: readonly PhaseEvent[] = [
  "SessionStart",
  "TurnStart",
  "TurnEnd",
  "Compaction",
  "SessionEnd",
  "GitCommit",
];

const to = (phase: Phase, ...actions: Action[]): Transition => ({ phase, actions });

const TABLE: Record<Phase, Row> = {
  IDLE: {
    SessionStart: to("IDLE", "Announce"),
    TurnStart: to("ACTIVE", "CaptureBefore"),
    // The prompt was never announced: some agents have no event for it, or hooks came in mid-turn.
    TurnEnd: to("IDLE", "SaveStep"),
    Compaction: to("IDLE", "SaveStep", "ResetTranscriptOffset"),
    SessionEnd: to("ENDED", "SaveStep"),
    GitCommit: to("IDLE", "Condense"),
  },
  ACTIVE: {
    SessionStart: to("IDLE", "CloseOpenTurn", "Announce"),
    TurnStart: to("ACTIVE", "CloseOpenTurn", "CaptureBefore"),
    TurnEnd: to("IDLE", "SaveStep"),
    Compaction: to("ACTIVE", "SaveStep", "ResetTranscriptOffset"),
    SessionEnd: to("ENDED", "CloseOpenTurn"),
    GitCommit: to("ACTIVE_COMMITTED", "CondenseProvisionally"),
  },
  ACTIVE_COMMITTED: {
    SessionStart: to("IDLE", "CloseOpenTurn", "Condense", "Announce"),
    TurnStart: to("ACTIVE", "CloseOpenTurn", "Condense", "CaptureBefore"),
    TurnEnd: to("IDLE", "SaveStep", "Condense"),
    Compaction: to("ACTIVE_COMMITTED", "SaveStep", "ResetTranscriptOffset"),
    SessionEnd: to("ENDED", "CloseOpenTurn", "Condense"),
    GitCommit: to("ACTIVE_COMMITTED", "CondenseProvisionally"),
  },
  ENDED: {
    SessionStart: to("IDLE", "Announce"),
    TurnStart: to("ACTIVE", "CaptureBefore"),
    TurnEnd: to("ENDED", "SaveStep"),
    Compaction: to("ENDED", "SaveStep", "ResetTranscriptOffset"),
    SessionEnd: to("ENDED"),
    GitCommit: to("ENDED", "CondenseIfTouched"),
  },
};

export function transition(phase: Phase, event: PhaseEvent, context: PhaseContext = {}): Transition {
  if (event === "GitCommit" && context.rewriting) return { phase, actions: [] };
  if (event === "SessionStart" && context.continuing && phase !== "ENDED") return { phase, actions: [] };
  return TABLE[phase][event];
}

/** The machine as a Mermaid diagram. */
export function diagram(): string {
  const lines = ["stateDiagram-v2", "  [*] --> IDLE: SessionStart"];
  for (const phase of PHASES) {
    for (const event of PHASE_EVENTS) {
      const next = TABLE[phase][event];
      const actions = next.actions.length > 0 ? ` / ${next.actions.join(", ")}` : "";
      lines.push(`  ${phase} --> ${next.phase}: ${event}${actions}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
