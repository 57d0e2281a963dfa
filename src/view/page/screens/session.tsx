/** One session: the whole conversation, and its prompts to jump to. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConversationEntry, SessionDetails, SessionTurn } from "../../protocol.ts";
import { ask } from "../acting/action.ts";
import { query } from "../data/client.ts";
import { isHub, NO_PROMPT } from "../data/hub.ts";
import { type Route, replace, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age, Agent, CostSum, FateTag, TokenSum } from "../parts/badges.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { useApp } from "../shell/context.ts";
import { count, plural } from "../text/format.ts";
import { firstLine, line, visible } from "../text/visible.ts";
import { Entries } from "./session/entries.tsx";

const PAGE = 200;

export function SessionScreen({ place }: { place: Route }) {
  const [id = ""] = place.parts;
  const { data, error, loading, reload } = useQuery("session", { id }, ["sessions", "timeline"]);
  if (loading) return <Skeleton lines={12} label="Loading the session" />;
  if (error) return <Problem error={error} retry={reload} />;
  return data ? <Session data={data} turn={Number(place.query["turn"] ?? "0")} /> : null;
}

function Session({ data, turn }: { data: SessionDetails; turn: number }) {
  const { session } = data;
  const wanted = data.turns.find(({ number }) => number === turn);
  const { entries, next, loadMore, problem } = useConversation(data, wanted?.entry ?? 0);
  const { readOnly, exportedAt } = useApp();
  const hasServer = exportedAt === null && !isHub;
  const images = useQuery("sessionImages", hasServer ? { session: session.id } : null, ["timeline"]);
  const withImages = useMemo(() => new Set(images.data?.entries), [images.data]);
  useEffect(() => {
    if (wanted && entries.length > 0) document.getElementById(`prompt-${wanted.number}`)?.scrollIntoView();
  }, [wanted?.number, entries.length > 0]);
  return (
    <div class="session">
      <nav class="pane prompts" aria-label="Prompts">
        <p class="nav-title">{plural(data.turns.length, "prompt")}</p>
        <ol>
          {data.turns.map((one) => (
            <PromptLink
              key={one.number}
              session={session.id}
              turn={one}
              selected={one.number === turn}
              most={mostContext(data)}
            />
          ))}
        </ol>
      </nav>
      <article class="pane conversation" aria-label="Conversation">
        <header>
          <h2>{firstLine(data.title ?? session.prompt, 160)}</h2>
          <p class="facts">
            <Agent id={session.agent} />
            {session.model !== null && <span>{line(session.model, 40)}</span>}
            <Age time={session.updatedAt} />
            <span class="tag">{session.status}</span>
            <TokenSum tokens={session.tokens} />
            <CostSum cost={session.cost} />
            {session.recorded && <a href={to("", [], { session: session.id })}>its turns</a>}
            {session.log && <a href={to("run", [session.id])}>its log</a>}
            <span class="grow" />
            {!readOnly && (
              <button type="button" onClick={() => ask({ action: "resume", session: session.id })}>
                Resume
              </button>
            )}
          </p>
        </header>
        {data.problem !== null && <p class="notice">{visible(data.problem)}</p>}
        {problem && <Problem error={problem} />}
        <Entries entries={entries} session={session.id} turns={data.turns} withImages={withImages} />
        {next !== null && (
          <button type="button" class="wide" onClick={loadMore}>
            Show more of {plural(data.entries ?? 0, "entry", "entries")}
          </button>
        )}
      </article>
    </div>
  );
}

interface LinkProps {
  session: string;
  turn: SessionTurn;
  selected: boolean;
  most: number;
}

function PromptLink({ session, turn, selected, most }: LinkProps) {
  const { number, prompt, fate, context } = turn;
  return (
    <li>
      <a
        href={to("session", [session], { turn: String(number) })}
        aria-current={selected ? "true" : undefined}
        onClick={(event) => {
          event.preventDefault();
          replace(to("session", [session], { turn: String(number) }));
          document.getElementById(`prompt-${number}`)?.scrollIntoView();
        }}
      >
        <span class="number muted">{number}</span>
        <span class="prompt">{prompt === null ? NO_PROMPT : line(prompt, 200)}</span>
        {fate !== null && <FateTag fate={fate} />}
      </a>
      {context !== null && most > 0 && (
        <span class="context-bar" title={`${count(context)} tokens in the context`}>
          <span style={{ width: `${Math.round((context / most) * 100)}%` }} />
        </span>
      )}
    </li>
  );
}

function mostContext({ turns }: SessionDetails): number {
  return Math.max(0, ...turns.map(({ context }) => context ?? 0));
}

/** The conversation from its start, or from a page before the wanted entry, as far as it is loaded. */
function useConversation({ session, entries: total, turns }: SessionDetails, wanted: number) {
  const start = Math.max(0, wanted - 20);
  const [state, setState] = useState<{ entries: ConversationEntry[]; next: number | null }>({
    entries: [],
    next: null,
  });
  const { data, error } = useQuery(
    "conversation",
    total === null ? null : { session: session.id, from: String(start < PAGE ? 0 : start), limit: String(PAGE) },
    ["timeline", "sessions"],
  );
  const seen = useRef(data);
  useEffect(() => {
    if (!data || seen.current === data) return;
    seen.current = data;
    setState({ entries: data.entries, next: data.next });
  }, [data, turns]);
  const shown = state.entries.length > 0 ? state : { entries: data?.entries ?? [], next: data?.next ?? null };
  const loadMore = () => {
    if (shown.next === null) return;
    query("conversation", { session: session.id, from: String(shown.next), limit: String(PAGE) })
      .then((page) => setState({ entries: [...shown.entries, ...page.entries], next: page.next }))
      .catch(() => {});
  };
  return { ...shown, loadMore, problem: error };
}
