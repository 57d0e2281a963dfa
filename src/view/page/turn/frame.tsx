/** What every turn has around its details: the way back, and what is shown while they load or if that fails. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { to } from "../data/router.ts";
import { createStore } from "../data/store.ts";
import type { Loaded } from "../data/use-query.ts";
import { Problem, Skeleton } from "../parts/states.tsx";

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
