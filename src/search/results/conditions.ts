/** Checks the filters that the index can't answer: those about steps, commits, checks, runs and files. */

import { globMatcher } from "../../base/runtime.ts";
import { turnKey } from "../../model/turn.ts";
import type { Conversation, Document } from "../index/documents.ts";
import type { SearchIndex } from "../index/store.ts";
import { hasTerm } from "../query/match.ts";
import { type Filters, literal, noFilters } from "../query/parse.ts";
import { Candidates } from "./candidates.ts";
import type { Fates } from "./fates.ts";

type Condition = (document: Document, conversation: Conversation) => boolean | Promise<boolean>;

/** Empty if the index answers every filter. */
export function conditionsOf(index: SearchIndex, filters: Filters, fates: Fates): Condition[] {
  const { states, branches, commits, files, tags, cost } = filters;
  const conditions: Condition[] = [];
  const stepOf = async (document: Document, conversation: Conversation) => {
    const records = await fates.of(conversation);
    const step = records?.stepOf(document, conversation);
    return records && step ? { records, step } : undefined;
  };
  for (const state of states.filter((one) => one !== "subagent")) {
    conditions.push(async (document, conversation) => {
      if (state === "run") return (await (await fates.of(conversation))?.runTags(conversation.session)) !== undefined;
      const found = await stepOf(document, conversation);
      if (!found) return false;
      const { records, step } = found;
      if (state === "kept") return records.stateOf(step) === "kept";
      if (state === "undone") return records.stateOf(step) !== "kept";
      if (state === "committed") return (await records.commitOf(step)) !== null;
      if (state === "fork") return records.isForked(step);
      return records.checkOf(step) === state;
    });
  }
  if (branches.length > 0)
    conditions.push(async (...at) => branches.includes((await stepOf(...at))?.step.branch ?? ""));
  if (commits.length > 0) {
    conditions.push(async (...at) => {
      const found = await stepOf(...at);
      const commit = found ? await found.records.commitOf(found.step) : null;
      return commit !== null && commits.some((wanted) => commit.startsWith(wanted.toLowerCase()));
    });
  }
  if (cost.over !== null || cost.under !== null) {
    conditions.push(async (...at) => {
      const found = await stepOf(...at);
      const usd = found ? found.records.costOf(found.step) : null;
      return usd !== null && usd > (cost.over ?? -1) && usd < (cost.under ?? Number.POSITIVE_INFINITY);
    });
  }
  if (tags.length > 0) {
    conditions.push(async (_, conversation) => {
      const own = await (await fates.of(conversation))?.runTags(conversation.session);
      return own !== undefined && tags.every((tag) => own.includes(tag));
    });
  }
  for (const file of files) conditions.push(fileCondition(index, file));
  return conditions;
}

/** Documents about the file, and everything else in the turns that changed it. */
function fileCondition(index: SearchIndex, file: string): Condition {
  const matches = pathMatcher(file);
  let turns: Set<string> | undefined;
  return (document, { agent, session }) => {
    if (document.path !== null) return matches(document.path);
    turns ??= turnsChanging(index, file, matches);
    return turns.has(turnKey({ agent, session, turn: document.turn }));
  };
}

function turnsChanging(index: SearchIndex, file: string, matches: (path: string) => boolean): Set<string> {
  const isPattern = /[*?[{]/.test(file);
  const terms = isPattern ? [] : [literal(file)];
  const paths = new Candidates(index, { terms, filters: { ...noFilters(), fields: ["path"] } }, null);
  const turns = new Set<string>();
  for (const document of paths.newest(null)) {
    const text = index.textOf(document);
    if (!terms.every((term) => hasTerm(text, term)) || !text.split("\n").some(matches)) continue;
    const conversation = index.conversation(document.conversation);
    if (conversation) turns.add(turnKey({ ...conversation, turn: document.turn }));
  }
  return turns;
}

/** A pattern, a path, or the end of one. */
function pathMatcher(file: string): (path: string) => boolean {
  if (/[*?[{]/.test(file)) {
    const [whole, end] = [globMatcher(file), globMatcher(`**/${file}`)];
    return (path) => whole(path) || end(path.replace(/^\//, ""));
  }
  return (path) =>
    path === file || path.endsWith(`/${file}`) || path.startsWith(`${file}/`) || path.includes(`/${file}/`);
}
