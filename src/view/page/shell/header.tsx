/** The header: where one is, where one can go, search, redo, and the state of the connection. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../acting/action.ts";
import { Member } from "../colleagues/member.tsx";
import { exported } from "../data/exported.ts";
import { HUB_PLACES, isHub } from "../data/hub.ts";
import { connection } from "../data/live.ts";
import { go, type Route, replace, to } from "../data/router.ts";
import { useStore } from "../data/store.ts";
import { line } from "../text/visible.ts";
import { useApp } from "./context.ts";
import { showHelp } from "./help.tsx";
import { useKeys } from "./keys.ts";
import { ThemeButton } from "./theme.tsx";

const PLACES = [
  ["", "Timeline", ["", "turn", "subagent"]],
  ["time", "Files in time", ["time", "blame"]],
  ["sessions", "Sessions", ["sessions", "session"]],
  ["commits", "Commits", ["commits", "commit"]],
  ["forks", "Forks", ["forks", "fork"]],
  ["runs", "Runs", ["runs", "run"]],
  ["repositories", "Repositories", ["repositories"]],
] as const;

interface Place {
  screen: string;
  parts?: readonly string[];
  label: string;
  /** Screens that belong to it. */
  inside: readonly string[];
}

function placesOf(): readonly Place[] {
  if (!exported) return (isHub ? HUB_PLACES : PLACES).map(([screen, label, inside]) => ({ screen, label, inside }));
  const { sessions, turns } = exported;
  const first = sessions[0]?.details.session.id ?? "";
  const many = sessions.length > 1;
  const conversation = many
    ? { screen: "sessions", label: "Sessions", inside: ["sessions", "session"] }
    : { screen: "session", parts: [first], label: "Conversation", inside: ["session"] };
  return turns.length === 0
    ? [conversation]
    : [conversation, { screen: "", label: "Turns", inside: ["", "turn", "subagent"] }];
}

export function Header({ place }: { place: Route }) {
  const { repository, readOnly, exportedAt, team } = useApp();
  const places = useRef<HTMLElement>(null);
  // In a narrow window, the places scroll sideways.
  useEffect(() => {
    const current = places.current?.querySelector<HTMLElement>("[aria-current]");
    if (places.current && current)
      places.current.scrollLeft = current.offsetLeft - (places.current.clientWidth - current.offsetWidth) / 2;
  }, [place.screen]);
  return (
    <header class="top">
      <h1>
        <a class="brand" href={to("")}>
          <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
            <path d="M4 10a6 6 0 1 0 2.2-4.6" />
            <path d="M6.6 1.8 6 5.6l3.8.6" />
          </svg>
          <span class="repository">
            <b>{line(repository.name, 40)}</b>
            {repository.branch !== null && <span class="muted mono">{line(repository.branch, 40)}</span>}
          </span>
        </a>
      </h1>
      <nav aria-label="Screens" ref={places}>
        {placesOf().map(({ screen, parts, label, inside }) => (
          <a key={screen} href={to(screen, parts)} aria-current={inside.includes(place.screen) ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {exportedAt === null ? <SearchBox place={place} /> : <span class="grow" />}
      <div class="tools-right">
        {!readOnly && (
          <button type="button" title="Save the current state" onClick={() => ask({ action: "save", name: null })}>
            Save
          </button>
        )}
        {!readOnly && <RedoButton />}
        {readOnly && exportedAt === null && !team && <span class="tag">read-only</span>}
        {team && <Member team={team} />}
        {exportedAt === null ? <Live /> : <span class="tag">exported {exportedAt.slice(0, 10)}</span>}
        <ThemeButton />
        <button
          type="button"
          class="quiet icon"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={showHelp}
        >
          ?
        </button>
      </div>
    </header>
  );
}

function SearchBox({ place }: { place: Route }) {
  const { available } = useApp();
  const box = useRef<HTMLInputElement>(null);
  const isSearch = place.screen === "search";
  const asked = isSearch ? (place.query["q"] ?? "") : "";
  const [text, setText] = useState(asked);
  // Also when a link or the browser's history leads to other words than those that were typed.
  useEffect(() => setText((typed) => (typed.trim() === asked ? typed : asked)), [isSearch, asked]);
  useKeys({
    "/": () => {
      box.current?.focus();
      box.current?.select();
    },
  });
  // Without an index, the words filter the timeline.
  const address = (words: string) => (available.search ? to("search", [], { q: words }) : to("", [], { text: words }));
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(address(text.trim()));
      }}
    >
      <input
        ref={box}
        type="search"
        aria-label="Search"
        placeholder="Search  /"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          if (isSearch) replace(address(event.currentTarget.value.trim()));
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") box.current?.blur();
        }}
      />
    </form>
  );
}

function RedoButton() {
  const { redo } = useApp();
  return (
    <button
      type="button"
      disabled={!redo}
      title={redo ? "Take the last rewind or undo back" : "Nothing to redo"}
      onClick={() => ask({ action: "redo" })}
    >
      Redo
    </button>
  );
}

function Live() {
  const status = useStore(connection);
  const words = { live: "Live", connecting: "Connecting", lost: "Not connected", ended: "Ended" } as const;
  return (
    <span class={`live ${status}`} title={words[status]}>
      <span class="dot" aria-hidden="true" />
      <span class="hidden">{words[status]}</span>
    </span>
  );
}
