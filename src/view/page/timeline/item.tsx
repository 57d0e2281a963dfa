/** One item of the list, with the lines of history beside it. */
import { useMemo } from "preact/hooks";
import type { TimelineItem } from "../../protocol.ts";
import { HEIGHTS, heightOfItem } from "./entries.ts";
import type { RailRow } from "./rail.ts";
import { OperationLine, Rail, SavedLine, SubagentLine, TurnLine } from "./rows.tsx";
import { commitOf, linesOf } from "./use-timeline.ts";

interface Props {
  item: TimelineItem;
  index: number;
  /** -1 while there may be more. */
  total: number;
  row: RailRow | undefined;
  lanes: number;
  selected: boolean;
}

/** Drawn again only when something of it has changed: scrolling changes which items are there, not how they look. */
export function Item({ item, index, total, row, lanes, selected }: Props) {
  const lines = item.kind === "turn" ? linesOf(item) : undefined;
  const commit = item.kind === "turn" ? commitOf(item) : undefined;
  return useMemo(() => {
    const role =
      item.kind === "operation" ? {} : { role: "listitem" as const, "aria-posinset": index + 1, "aria-setsize": total };
    return (
      <div class="entry" style={{ height: `${heightOfItem(item)}px` }} {...role}>
        <Rail row={row} lanes={lanes} height={HEIGHTS[item.kind]} node={nodeOf(item)} />
        <Line item={item} selected={selected} />
        {item.kind === "turn" &&
          item.subagents.map((subagent) => (
            <div class="below" key={subagent.id} style={{ height: `${HEIGHTS.subagent}px` }}>
              <Rail row={row} lanes={lanes} height={HEIGHTS.subagent} node="" between />
              <SubagentLine subagent={subagent} />
            </div>
          ))}
      </div>
    );
  }, [item, index, total, row, lanes, selected, lines, commit]);
}

function Line({ item, selected }: Pick<Props, "item" | "selected">) {
  if (item.kind === "turn") return <TurnLine turn={item} selected={selected} />;
  if (item.kind === "saved") return <SavedLine saved={item} />;
  return <OperationLine operation={item} />;
}

function nodeOf(item: TimelineItem): string {
  return item.kind === "turn" ? `turn ${item.fate}${item.open ? " open" : ""}` : item.kind;
}
