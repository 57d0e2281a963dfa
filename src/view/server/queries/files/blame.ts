/** A file line by line, with the turn and the commit behind each line. */
import { UserError } from "../../../../base/errors.ts";
import { shownPath } from "../../../../base/text.ts";
import { blameFile, type LineStory } from "../../../../checkpoints/blame/blame.ts";
import { entryAt, TREE_MODE } from "../../../../git/objects/trees.ts";
import { turnKey } from "../../../../model/turn.ts";
import type { BlamedTurn, CommitRow, FileBlame } from "../../../protocol.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Redaction } from "../../repository/redaction.ts";
import { currentTree } from "../../repository/states.ts";
import type { Context } from "../../routes.ts";
import { rowOf } from "../commits/commits.ts";
import type { Query } from "../query.ts";

const LINES_PER_PAGE = 5_000;
const MAX_LINE = 2_000;

export async function blame({ repository }: Context, query: Query): Promise<FileBlame> {
  const path = query.required("path");
  const offset = query.number("offset", 0, Number.MAX_SAFE_INTEGER);
  await requireRecorded(repository, path);
  const redaction = await repository.redaction(query.flag("reveal"));
  const { lines, problems } = await blameFile(repository.workspace, path, null);
  const texts = redaction.lines(lines.map(({ text }) => text).join("\n"));
  const turns = new Numbered<BlamedTurn>();
  const commits = new Numbered<CommitRow>();
  const shown = lines.slice(offset, offset + LINES_PER_PAGE).map((line, i) => ({
    line: line.line,
    text: (texts[offset + i] ?? "").slice(0, MAX_LINE),
    turn: line.turn && turns.add(turnKey(line.turn), () => turnOf(line, redaction)),
    commit: line.commit && commits.add(line.commit.id, () => rowOf(line.commit as CommitRow)),
  }));
  return {
    path,
    lines: shown,
    turns: turns.list,
    commits: commits.list,
    total: lines.length,
    next: offset + LINES_PER_PAGE < lines.length ? offset + LINES_PER_PAGE : null,
    problems,
  };
}

/** Blame reads the file in the work tree, so only files that a snapshot would contain may be named. */
async function requireRecorded(repository: OpenRepository, path: string): Promise<void> {
  const tree = await currentTree(repository);
  const entry = await repository.objects(({ trees }) => entryAt(trees, tree, path));
  if (!entry || entry.mode === TREE_MODE)
    throw new UserError("not-found", `There is no recorded file ${shownPath(path)}.`);
}

function turnOf({ turn }: LineStory, redaction: Redaction): BlamedTurn {
  const { agent = "", session = "", turn: number = null, prompt = null, step, checkpoint = null } = turn ?? {};
  return {
    agent,
    session,
    number,
    prompt: prompt === null ? null : redaction.text(prompt),
    step: step?.id ?? null,
    checkpoint,
  };
}

/** Gives each different thing a number, in the order of their first use. */
class Numbered<T> {
  readonly list: T[] = [];
  readonly #numbers = new Map<string, number>();

  add(key: string, make: () => T): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.list.length);
    return this.list.push(make()) - 1;
  }
}
