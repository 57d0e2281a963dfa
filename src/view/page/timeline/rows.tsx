/** Single rows of the timeline. */
import type { OperationItem, SavedRow, SubagentRow, TurnRow } from "../../protocol.ts";
import { NO_PROMPT } from "../data/hub.ts";
import { to } from "../data/router.ts";
import { LineSum } from "../diff/line-sum.tsx";
import { Age, Agent, CheckTag, CostSum, FateTag, Files, TokenSum } from "../parts/badges.tsx";
import { plural } from "../text/format.ts";
import { line } from "../text/visible.ts";
import type { RailRow, Segment } from "./rail.ts";
import { commitOf, linesOf } from "./use-timeline.ts";

export const LANE = 14;

interface TurnProps {
  turn: TurnRow;
  selected: boolean;
}

export function TurnLine({ turn, selected }: TurnProps) {
  const title = turn.prompt === null ? NO_PROMPT : line(turn.prompt, 300);
  const lines = linesOf(turn);
  const commit = commitOf(turn);
  return (
    <a
      class={`turn ${turn.fate}`}
      href={to("turn", [turn.id])}
      data-turn={turn.id}
      data-key={turn.key}
      aria-current={selected ? "true" : undefined}
    >
      <span class="first">
        <span class="prompt">{title}</span>
        {turn.open && <span class="tag running">running</span>}
        {turn.interrupted && <span class="tag warn">interrupted</span>}
        <FateTag fate={turn.fate} />
        <CheckTag check={turn.check} broke={turn.broke} />
        {lines && <LineSum {...lines} />}
      </span>
      <span class="second">
        {turn.person !== undefined && <b>{line(turn.person ?? "somebody", 40)}</b>}
        <Agent id={turn.agent} />
        <Age time={turn.endedAt ?? turn.startedAt} />
        {commit !== undefined && (
          <span class="mono commit" title="The commit that these changes are in">
            {commit.slice(0, 7)}
          </span>
        )}
        {turn.forks.map(({ id, name }) => (
          <span key={id} class="tag fork">
            fork {line(name, 30)}
          </span>
        ))}
        {turn.changedBefore && <span title="Files were changed by hand before this turn">own edits before</span>}
        <Paths turn={turn} />
        <CostSum cost={turn.cost} />
        <TokenSum tokens={turn.tokens} />
      </span>
    </a>
  );
}

/** Names that are listed one by one; of more files, only the number. */
const NAMED_FILES = 3;

function Paths({ turn: { files, paths } }: { turn: TurnRow }) {
  const total = files.added + files.modified + files.deleted;
  if (total > NAMED_FILES || paths.length < total)
    return (
      <span class="paths">
        <Files files={files} />
      </span>
    );
  return <span class="paths mono">{paths.map(fileName).join(", ")}</span>;
}

/** The last part: the list has no room for directories. */
function fileName(path: string): string {
  return line(path.slice(path.lastIndexOf("/") + 1), 60);
}

export function SubagentLine({ subagent }: { subagent: SubagentRow }) {
  return (
    <a class="subagent" href={to("subagent", [subagent.id])} data-turn={subagent.id}>
      <span aria-hidden="true">↳</span>
      <span class="tag">{line(subagent.type ?? "subagent", 30)}</span>
      <span class="prompt">{line(subagent.description ?? "", 200)}</span>
      {!subagent.ended && <span class="tag running">running</span>}
      <FateTag fate={subagent.fate} />
      <span class="muted">
        <Files files={subagent.files} />
      </span>
    </a>
  );
}

export function SavedLine({ saved }: { saved: SavedRow }) {
  return (
    <a class="saved" href={to("time", [], { step: saved.id })}>
      <span class="prompt">{saved.name === null ? "Saved by hand" : `Saved: ${line(saved.name, 200)}`}</span>
      <span class="muted">
        <Age time={saved.time} />
      </span>
    </a>
  );
}

const WORDS = {
  rewind: "Rewound",
  undo: "Undid",
  redo: "Redid",
  take: "Taken from a fork",
} as const;

export function OperationLine({ operation }: { operation: OperationItem }) {
  const { reversedBy, turns, prompt } = operation;
  return (
    <div class={reversedBy === null ? "operation" : "operation reversed"}>
      <span class="prompt">
        {WORDS[operation.operation]}
        {prompt !== null ? `: ${line(prompt, 200)}` : turns.length > 0 && ` ${plural(turns.length, "turn")}`}
        {prompt !== null && turns.length > 1 && ` and ${plural(turns.length - 1, "more turn")}`}
      </span>
      {reversedBy !== null && <span class="tag">taken back</span>}
      <span class="muted">
        <Age time={operation.time} />
      </span>
    </div>
  );
}

interface RailProps {
  row: RailRow | undefined;
  lanes: number;
  height: number;
  /** The sign at the row's own point: a kind of item, and what became of it. */
  node: string;
  /** A row between items: it only carries on the lines that leave the item above. */
  between?: boolean;
}

/** The lines of history beside one row. */
export function Rail({ row, lanes, height, node, between = false }: RailProps) {
  const x = (lane: number) => lane * LANE + LANE / 2;
  const isTurn = node.startsWith("turn");
  const middle = isTurn ? 20 : height / 2;
  const width = lanes * LANE;
  const path = ({ lane, top, bottom, joins }: Segment): string => {
    if (between) return bottom ? `M${x(lane)} 0V${height}` : "";
    if (joins === undefined) return `M${x(lane)} ${top ? 0 : middle}V${bottom ? height : middle}`;
    return `M${x(lane)} 0C${x(lane)} ${middle} ${x(lane)} ${middle} ${x(joins) + 6} ${middle}`;
  };
  return (
    <svg class="rail" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {row?.segments.map((segment) => (
        <path key={segment.lane} class={segment.kind} d={path(segment)} />
      ))}
      {row && !between && <circle class={`node ${node}`} cx={x(row.lane)} cy={middle} r={isTurn ? 4.5 : 3} />}
    </svg>
  );
}
