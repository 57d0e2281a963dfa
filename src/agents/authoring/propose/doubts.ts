/** The uncertain parts of a proposed profile. `cli/render/words/agents/doubts.ts` has the sentences. */
export type Doubt =
  /** Nothing recorded tells it: a guess. */
  | { kind: "guess"; key: string; value: string }
  /** The meaning of an event follows from its fields alone. */
  | { kind: "event-meaning"; key: string; event: string; is: string }
  /** Recorded events that the profile ignores, because their meaning is unknown. */
  | { kind: "events-ignored"; key: string; events: string[] }
  /** A field that an agent usually sends, and that was found nowhere. */
  | { kind: "not-found"; key: string }
  /** No hook tells when a turn starts or ends. */
  | { kind: "no-event"; key: string; is: string }
  | { kind: "tools-unknown"; key: string; tools: string[] }
  /** No recorded file holds the conversation. */
  | { kind: "no-transcript"; key: string }
  /** Nothing was sent: the agent has no hooks, or does not read them where they were. */
  | { kind: "no-hooks"; key: string }
  | { kind: "outside-home"; key: string; path: string }
  /** A part of the transcript's path that nothing recorded explains. */
  | { kind: "place-unknown"; key: string; part: string }
  /** No hook reported a session's id, so the id comes from the transcript's path. */
  | { kind: "session-guessed"; key: string; id: string }
  /** The transcript's prompts are not those that hooks sent. */
  | { kind: "prompts-differ"; key: string; missing: number; more: number }
  | { kind: "cache-in-input"; key: string }
  /** Hooks were installed by hand, so the profile does not know where. */
  | { kind: "hooks-by-hand"; key: string }
  /** A recording can't show that the agent continues a copy. */
  | { kind: "fork-untried"; key: string };
