/** The loaded part of the timeline: pages as one scrolls, brought up to date when something happens. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Branch, LineCounts, Timeline, TimelineItem, TimelineQuery, TurnRow } from "../../protocol.ts";
import { addressOf, query, RequestError } from "../data/client.ts";
import { onChange } from "../data/live.ts";

export interface LoadedTimeline {
  items: readonly TimelineItem[];
  branches: readonly Branch[];
  /** Older items can be loaded. */
  more: boolean;
  /** The first page has not come yet. */
  loading: boolean;
  error: RequestError | undefined;
  loadMore(): void;
  /** Loads everything, for the jump to the oldest turn. */
  loadAll(): Promise<void>;
  reload(): void;
}

/** The first page is for the first screen; it comes sooner when it is small. */
const FIRST_PAGE = "50";
const PAGE = "100";

interface Held {
  address: string;
  items: TimelineItem[];
  branches: Branch[];
  next: string | null;
  revision: string;
  error?: RequestError | undefined;
}

/** Kept over changes of screen, so that going back shows the list at once. */
let last: Held | undefined;
const counted = new Map<string, LineCounts>();
const committed = new Map<string, string>();

/** What the timeline asks for first. */
export function firstPage(filter: TimelineQuery): TimelineQuery {
  return { ...filter, limit: FIRST_PAGE };
}

export function useTimeline(filter: TimelineQuery): LoadedTimeline {
  const address = addressOf("timeline", filter);
  const [held, setHeld] = useState<Held | undefined>(() => (last?.address === address ? last : undefined));
  const current = useRef(held);
  const busy = useRef(false);
  const again = useRef(false);
  const moreWanted = useRef(false);
  const keep = (next: Held) => {
    current.current = next;
    last = next;
    setHeld(next);
  };

  /** Loads as many items as there were, from the newest on. */
  const refresh = useCallback(async () => {
    if (busy.current) {
      again.current = true;
      return;
    }
    busy.current = true;
    try {
      do {
        again.current = false;
        const before = current.current?.address === address ? current.current : undefined;
        keep(await loadFrom(address, filter, before));
      } while (again.current);
    } catch (error) {
      const known = error instanceof RequestError ? error : new RequestError("failed", String(error), null);
      const before = current.current?.address === address ? current.current : undefined;
      if (!before || known.kind !== "offline")
        keep({ address, items: [], branches: [], next: null, revision: "", error: known });
    } finally {
      busy.current = false;
      if (moreWanted.current) void loadMore();
    }
  }, [address]);

  const loadMore = useCallback(async () => {
    const now = current.current;
    moreWanted.current = busy.current;
    if (busy.current || !now || now.address !== address || now.next === null) return;
    busy.current = true;
    try {
      const page = await query("timeline", { ...filter, limit: PAGE, before: now.next });
      keep({ ...now, ...joined(now, page), next: page.next });
    } catch {
      // The list stays as it is; scrolling asks again.
    } finally {
      busy.current = false;
      moreWanted.current = false;
      if (again.current) void refresh();
    }
  }, [address]);

  useLayoutEffect(() => {
    void refresh();
    return onChange((topics) => {
      if (topics.some((topic) => topic === "timeline" || topic === "operations" || topic === "checks")) void refresh();
    });
  }, [refresh]);

  useEffect(() => {
    if (!held) return;
    const redraw = () => setHeld((now) => (now ? { ...now } : now));
    void countLines(held.items, redraw).then(() => findCommits(held.items, redraw));
  }, [held?.items]);

  const own = held?.address === address ? held : undefined;
  return {
    items: own?.items ?? [],
    branches: own?.branches ?? [],
    more: own?.next != null,
    loading: !own,
    error: own?.error,
    loadMore: () => void loadMore(),
    loadAll: async () => {
      while (current.current?.next != null) {
        const before = current.current.next;
        await loadMore();
        if (current.current?.next === before) return;
      }
    },
    reload: () => void refresh(),
  };
}

/** The lines that a turn added and deleted, once they are counted. */
export function linesOf({ id, lines }: TurnRow): LineCounts | undefined {
  return lines ?? counted.get(id);
}

async function loadFrom(address: string, filter: TimelineQuery, before: Held | undefined): Promise<Held> {
  const first = await query("timeline", firstPage(filter));
  if (before && first.revision === before.revision && first.revision !== "") return before;
  let held: Held = { address, ...first };
  const wanted = before?.items.length ?? 0;
  while (held.items.length < wanted && held.next !== null) {
    const page: Timeline = await query("timeline", { ...filter, limit: "200", before: held.next });
    held = { ...held, ...joined(held, page), next: page.next };
  }
  return held;
}

/** An item may come twice if the list grew between two pages. */
function joined(held: { items: TimelineItem[]; branches: Branch[] }, page: Timeline) {
  const seen = new Set(held.items.map(keyOf));
  const branches = new Map([...held.branches, ...page.branches].map((branch) => [branch.id, branch]));
  return {
    items: [...held.items, ...page.items.filter((item) => !seen.has(keyOf(item)))],
    branches: [...branches.values()],
  };
}

export function keyOf(item: TimelineItem): string {
  return item.kind === "turn" ? item.key : `${item.kind}:${item.id}`;
}

/** The commit that a turn's changes are in, once it is known. */
export function commitOf({ id, commit }: TurnRow): string | undefined {
  return commit ?? committed.get(id);
}

/** Asks for the commits of turns that were in none before. */
async function findCommits(items: readonly TimelineItem[], done: () => void): Promise<void> {
  const missing = items.flatMap((item) =>
    item.kind === "turn" && !item.open && item.paths.length > 0 && commitOf(item) === undefined ? [item.id] : [],
  );
  for (let i = 0; i < missing.length; i += 100) {
    const answer = await query("turnCommits", { turns: missing.slice(i, i + 100).join(",") }).catch(() => undefined);
    const found = Object.entries(answer?.commits ?? {});
    for (const [id, commit] of found) committed.set(id, commit);
    if (found.length > 0) done();
  }
}

/** Asks for the line counts that the server had not counted yet. */
async function countLines(items: readonly TimelineItem[], done: () => void): Promise<void> {
  const missing = items.flatMap((item) =>
    item.kind === "turn" && !item.open && item.lines === null && !counted.has(item.id) ? [item.id] : [],
  );
  for (let i = 0; i < missing.length; i += 100) {
    const ids = missing.slice(i, i + 100);
    const answer = await query("lines", { turns: ids.join(",") }).catch(() => undefined);
    if (!answer) return;
    for (const id of ids) counted.set(id, answer.lines[id] ?? { added: 0, deleted: 0 });
    done();
  }
}
