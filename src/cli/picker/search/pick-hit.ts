/** Lets the user search as they type, look at hits, and pick one: full screen, or a numbered list. */
import { searchWith } from "../../../api/search.ts";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine } from "../../../base/text.ts";
import { findWorkspace, type Workspace } from "../../../git/workspace.ts";
import { Fates } from "../../../search/results/fates.ts";
import type { FoundHit } from "../../../search/results/search.ts";
import { type IndexedText, turnTexts } from "../../../search/results/turn-texts.ts";
import type { IndexStatus, Search } from "../../../search/search.ts";
import { patchOfFiles } from "../../../steps/diff.ts";
import { stepsIn } from "../../../steps/log.ts";
import { stepBefore } from "../../commands/steps/show.ts";
import { filterHelp } from "../../completion/query.ts";
import { searchNotes } from "../../render/search/hits.ts";
import { askLine, interrupted } from "../../terminal/ask.ts";
import type { Io } from "../../terminal/io.ts";
import { runFullScreen } from "../full-screen.ts";
import { Previews } from "../previews.ts";
import { numberedHits, readAnswer } from "./numbered.ts";
import { asTyped, beginSearch, obstacle, type PickedHit, press, unfinishedFilter, withHits } from "./state.ts";
import { draw } from "./view.ts";

export interface HitSource {
  opened: Search;
  status: IndexStatus;
  workspace: Workspace | undefined;
  here: boolean | undefined;
  best: boolean | undefined;
}

const HITS = 50;
const LISTED = 20;
/** Keys that arrive together lead to one search. */
const TOGETHER_MS = 15;

export function pickHit(source: HitSource, io: Io): Promise<PickedHit> {
  return io.dumb ? pickByNumber(source, io) : pickOnScreen(source, io);
}

function find({ opened, workspace, here, best }: HitSource, query: string, limit: number, fates?: Fates) {
  return searchWith(opened, workspace, query, { limit, here, best }, fates);
}

async function pickByNumber(source: HitSource, io: Io): Promise<PickedHit> {
  for (;;) {
    const query = await askLine("Search for, or Enter to cancel: ");
    if (query === "") throw interrupted();
    const found = await find(source, query, LISTED).catch(asMessage);
    if (typeof found === "string") io.say(found);
    else if (found.hits.length === 0) for (const note of searchNotes(source.status, io.err.paint, found)) io.say(note);
    else {
      for (const line of numberedHits(found, io)) io.say(line);
      const answer = await askLine("Number to show; or resume 2, rewind 2, fork 2, id 2; Enter to search again: ");
      if (answer === "") continue;
      const picked = readAnswer(answer, found.hits);
      const notice = obstacle(picked.hit, picked.action);
      if (notice === null) return picked;
      io.say(notice);
    }
  }
}

function pickOnScreen(source: HitSource, io: Io): Promise<PickedHit> {
  return runFullScreen(io, (redraw) => {
    const fates = new Fates();
    const diffs = new Previews(redraw);
    const texts = new Map<number, IndexedText[]>();
    let state = beginSearch("");
    let notes: readonly string[] = [];
    let searched: string | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const textsOf = ({ document }: FoundHit) => {
      const known = texts.get(document) ?? turnTexts(source.opened.index, document);
      texts.set(document, known);
      return known;
    };
    const search = async () => {
      const { query } = state;
      const found = await find(source, asTyped(query), HITS, fates).catch(asMessage);
      searched = query;
      notes = typeof found === "string" ? [found] : searchNotes(source.status, (_, text) => text, found);
      // An unfinished filter keeps the hits that are shown.
      if (typeof found !== "string") state = withHits(state, found.hits, found.total);
      else if (state.hits.length > 0) state = { ...state, notice: found };
      const filter = unfinishedFilter(query);
      if (filter !== undefined) state = { ...state, notice: filterHelp(filter) };
      redraw();
    };
    const searchSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void search(), TOGETHER_MS);
    };
    searchSoon();
    return {
      draw(columns, rows) {
        const { paint } = io.err;
        const diffOf = (hit: FoundHit) =>
          hasDiff(hit) ? diffs.of(`${hit.id} ${hit.path}`, () => fileDiff(hit)) : null;
        return draw(state, { columns, rows, paint, now: now(), notes, textsOf, diffOf });
      },
      press(key) {
        const outcome = press(state, key);
        if (!("state" in outcome)) {
          clearTimeout(timer);
          return outcome;
        }
        state = outcome.state;
        if (state.query !== searched) searchSoon();
        return undefined;
      },
    };
  });
}

function hasDiff({ fate, path }: FoundHit): boolean {
  return fate !== null && path !== null;
}

async function fileDiff({ id, repository, path }: FoundHit): Promise<string> {
  const workspace = repository === null ? undefined : findWorkspace(repository);
  const step = workspace && stepsIn(workspace).byId(id);
  const before = step && stepBefore(workspace, step);
  return before && path !== null ? patchOfFiles(workspace, before.snapshot.work, step.snapshot.work, [path]) : "";
}

/** A filter that is not one yet is no reason to end. */
function asMessage(error: unknown): string {
  if (!(error instanceof UserError)) throw error;
  return oneLine([error.message, error.hint ?? ""].join(" ").trim());
}
