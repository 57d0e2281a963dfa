/** One line of code in syntax colors, with a part of it marked as changed. */
import type { VNode } from "preact";
import { type familyOf, highlight, type Token } from "../text/highlight.ts";

interface Props {
  text: string;
  family: ReturnType<typeof familyOf>;
  /** The changed characters. */
  part?: { start: number; end: number } | undefined;
}

export function Code({ text, family, part }: Props) {
  const tokens = highlight(text, family);
  if (!part || part.start >= part.end) return <>{tokens.map(tokenView)}</>;
  const before: Token[] = [];
  const inside: Token[] = [];
  const after: Token[] = [];
  let at = 0;
  for (const [kind, content] of tokens) {
    const cuts = [0, clamp(part.start - at, content.length), clamp(part.end - at, content.length), content.length];
    for (const [i, list] of [before, inside, after].entries()) {
      const piece = content.slice(cuts[i], cuts[i + 1]);
      if (piece !== "") list.push([kind, piece]);
    }
    at += content.length;
  }
  return (
    <>
      {before.map(tokenView)}
      <mark>{inside.map(tokenView)}</mark>
      {after.map(tokenView)}
    </>
  );
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

function clamp(value: number, high: number): number {
  return Math.max(0, Math.min(high, value));
}
