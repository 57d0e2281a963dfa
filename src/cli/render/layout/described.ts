/** Lays out names, such as options or commands to type, each with its meaning. */
import { pad, widthOf, wrap } from "./text.ts";

const GAP = 2;
/** Where a column has less room than this for the meanings, each stands below its name. */
const MIN_MEANING = 24;

interface Look {
  indent?: number;
  /** The width of the names; by default, that of the widest one. */
  width?: number;
  paint?: (meaning: string) => string;
}

/** Names are never cut; meanings are wrapped. */
export function described(
  pairs: readonly (readonly [name: string, meaning: string])[],
  columns: number,
  { indent = 0, width = nameWidth(pairs), paint = (text) => text }: Look = {},
): string[] {
  const start = " ".repeat(indent);
  const room = columns - indent - width;
  const isBeside = room >= Math.min(MIN_MEANING, Math.max(...pairs.map(([, meaning]) => widthOf(meaning))));
  return pairs.flatMap(([name, meaning]) => {
    if (!isBeside) {
      const below = `${start}    `;
      return [start + name, ...wrap(meaning, Math.max(1, columns - below.length)).map((line) => below + paint(line))];
    }
    const [first = "", ...rest] = wrap(meaning, room);
    const left = start + " ".repeat(width);
    return [start + pad(name, width) + paint(first), ...rest.map((line) => left + paint(line))];
  });
}

/** The width of the names with the gap after them, so that several lists can be aligned. */
export function nameWidth(pairs: readonly (readonly [name: string, meaning: string])[]): number {
  return Math.max(0, ...pairs.map(([name]) => widthOf(name))) + GAP;
}
