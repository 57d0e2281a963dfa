/** The filters of the timeline: words, agent, and what became of a turn. They are part of the address. */
import type { TimelineQuery } from "../../protocol.ts";
import { type Route, replace, to } from "../data/router.ts";
import { useApp } from "../shell/context.ts";

const FILTERS = ["text", "agent", "fate", "check", "path", "session"] as const;

const CHECKS = [
  ["broke", "Broke the check"],
  ["fail", "Check failed"],
  ["pass", "Check passed"],
] as const;

/** The filter in an address. */
export function filterOf({ query }: Route): TimelineQuery {
  return Object.fromEntries(FILTERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

export function Filters({ filter }: { filter: TimelineQuery }) {
  const { agents, team } = useApp();
  const set = (name: (typeof FILTERS)[number], value: string) => replace(to("", [], { ...filter, [name]: value }));
  return (
    <form class="filters" aria-label="Filter turns" onSubmit={(event) => event.preventDefault()}>
      {!team && (
        <input
          type="text"
          aria-label="Words in prompts, answers and paths"
          placeholder="Filter"
          value={filter.text ?? ""}
          onInput={(event) => set("text", event.currentTarget.value)}
        />
      )}
      {Object.keys(agents).length > 1 && (
        <select
          aria-label="Agent"
          value={filter.agent ?? ""}
          onChange={(event) => set("agent", event.currentTarget.value)}
        >
          <option value="">All agents</option>
          {Object.entries(agents).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="State"
        value={filter.check ?? filter.fate ?? ""}
        onChange={({ currentTarget: { value } }) => {
          const isCheck = CHECKS.some(([check]) => check === value);
          replace(to("", [], { ...filter, fate: isCheck ? "" : value, check: isCheck ? value : "" }));
        }}
      >
        <option value="">All states</option>
        <option value="kept">Kept</option>
        <option value="undone">Undone</option>
        <option value="rewound">Rewound</option>
        {!team && CHECKS.map(([check, name]) => <option value={check}>{name}</option>)}
      </select>
      {(filter.path ?? filter.session) !== undefined && (
        <a class="tag" href={to("")}>
          {filter.path !== undefined ? `only ${filter.path}` : "one session"} ✕
        </a>
      )}
    </form>
  );
}
