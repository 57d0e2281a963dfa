/** The timeline: every turn, newest first, with the lines of history beside it; and the selected turn next to it. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TimelineQuery } from "../../protocol.ts";
import { TeamTurnDetail } from "../colleagues/turn.tsx";
import { isHub } from "../data/hub.ts";
import { go, replace, to } from "../data/router.ts";
import { useStore } from "../data/store.ts";
import { useNow } from "../parts/now.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { unevenLayout, Virtual } from "../parts/virtual.tsx";
import { announce } from "../shell/announce.ts";
import { useApp } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { useWide } from "../shell/wide.ts";
import { dayName } from "../text/format.ts";
import { line } from "../text/visible.ts";
import { shownTurn } from "../turn/frame.tsx";
import { Turn } from "../turn/turn.tsx";
import { type Entry, entriesOf, HEIGHTS, heightOf } from "./entries.ts";
import { Filters } from "./filters.tsx";
import { Item } from "./item.tsx";
import { lanesOf, railOf } from "./rail.ts";
import { LANE, Rail } from "./rows.tsx";
import { keyOf, type LoadedTimeline, useTimeline } from "./use-timeline.ts";

/** Items of the list up to which a turn is sought in it. */
const MAX_SOUGHT = 1000;

/** `id` is the turn in the address; null for the bare timeline. */
export function TimelineScreen({ id, filter }: { id: string | null; filter: TimelineQuery }) {
  const timeline = useTimeline(filter);
  const wide = useWide();
  const pinned = useFirstTurn(timeline);
  const shown = useStore(shownTurn);
  const turns = timeline.items.filter((item) => item.kind === "turn");
  const key = id === null ? (wide ? pinned : null) : (turns.find((turn) => turn.id === id)?.key ?? keyOfShown(id));
  const isFiltered = Object.keys(filter).length > 0;
  // What was read stays beside the list when a filter takes its turn out.
  const first = turns.find((turn) => turn.key === pinned)?.id ?? (isFiltered ? shown?.id : undefined);
  const detail = id ?? (wide ? first : undefined);
  useArrivals(timeline);
  useShownInList(timeline, wide ? key : null);
  useOlderTurn(timeline, wide && !isFiltered ? id : null, key);
  useListKeys(timeline, key, wide);

  function keyOfShown(target: string): string | null {
    return shown?.id === target ? shown.key : null;
  }

  const Detail = isHub ? TeamTurnDetail : Turn;
  if (!wide && id !== null) return <Detail id={id} alone />;
  return (
    <div class={wide ? "panes" : "pane-only"}>
      <div class="pane list-pane">
        <Filters filter={filter} />
        <List timeline={timeline} selected={key} filtered={isFiltered} />
      </div>
      {wide && <div class="pane detail-pane">{detail !== undefined && <Detail id={detail} />}</div>}
    </div>
  );
}

/** The newest turn when the list first came: it stays in view when newer turns appear. */
function useFirstTurn({ items }: LoadedTimeline): string | null {
  const [pinned, setPinned] = useState<string | null>(null);
  const newest = items.find((item) => item.kind === "turn" && item.fate === "kept");
  const key = pinned ?? (newest ? keyOf(newest) : null);
  useEffect(() => {
    if (pinned === null && key !== null) setPinned(key);
  }, [key]);
  return key;
}

function List({
  timeline,
  selected,
  filtered,
}: {
  timeline: LoadedTimeline;
  selected: string | null;
  filtered: boolean;
}) {
  const { items, branches, more } = timeline;
  const now = useNow();
  const entries = useMemo(() => entriesOf(items), [items]);
  const rail = useMemo(() => railOf(items, branches, more), [items, branches, more]);
  const lanes = lanesOf(rail);
  const layout = useMemo(() => unevenLayout(entries.map(heightOf)), [entries]);
  const onEnd = useCallback(() => timeline.loadMore(), [timeline.loadMore]);

  if (timeline.loading) return <Skeleton lines={12} label="Loading the timeline" />;
  if (timeline.error) return <Problem error={timeline.error} retry={timeline.reload} />;
  if (items.length === 0) return filtered ? <NothingFound /> : <NothingYet />;

  const draw = (entry: Entry, n: number) => {
    if (entry.kind === "day")
      return (
        <div key={`day ${entry.day}`} class="day" style={{ height: `${HEIGHTS.day}px` }}>
          <Rail
            row={entries[n - 1] ? rail[indexBefore(n)] : undefined}
            lanes={lanes}
            height={HEIGHTS.day}
            node=""
            between
          />
          <span class="day-name">{dayName(entry.day, now)}</span>
        </div>
      );
    const { item, index } = entry;
    const key = keyOf(item);
    return (
      <Item
        key={key}
        item={item}
        index={index}
        total={more ? -1 : items.length}
        row={rail[index]}
        lanes={lanes}
        selected={key === selected}
      />
    );
  };
  const indexBefore = (n: number): number => {
    const before = entries[n - 1];
    return before?.kind === "item" ? before.index : -1;
  };
  return (
    <div role="list" aria-label="Turns" class="turns" style={{ "--rail": `${lanes * LANE}px` }}>
      <Virtual layout={layout} onEnd={onEnd}>
        {(first, last) => entries.slice(first, last).map((entry, i) => draw(entry, first + i))}
      </Virtual>
      {more && <p class="muted more">Loading older turns …</p>}
    </div>
  );
}

function NothingYet() {
  const { repository } = useApp();
  return (
    <Empty title="No turns yet">
      <p>
        Backtrail records <b>{line(repository.name, 60)}</b>. Start an agent there as usual: its first turn appears here
        while it works.
      </p>
    </Empty>
  );
}

function NothingFound() {
  return (
    <Empty title="No turn matches">
      <p>
        <a href={to("")}>Show all turns</a>
      </p>
    </Empty>
  );
}

/** Scrolls the list to the turn of the address, where it is not in view. */
function useShownInList(timeline: LoadedTimeline, key: string | null): void {
  const isListed = key !== null && timeline.items.some((item) => keyOf(item) === key);
  useEffect(() => {
    if (isListed) scrollTo(timeline, key);
  }, [isListed, key]);
}

/** A link may lead to a turn that is not in the list yet: older turns load until it is, as far as that is quick. */
function useOlderTurn(timeline: LoadedTimeline, id: string | null, key: string | null): void {
  const { items, more } = timeline;
  const isListed = items.some((item) => item.kind === "turn" && (item.id === id || item.key === key));
  const isMissing = id !== null && items.length > 0 && !isListed;
  const next = isMissing && more && items.length < MAX_SOUGHT ? items.length : 0;
  useEffect(() => {
    if (next > 0) timeline.loadMore();
  }, [next]);
}

/** Says for screen readers that a turn began or ended. */
function useArrivals({ items, loading }: LoadedTimeline): void {
  const known = useRef<Map<string, boolean> | undefined>(undefined);
  useEffect(() => {
    if (loading) return;
    const before = known.current;
    const now = new Map<string, boolean>();
    for (const item of items) if (item.kind === "turn") now.set(item.key, item.open);
    known.current = now;
    if (!before) return;
    for (const item of items) {
      if (item.kind !== "turn") continue;
      const wasOpen = before.get(item.key);
      const newest = items.find(({ kind }) => kind === "turn") === item;
      if (wasOpen === undefined && newest) announce(`New turn: ${line(item.prompt ?? "", 100)}`);
      else if (wasOpen === true && !item.open) announce(`Turn ended: ${line(item.prompt ?? "", 100)}`);
    }
  }, [items, loading]);
}

/** j and k move through turns, g and G jump to the newest and the oldest, Enter opens. */
function useListKeys(timeline: LoadedTimeline, selected: string | null, wide: boolean): void {
  const cursor = useRef<string | null>(null);
  const turns = timeline.items.filter((item) => item.kind === "turn");
  const focus = (index: number) => {
    const turn = turns[Math.max(0, Math.min(turns.length - 1, index))];
    if (!turn) return;
    cursor.current = turn.key;
    scrollTo(timeline, turn.key);
    // The row may not be drawn before the list has scrolled.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        document.querySelector<HTMLElement>(`[data-key="${CSS.escape(turn.key)}"]`)?.focus({ preventScroll: true }),
      ),
    );
    if (wide) replace(to("turn", [turn.id]));
  };
  const at = () => {
    const focused = document.activeElement?.getAttribute("data-key");
    const key = focused ?? cursor.current ?? selected;
    return turns.findIndex((turn) => turn.key === key);
  };
  useKeys({
    j: () => focus(at() + 1),
    k: () => focus(Math.max(0, at() - 1)),
    g: () => focus(0),
    G: () => void timeline.loadAll().then(() => focusLast.current()),
    Enter: (event) => {
      if (event.target instanceof HTMLAnchorElement || event.target instanceof HTMLButtonElement) {
        const key = event.target.getAttribute("data-key");
        if (key === null) return event.target.click();
      }
      const turn = turns[at()];
      if (!turn) return;
      go(to("turn", [turn.id]));
      requestAnimationFrame(() => document.querySelector<HTMLElement>(".turn-detail h2")?.focus());
    },
  });
  const focusLast = useRef(() => {});
  focusLast.current = () => focus(turns.length - 1);
}

function scrollTo({ items }: LoadedTimeline, key: string): void {
  const list = document.querySelector<HTMLElement>(".turns");
  const pane = list?.closest<HTMLElement>(".list-pane");
  if (!list || !pane) return;
  const entries = entriesOf(items);
  let top = 0;
  for (const entry of entries) {
    if (entry.kind === "item" && keyOf(entry.item) === key) break;
    top += heightOf(entry);
  }
  const scroller = pane.scrollHeight > pane.clientHeight + 1 ? pane : document.scrollingElement;
  if (!scroller) return;
  const offset =
    list.getBoundingClientRect().top - (scroller === pane ? pane.getBoundingClientRect().top : 0) + scroller.scrollTop;
  const position = offset + top;
  const view = scroller === pane ? pane.clientHeight : innerHeight;
  if (position < scroller.scrollTop + 80) scroller.scrollTop = Math.max(0, position - 100);
  else if (position + HEIGHTS.turn > scroller.scrollTop + view - 40)
    scroller.scrollTop = position + HEIGHTS.turn + 60 - view;
}
