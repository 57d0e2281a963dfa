/** One line of code in syntax colors, with parts of it marked as changed. */
import type { VNode } from "preact";
import { type familyOf, highlight, type Token } from "../text/highlight.ts";
import type { Range } from "../text/rows.ts";

interface Props {
  text: string;
  family: ReturnType<typeof familyOf>;
  /** The changed characters, in order. */
  parts?: readonly Range[] | undefined;
}

export function Code({ text, family, parts = [] }: Props) {
  const tokens = highlight(text, family);
  if (parts.length === 0) return <>{tokens.map(tokenView)}</>;
  return (
    <>
      {cutAt(tokens, parts).map(({ tokens: inside, isMarked }, i) =>
        isMarked ? <mark key={i}>{inside.map(tokenView)}</mark> : inside.map(tokenView),
      )}
    </>
  );
}

/** The tokens as runs that are wholly inside a range or wholly outside of all. */
function cutAt(tokens: readonly Token[], ranges: readonly Range[]): { tokens: Token[]; isMarked: boolean }[] {
  const runs: { tokens: Token[]; isMarked: boolean }[] = [];
  let at = 0;
  let next = 0;
  for (const [kind, content] of tokens) {
    for (let from = 0; from < content.length; ) {
      while ((ranges[next]?.end ?? Number.POSITIVE_INFINITY) <= at + from) next++;
      const { start, end } = ranges[next] ?? { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY };
      const isMarked = start <= at + from;
      const to = Math.min(content.length, (isMarked ? end : start) - at);
      const last = runs.at(-1);
      const piece: Token = [kind, content.slice(from, to)];
      if (last?.isMarked === isMarked) last.tokens.push(piece);
      else runs.push({ tokens: [piece], isMarked });
      from = to;
    }
    at += content.length;
  }
  return runs;
}

function tokenView([kind, text]: Token, i: number): VNode | string {
  return kind === "plain" ? (
    text
  ) : (
    <span key={i} class={`t-${kind}`}>
      {text}
    </span>
  );
}
