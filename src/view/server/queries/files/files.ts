/** Trees and files at a step, and the moments of the time slider. */
import { entriesOf, fileEntry } from "../../../../api/files.ts";
import { UserError } from "../../../../base/errors.ts";
import { oneLine, shorten } from "../../../../base/text.ts";
import { GITLINK_MODE, SYMLINK_MODE, TREE_MODE } from "../../../../git/objects/trees.ts";
import type { Step } from "../../../../model/step.ts";
import { activeSteps } from "../../../../restore/targets/history.ts";
import type { FileAtStep, Moment, Tree } from "../../../protocol.ts";
import { imageOf, isBinary, MAX_TEXT_BYTES } from "../../repository/contents.ts";
import { treeOfState } from "../../repository/states.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

const MAX_MOMENTS = 20_000;
const MAX_ENTRIES = 10_000;
const LINES_PER_PAGE = 10_000;
const PROMPT_LENGTH = 80;

export async function moments({ repository }: Context, query: Query): Promise<{ moments: Moment[]; more: boolean }> {
  const { workspace } = repository;
  const redaction = await repository.redaction(false);
  const path = query.text("path");
  const current = new Set([...activeSteps(workspace)].map(({ id }) => id));
  const steps = repository.indexWithMark().turns.all();
  const here = steps.filter(({ worktree, kind }) => worktree === workspace.worktree && kind !== "safety");
  const shown = path === null ? here : here.filter((step) => changeOf(step, path) !== undefined);
  const moments = shown.slice(0, MAX_MOMENTS).map((step): Moment => {
    const { id, time, kind, agent, session, turn, prompt, name } = step;
    return {
      step: id,
      time,
      kind,
      agent,
      session,
      number: turn,
      prompt:
        prompt === null ? null : shorten(redaction.text(oneLine(prompt).slice(0, 4 * PROMPT_LENGTH)), PROMPT_LENGTH),
      name: name === null ? null : redaction.text(name),
      current: current.has(id),
      ...(path === null ? {} : { change: changeOf(step, path) }),
    };
  });
  return { moments: moments.reverse(), more: shown.length > MAX_MOMENTS };
}

function changeOf({ kind, files }: Step, path: string): Moment["change"] {
  if (kind !== "turn-end" && kind !== "task") return undefined;
  if (files.added.includes(path)) return "added";
  if (files.modified.includes(path)) return "modified";
  return files.deleted.includes(path) ? "deleted" : undefined;
}

export async function tree({ repository }: Context, query: Query): Promise<Tree> {
  const step = query.required("step");
  const path = query.text("path") ?? "";
  const root = await treeOfState(repository, step);
  const entries = await repository.objects(({ trees }) => entriesOf(trees, root, path));
  return { step, path, entries: entries.slice(0, MAX_ENTRIES), more: entries.length > MAX_ENTRIES };
}

export async function file({ repository }: Context, query: Query): Promise<FileAtStep> {
  const step = query.required("step");
  const path = query.required("path");
  const offset = query.number("offset", 0, Number.MAX_SAFE_INTEGER);
  const redaction = await repository.redaction(query.flag("reveal"));
  const root = await treeOfState(repository, step);
  return repository.objects(async ({ reader, trees }) => {
    const { mode, id } = await fileEntry(trees, root, path);
    const about = { step, path, id };
    if (mode === TREE_MODE) throw new UserError("not-found", "This is a directory, not a file.");
    if (mode === GITLINK_MODE) return { ...about, kind: "submodule", commit: id };
    const size = (await reader.sizeOf(id)) ?? 0;
    if (size > MAX_TEXT_BYTES) return { ...about, kind: "too-large", bytes: size };
    const bytes = await reader.require(id, "blob");
    if (mode === SYMLINK_MODE) return { ...about, kind: "link", target: redaction.text(bytes.toString("utf8")) };
    const image = imageOf(bytes);
    if (image) return { ...about, kind: "image", image };
    if (isBinary(bytes)) return { ...about, kind: "binary", bytes: size };
    const lines = redaction.lines(bytes.toString("utf8"));
    // The line end of the last line does not begin another line.
    if (lines.at(-1) === "") lines.pop();
    const shown = lines.slice(offset, offset + LINES_PER_PAGE);
    const next = offset + LINES_PER_PAGE < lines.length ? offset + LINES_PER_PAGE : null;
    return { ...about, kind: "text", text: shown.join("\n"), offset, lines: lines.length, next };
  });
}
