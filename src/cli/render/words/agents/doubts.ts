/** The sentences for the uncertain parts of a proposed profile. */
import type { Doubt } from "../../../../agents/authoring/propose/doubts.ts";
import { printable, shownPath } from "../../../../base/text.ts";

type Of<K extends Doubt["kind"]> = Extract<Doubt, { kind: K }>;

const WORDS: { [K in Doubt["kind"]]: (doubt: Of<K>) => string } = {
  guess: ({ value }) => `a guess, not found in the recording: ${printable(value)}`,
  "event-meaning": ({ event, is }) => `${printable(event)} is assumed to be ${is} by its fields, not by its name`,
  "events-ignored": ({ events }) => `ignored, because their meaning is unknown: ${events.map(printable).join(", ")}`,
  "not-found": () => "found in no payload",
  "no-event": ({ is }) =>
    is === "TurnStart"
      ? "no recorded event is a TurnStart; did you ask something while it was recorded? If the agent has none, let the event before a tool be one"
      : `no recorded event is a ${is}; did you wait for the answer while it was recorded?`,
  "tools-unknown": ({ tools }) => `their kind is unknown, so they count as other: ${tools.map(printable).join(", ")}`,
  "no-transcript": () => "no growing file has the conversation; name its directory with --watch",
  "no-hooks": () =>
    "nothing was sent; if the agent has hooks, record it with another --format, otherwise describe `run`: `backtrail run` records it",
  "outside-home": ({ path }) => `${shownPath(path)} is not in the home directory, so it can't be described`,
  "place-unknown": ({ part }) => `nothing recorded explains "${printable(part)}" in the transcript's path`,
  "session-guessed": ({ id }) =>
    `"${printable(id)}" is assumed to be the session's id, because it is in the file's name`,
  "prompts-differ": ({ missing, more }) =>
    `of the prompts that hooks sent, the transcript lacks ${missing}, and it has ${more} more`,
  "cache-in-input": () => "whether the input includes cached tokens is a guess",
  "hooks-by-hand": () => "hooks were installed by hand, so `enable` will print the commands; name the agent's file",
  "fork-untried": () => "the agent has not continued a copy of a conversation yet",
};

export function doubtText(doubt: Doubt): string {
  const say = WORDS[doubt.kind] as (given: Doubt) => string;
  return `${doubt.key}: ${say(doubt)}`;
}
