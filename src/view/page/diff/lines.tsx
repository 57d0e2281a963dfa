/** The lines of one file's diff, unified or side by side. Only visible lines are elements. */

import { useCallback, useMemo } from "preact/hooks";
import type { Hunk } from "../../protocol.ts";
import { Code } from "../parts/code.tsx";
import { evenLayout, Virtual } from "../parts/virtual.tsx";
import { grouped } from "../text/format.ts";
import { familyOf } from "../text/highlight.ts";
import { changedParts, type Pair, pairRows, type Range, type Row, rowsOf } from "../text/rows.ts";
import { fileLine, visible } from "../text/visible.ts";
import { SidewaysBar, useSideways } from "./sideways.tsx";

const LINE_HEIGHT = 20;

interface Props {
  hunks: readonly Hunk[];
  path: string;
  split: boolean;
  more: boolean;
  loadMore(): void;
}

export function Lines({ hunks, path, split, more, loadMore }: Props) {
  const { rows, pairs, parts, width } = useMemo(() => {
    const all = rowsOf(hunks);
    const paired = pairRows(all);
    const longest = all.reduce((most, { text }) => Math.max(most, Math.min(columnsOf(text), 2_000)), 0);
    return { rows: all, pairs: paired, parts: changedParts(paired), width: longest };
  }, [hunks]);
  const sideways = useSideways();
  const family = familyOf(path);
  const count = (split ? pairs.length : rows.length) + (more ? 1 : 0);
  const layout = useMemo(() => evenLayout(count, LINE_HEIGHT), [count]);
  const onEnd = useCallback(() => {
    if (more) loadMore();
  }, [more, loadMore]);

  const draw = (first: number, last: number) => {
    const drawn = [];
    for (let i = first; i < last; i++) {
      const pair = pairs[i];
      const row = rows[i];
      if (split && pair) drawn.push(<PairView key={i} pair={pair} family={family} parts={parts} />);
      else if (!split && row) drawn.push(<RowView key={i} row={row} family={family} parts={parts.get(row)} />);
      else
        drawn.push(
          <div key="more" class="line note">
            Loading more lines …
          </div>,
        );
    }
    return drawn;
  };
  return (
    <div
      class={split ? "lines split" : "lines"}
      role="group"
      aria-label={`Lines of ${visible(path)}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll sideways, by keyboard too
      tabIndex={0}
      {...(split ? sideways.handlers : {})}
    >
      <div class="lines-inner" style={split ? {} : { minWidth: `calc(${width}ch + 8rem)` }}>
        <Virtual layout={layout} onEnd={onEnd}>
          {draw}
        </Virtual>
      </div>
      {split && <SidewaysBar width={width} sideways={sideways} />}
    </div>
  );
}

/** A tab is as wide as four characters. */
function columnsOf(text: string): number {
  return text.length + 3 * (text.split("\t").length - 1);
}

type Family = ReturnType<typeof familyOf>;
type Parts = readonly Range[] | undefined;

const SIGN = { context: " ", add: "+", delete: "−", hunk: "", note: "" } as const;

function RowView({ row, family, parts }: { row: Row; family: Family; parts: Parts }) {
  if (row.kind === "hunk" || row.kind === "note") return <Between row={row} />;
  return (
    <div class={`line ${row.kind}`}>
      <span class="no">{row.old || ""}</span>
      <span class="no">{row.new || ""}</span>
      <Text row={row} family={family} parts={parts} />
    </div>
  );
}

function PairView({ pair, family, parts }: { pair: Pair; family: Family; parts: Map<Row, readonly Range[]> }) {
  const { left, right } = pair;
  if (left && (left.kind === "hunk" || left.kind === "note")) return <Between row={left} />;
  return (
    <div class="line pair">
      <Side row={left} number={left?.old} family={family} parts={left ? parts.get(left) : undefined} />
      <Side row={right} number={right?.new} family={family} parts={right ? parts.get(right) : undefined} />
    </div>
  );
}

function Side(props: { row: Row | null; number: number | undefined; family: Family; parts: Parts }) {
  const { row, number, family, parts } = props;
  if (!row) return <div class="side none" />;
  return (
    <div class={`side ${row.kind}`}>
      <span class="no">{number || ""}</span>
      <Text row={row} family={family} parts={parts} />
    </div>
  );
}

function Text({ row, family, parts }: { row: Row; family: Family; parts: Parts }) {
  const { text, cut } = fileLine(row.text);
  // Characters made visible move the changed parts: they are then not marked.
  const exact = text === row.text ? parts : undefined;
  return (
    <>
      <span class="mark">{SIGN[row.kind]}</span>
      <code>
        <span class="shifted">
          <Code text={text} family={family} parts={exact} />
          {cut > 0 && <span class="cut">… {grouped(cut)} more characters</span>}
        </span>
      </code>
    </>
  );
}

function Between({ row }: { row: Row }) {
  const place = row.kind === "hunk" ? `Line ${row.new || row.old}` : "";
  return (
    <div class={`line ${row.kind}`}>
      {place}
      {row.text !== "" && <span class="section">{visible(row.text).slice(0, 200)}</span>}
    </div>
  );
}
