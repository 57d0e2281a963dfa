/** Completes the filters of a search. */
import { PACKAGED } from "../../agents/registry/packaged.ts";
import { FIELDS } from "../../search/index/schema.ts";
import { type FILTER_NAMES, STATES } from "../../search/query/parse.ts";
import type { Offer } from "./values.ts";

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  agent: Object.keys(PACKAGED),
  field: FIELDS,
  is: STATES,
};

const MEANINGS: Readonly<Record<(typeof FILTER_NAMES)[number], string>> = {
  agent: "sessions of an agent",
  repo: "sessions in a repository",
  session: "one session",
  branch: "turns on a branch",
  commit: "turns in a commit",
  file: "turns that changed a file",
  model: "sessions with a model",
  tag: "runs with a tag",
  field: "prompts, outputs, added lines, …",
  is: "undone, committed, green, …",
  since: "this time or later",
  before: "before this time",
  cost: "by cost, such as cost:>1",
};

export function offerFilters(offer: Offer, typed: string): void {
  const [, start = "", name = ""] = /^(([a-z]+):(?:[^,]+,)*)/.exec(typed) ?? [];
  const choices = CHOICES[name];
  if (choices) for (const choice of choices) offer(start + choice, "");
  else for (const [filter, meaning] of Object.entries(MEANINGS)) offer(`${filter}:`, meaning);
}

/** What may follow `name:`. */
export function filterHelp(name: (typeof FILTER_NAMES)[number]): string {
  return `${name}: ${name === "agent" ? MEANINGS.agent : (CHOICES[name]?.join(", ") ?? MEANINGS[name])}`;
}
