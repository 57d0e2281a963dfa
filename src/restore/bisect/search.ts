/**
 * Finding where a row of states goes from passing to failing, with as few looks as possible. Pure: looking is the
 * caller's. States that can't be told (`skip`) are walked around, and leave a wider answer where they must.
 */
import type { Verdict } from "../trial/model.ts";

export type Look = (at: number) => Promise<Verdict>;

export type Search =
  /** The state at `bad` fails, the one at `good` passes, and nothing in between can be told. */
  | { kind: "found"; good: number; bad: number }
  | { kind: "bad-passes" }
  | { kind: "good-fails" }
  /** No earlier state passes. */
  | { kind: "never-passed" }
  /** The first or last state itself can't be told. */
  | { kind: "untold"; at: number };

/** `good` null: the nearest state that passes is looked for, backwards from `bad` in growing strides. */
export async function search(bad: number, good: number | null, look: Look): Promise<Search> {
  const worst = await look(bad);
  if (worst === "skip") return { kind: "untold", at: bad };
  if (worst === "pass") return { kind: "bad-passes" };
  if (good === null) return searchBack(bad, look);
  const best = await look(good);
  if (best === "skip") return { kind: "untold", at: good };
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
  // The strides end at the oldest state; where that can't be told, one that they passed over may still have passed.
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
    const told = await middle(good, bad, look);
    if (told === null) return { kind: "found", good, bad };
    if (told.verdict === "pass") good = told.at;
    else bad = told.at;
  }
}

/** The state nearest to the middle that can be told; null where there is none between the two. */
async function middle(good: number, bad: number, look: Look): Promise<{ at: number; verdict: Verdict } | null> {
  const centre = Math.floor((good + bad) / 2);
  for (let distance = 0; distance < bad - good; distance++) {
    for (const at of distance === 0 ? [centre] : [centre - distance, centre + distance]) {
      if (at <= good || at >= bad) continue;
      const verdict = await look(at);
      if (verdict !== "skip") return { at, verdict };
    }
  }
  return null;
}
