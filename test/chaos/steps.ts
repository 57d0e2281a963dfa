/** What the recorded steps hold, by the layout that docs/formats/steps.md gives to the refs. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "./world.ts";

export interface StepContents {
  /** By path, as `work/…`, `index/…`, `raw/…` or `stages/…`. */
  entries: Map<string, string>;
  /** The same with the kind before the content, as a census has it. */
  kinds: Map<string, string>;
  /** Which one it is in the list of steps, from 0. */
  number: number;
}

/** A session's tree never changes, so that it has to be read only once. */
const known = new Map<string, Map<string, StepContents>>();
const MAX_KNOWN = 2000;

/** By the trees of the sessions that a store has. */
export function readSteps(world: World, store: string, sessions: string[]): Map<string, StepContents> {
  const all = new Map<string, StepContents>();
  const ask = (...args: string[]) => git(world, store, args);
  for (const tree of sessions) {
    const steps = known.get(tree) ?? stepsIn(ask("ls-tree", "-r", "-z", tree));
    if (known.size > MAX_KNOWN) known.clear();
    known.set(tree, steps);
    for (const [id, step] of steps) all.set(id, step);
  }
  for (const [number, id] of listedIn(store).entries()) {
    const step = all.get(id);
    if (step) step.number = number;
  }
  return all;
}

function stepsIn(listing: string): Map<string, StepContents> {
  const steps = new Map<string, StepContents>();
  for (const line of listing.split("\0")) {
    const found = /^(\d+) blob (\w+)\tsteps\/[^/]+\/([^/]+)\/(.+)$/s.exec(line);
    if (!found) continue;
    const [, mode = "", content = "", id = "", path = ""] = found;
    const step = steps.get(id) ?? { entries: new Map(), kinds: new Map(), number: -1 };
    step.entries.set(path, content);
    step.kinds.set(path, `${mode === "120000" ? "l" : mode === "100755" ? "x" : "-"} ${content}`);
    steps.set(id, step);
  }
  return steps;
}

/** Ids in the order in which they were saved. */
function listedIn(store: string): string[] {
  for (const path of [join(store, "backtrail", "steps.jsonl"), join(store, "steps.jsonl")]) {
    if (!existsSync(path)) continue;
    return [...readFileSync(path, "utf8").matchAll(/^\{.*?"id":"([k-z]{12})"/gm)].map(([, id = ""]) => id);
  }
  return [];
}

function git(world: World, store: string, args: string[]): string {
  const options = { cwd: store, env: world.env(), encoding: "utf8", maxBuffer: 1 << 28 } as const;
  return spawnSync("git", [`--git-dir=${store}`, ...args], options).stdout ?? "";
}
