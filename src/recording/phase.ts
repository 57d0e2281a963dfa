/**
 * The phases of a session as a pure state machine: a phase and an event give the next phase and the actions to perform.
 * `applyEvent` is the only code that changes a session's phase. docs/phases.md is generated from the table.
 */
export type Phase = "IDLE" | "ACTIVE" | "ACTIVE_COMMITTED" | "ENDED";

export type PhaseEvent = "SessionStart" | "TurnStart" | "TurnEnd" | "Compaction" | "SessionEnd" | "GitCommit";

/** The dispatcher has a handler for each action. */
export type Action =
  | "Announce"
  | "BeginTurn"
  | "SaveTurnEnd"
  | "SaveInterruptedTurn"
  | "SaveCompaction"
  | "SaveBaseline"
  | "SaveSessionEnd";

export interface PhaseContext {
  /** The agent reports the start of a session that is still open, as some agents do after a compaction. */
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
    SessionStart: to("IDLE", "Announce", "SaveBaseline"),
    TurnStart: to("ACTIVE", "BeginTurn"),
    // Some agents have no event for a prompt, and hooks may be installed in the middle of a turn.
    TurnEnd: to("IDLE", "SaveTurnEnd"),
    Compaction: to("IDLE", "SaveCompaction"),
    SessionEnd: to("ENDED", "SaveSessionEnd"),
    GitCommit: to("IDLE"),
  },
  ACTIVE: {
    SessionStart: to("IDLE", "SaveInterruptedTurn", "Announce", "SaveBaseline"),
    TurnStart: to("ACTIVE", "SaveInterruptedTurn", "BeginTurn"),
    TurnEnd: to("IDLE", "SaveTurnEnd"),
    Compaction: to("ACTIVE", "SaveCompaction"),
    SessionEnd: to("ENDED", "SaveSessionEnd"),
    GitCommit: to("ACTIVE_COMMITTED"),
  },
  ACTIVE_COMMITTED: {
    SessionStart: to("IDLE", "SaveInterruptedTurn", "Announce", "SaveBaseline"),
    TurnStart: to("ACTIVE", "SaveInterruptedTurn", "BeginTurn"),
    TurnEnd: to("IDLE", "SaveTurnEnd"),
    Compaction: to("ACTIVE_COMMITTED", "SaveCompaction"),
    SessionEnd: to("ENDED", "SaveSessionEnd"),
    GitCommit: to("ACTIVE_COMMITTED"),
  },
  ENDED: {
    SessionStart: to("IDLE", "Announce", "SaveBaseline"),
    TurnStart: to("ACTIVE", "BeginTurn"),
    TurnEnd: to("ENDED", "SaveTurnEnd"),
    Compaction: to("ENDED", "SaveCompaction"),
    SessionEnd: to("ENDED"),
    GitCommit: to("ENDED"),
  },
};

export function transition(phase: Phase, event: PhaseEvent, context: PhaseContext = {}): Transition {
  if (event === "SessionStart" && context.continuing && phase !== "ENDED") return { phase, actions: [] };
  return TABLE[phase][event];
}

/** Moves the session to its next phase. The caller performs the actions. */
export function applyEvent(state: { phase: Phase }, event: PhaseEvent, context?: PhaseContext): readonly Action[] {
  const next = transition(state.phase, event, context);
  state.phase = next.phase;
  return next.actions;
}

/** Renders the state machine as a Mermaid diagram. */
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
