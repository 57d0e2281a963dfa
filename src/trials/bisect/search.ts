/**
 * Finds where a list of states changes from passing to failing, with as few trials as possible. Pure: the caller runs
 * the trials. Works around states without a verdict (`skip`), which can widen the answer.
 */
import type { Verdict } from "../../steps/results/types.ts";

export type Look = (at: number) => Promise<Verdict>;

export type Search =
  /** `bad` fails, `good` passes, and no state in between has a verdict. */
  | { kind: "found"; good: number; bad: number }
  | { kind: "bad-passes" }
  | { kind: "good-fails" }
  /** No earlier state passes. */
  | { kind: "never-passed" }
  /** The first or last state itself has no verdict. */
  | { kind: "inconclusive"; at: number };

/** If `good` is null, searches backwards from `bad` in growing strides for a passing state. */
export async function search(bad: number, good: number | null, look: Look): Promise<Search> {
  const worst = await look(bad);
  if (worst === "skip") return { kind: "inconclusive", at: bad };
  if (worst === "pass") return { kind: "bad-passes" };
  if (good === null) return searchBack(bad, look);
  const best = await look(good);
  if (best === "skip") return { kind: "inconclusive", at: good };
  if (best === "fail") return { kind: "good-fails" };
  return narrow(good, bad, look);
}

async function searchBack(bad: number, look: Look): Promise<Search> {
  let failing = bad;
  for (let stride = 1, at = bad - 1; at >= 0; stride *= 2, at = at === 0 ? -1 : Math.max(0, at - stride)) {
    const verdict = await look(at);
    if (verdict === "pass") return narrow(at, failing, look);
    if (verdict === "fail") failing = at;
  }
  // The strides end at the oldest state. If that has no verdict, a state they skipped may still pass.
  if (failing === 0) return { kind: "never-passed" };
  for (let at = failing - 1; at >= 0; at--) {
    const verdict = await look(at);
    if (verdict === "pass") return narrow(at, failing, look);
    if (verdict === "fail") failing = at;
  }
  return { kind: "never-passed" };
}

async function narrow(good: number, bad: number, look: Look): Promise<Search> {
  for (;;) {
    const tested = await middle(good, bad, look);
    if (tested === null) return { kind: "found", good, bad };
    if (tested.verdict === "pass") good = tested.at;
    else bad = tested.at;
  }
}

/** The state nearest to the middle that has a verdict; null if there is none. */
async function middle(good: number, bad: number, look: Look): Promise<{ at: number; verdict: Verdict } | null> {
  const center = Math.floor((good + bad) / 2);
  for (let distance = 0; distance < bad - good; distance++) {
    for (const at of distance === 0 ? [center] : [center - distance, center + distance]) {
      if (at <= good || at >= bad) continue;
      const verdict = await look(at);
      if (verdict !== "skip") return { at, verdict };
    }
  }
  return null;
}
