/** The frame of every turn, the user's or a colleague's: the link back, loading and error states, its facts. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { TurnRow } from "../../protocol.ts";
import { to } from "../data/router.ts";
import { createStore } from "../data/store.ts";
import type { Loaded } from "../data/use-query.ts";
import { Age, Agent } from "../parts/badges.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { duration } from "../text/format.ts";
import { line } from "../text/visible.ts";

/** The turn on the screen: its id changes when it ends, its key does not. */
export const shownTurn = createStore<{ id: string; key: string } | null>(null);

interface Props<T> {
  id: string;
  /** The list is not beside it, so there must be a way back. */
  alone: boolean;
  asked: Loaded<T>;
  children(data: T): ComponentChildren;
}

export function TurnFrame<T extends { turn: { key: string } }>({ id, alone, asked, children }: Props<T>) {
  const { data, error, loading, reload } = asked;
  useEffect(() => {
    if (data) shownTurn.set({ id, key: data.turn.key });
  }, [data, id]);
  return (
    <article class="turn-detail" aria-label="Turn">
      {alone && (
        <a class="back" href={to("")}>
          ← Timeline
        </a>
      )}
      {loading && <Skeleton lines={8} label="Loading the turn" />}
      {error && <Problem error={error} retry={reload} />}
      {data && children(data)}
    </article>
  );
}

/** Who answered and when, how long it took, and where in its session the turn is. */
export function TurnFacts({ turn }: { turn: TurnRow }) {
  const spent =
    turn.startedAt !== null && turn.endedAt !== null ? Date.parse(turn.endedAt) - Date.parse(turn.startedAt) : null;
  return (
    <>
      <Agent id={turn.agent} />
      {turn.model !== null && <span>{line(turn.model, 40)}</span>}
      <Age time={turn.endedAt ?? turn.startedAt} />
      {spent !== null && spent >= 1000 && <span title="From the prompt to the end">{duration(spent)}</span>}
      <a href={to("session", [turn.session], { turn: String(turn.number) })}>turn {turn.number} of its session</a>
      {turn.open && <span class="tag running">running</span>}
    </>
  );
}
