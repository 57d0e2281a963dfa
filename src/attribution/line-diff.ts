/**
 * Finds which lines of one text survive in another. Lines that are unique in both texts serve as anchors (patience
 * diff); the stretches between them are compared by shortest edit, up to a limit.
 */

/** A range that needs more edits counts as rewritten. */
const MAX_EDITS = 1_000;

/** For each line of `after`, returns its line in `before` (from 0), or -1. The line numbers only increase. */
export function keptLines(before: readonly string[], after: readonly string[]): Int32Array {
  const ids = new Map<string, number>();
  const numbered = (lines: readonly string[]) =>
    Int32Array.from(lines, (line) => {
      const known = ids.get(line);
      if (known !== undefined) return known;
      ids.set(line, ids.size);
      return ids.size - 1;
    });
  const kept = new Int32Array(after.length).fill(-1);
  match({ a: numbered(before), b: numbered(after), kept }, 0, before.length, 0, after.length);
  return kept;
}

/** Splits a text into lines without line endings; an empty text has none. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** The lines of both sides as numbers, and for each line of `b` the line of `a` that it was, as far as that is known. */
interface Sides {
  a: Int32Array;
  b: Int32Array;
  kept: Int32Array;
}

function match(sides: Sides, fromA: number, toA: number, fromB: number, toB: number): void {
  const { a, b, kept } = sides;
  let [startA, endA, startB, endB] = [fromA, toA, fromB, toB];
  while (startA < endA && startB < endB && a[startA] === b[startB]) kept[startB++] = startA++;
  while (startA < endA && startB < endB && a[endA - 1] === b[endB - 1]) kept[--endB] = --endA;
  if (startA === endA || startB === endB) return;
  const anchors = risingAnchors(sides, startA, endA, startB, endB);
  if (anchors.length === 0) {
    shortestEdit(sides, startA, endA, startB, endB);
    return;
  }
  let [previousA, previousB] = [startA, startB];
  for (const [lineA, lineB] of anchors) {
    match(sides, previousA, lineA, previousB, lineB);
    kept[lineB] = lineA;
    [previousA, previousB] = [lineA + 1, lineB + 1];
  }
  match(sides, previousA, endA, previousB, endB);
}

/** Returns the longest increasing sequence of lines that are unique on both sides. */
function risingAnchors({ a, b }: Sides, fromA: number, toA: number, fromB: number, toB: number): [number, number][] {
  const inA = onlyPlaces(a, fromA, toA);
  const inB = onlyPlaces(b, fromB, toB);
  const pairs: [number, number][] = [];
  for (let i = fromA; i < toA; i++) {
    const line = a[i] ?? -1;
    const j = inA.get(line) === i ? inB.get(line) : undefined;
    if (j !== undefined && j >= 0) pairs.push([i, j]);
  }
  return longestRise(pairs);
}

/** Maps each line to its index, or to -1 if it occurs more than once. */
function onlyPlaces(lines: Int32Array, from: number, to: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let i = from; i < to; i++) {
    const line = lines[i] ?? -1;
    places.set(line, places.has(line) ? -1 : i);
  }
  return places;
}

function longestRise(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, j], index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[1] ?? 0) < j) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = tails[low - 1] ?? -1;
    tails[low] = index;
  });
  const row: [number, number][] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair) row.push(pair);
  }
  return row.reverse();
}

/** Myers' greedy algorithm. Beyond the limit, no line of the stretch is kept. */
function shortestEdit({ a, b, kept }: Sides, fromA: number, toA: number, fromB: number, toB: number): void {
  const [sizeA, sizeB] = [toA - fromA, toB - fromB];
  const most = Math.min(sizeA + sizeB, MAX_EDITS);
  const reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const history: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    history.push(reach.slice(middle - edits - 1, middle + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (reach[middle + k - 1] ?? 0) < (reach[middle + k + 1] ?? 0));
      let x = down ? (reach[middle + k + 1] ?? 0) : (reach[middle + k - 1] ?? 0) + 1;
      while (x < sizeA && x - k < sizeB && a[fromA + x] === b[fromB + x - k]) x++;
      reach[middle + k] = x;
      if (x >= sizeA && x - k >= sizeB) {
        walkBack(history, edits, sizeA, sizeB, fromA, fromB, kept);
        return;
      }
    }
  }
}

function walkBack(
  history: readonly Int32Array[],
  edits: number,
  sizeA: number,
  sizeB: number,
  fromA: number,
  fromB: number,
  kept: Int32Array,
): void {
  let [x, y] = [sizeA, sizeB];
  for (let d = edits; d >= 0; d--) {
    // The furthest x reached before this round, for the diagonals from -d-1 to d+1.
    const before = history[d] ?? new Int32Array();
    const at = (k: number) => before[k + d + 1] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const previousX = d === 0 ? 0 : at(down ? k + 1 : k - 1);
    const previousY = d === 0 ? 0 : previousX - (down ? k + 1 : k - 1);
    while (x > previousX && y > previousY && x > 0 && y > 0) {
      x--;
      y--;
      kept[fromB + y] = fromA + x;
    }
    [x, y] = [previousX, previousY];
  }
}
