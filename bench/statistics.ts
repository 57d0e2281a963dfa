/** Medians with spread, over pairs of measurements that were taken together. */

export interface Spread {
  median: number;
  p10: number;
  p90: number;
}

/** The times of two programs, pair by pair, in milliseconds. */
export interface Comparison {
  base: number[];
  ours: number[];
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), p10: quantile(sorted, 0.1), p90: quantile(sorted, 0.9) };
}

/** Computes ratios pair by pair: a slow machine slows both halves of a pair. */
export function ratioOf({ base, ours }: Comparison): Spread {
  return spreadOf(ours.map((value, i) => value / (base[i] ?? Number.NaN)));
}

export function differenceOf({ base, ours }: Comparison): Spread {
  return spreadOf(ours.map((value, i) => value - (base[i] ?? Number.NaN)));
}

/** Between the two nearest samples; `sorted` from low to high. */
function quantile(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error("There is nothing to take a median of.");
  return below + (above - below) * (position - Math.floor(position));
}
