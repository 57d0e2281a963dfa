/** What changed between two states: the list of files, and one file's lines. */
import type { Objects } from "../../../../api/files.ts";
import { entryAt, GITLINK_MODE, TREE_MODE, type TreeEntry } from "../../../../git/objects/trees.ts";
import type { ChangedFile, Changes, FileDiff, LineCounts } from "../../../protocol.ts";
import { changedFiles } from "../../repository/changed-files.ts";
import { imageOf, isBinary, MAX_TEXT_BYTES } from "../../repository/contents.ts";
import { diffBlobs, sliceHunks } from "../../repository/hunks.ts";
import { comparedTrees } from "../../repository/states.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

const LINES_PER_PAGE = 5_000;
const USUAL_CONTEXT = 3;
const MAX_CONTEXT = 100_000;

export async function changes({ repository }: Context, query: Query): Promise<Changes> {
  const { from, to, before, after } = await comparedTrees(repository, query);
  const files = await changedFiles(repository.workspace, before, after);
  return { from, to, files, lines: sumOfLines(files) };
}

export function sumOfLines(files: readonly ChangedFile[]): LineCounts {
  const sum = { added: 0, deleted: 0 };
  for (const { lines } of files) {
    sum.added += lines?.added ?? 0;
    sum.deleted += lines?.deleted ?? 0;
  }
  return sum;
}

export async function fileDiff({ repository }: Context, query: Query): Promise<FileDiff> {
  const path = query.required("path");
  const oldPath = query.text("oldPath");
  const offset = query.number("offset", 0, Number.MAX_SAFE_INTEGER);
  const context = query.number("context", USUAL_CONTEXT, MAX_CONTEXT);
  const redaction = await repository.redaction(query.flag("reveal"));
  const { before: oldTree, after: newTree } = await comparedTrees(repository, query);
  const about = { path, oldPath };
  return repository.objects(async (objects): Promise<FileDiff> => {
    const was = await contentAt(objects, oldTree, oldPath ?? path);
    const is = await contentAt(objects, newTree, path);
    if (was?.kind === "submodule" || is?.kind === "submodule")
      return { ...about, kind: "submodule", before: was?.id ?? null, after: is?.id ?? null };
    if (was?.id === is?.id) return { ...about, kind: "same" };
    const sizes = { before: was?.size ?? null, after: is?.size ?? null };
    if (was?.kind === "too-large" || is?.kind === "too-large") return { ...about, kind: "too-large", ...sizes };
    const images = { before: was ? imageOf(was.bytes) : null, after: is ? imageOf(is.bytes) : null };
    if (images.before || images.after) return { ...about, kind: "image", ...images };
    if ((was && isBinary(was.bytes)) || (is && isBinary(is.bytes))) return { ...about, kind: "binary", ...sizes };
    const { hunks, total } = await diffBlobs(repository.workspace, was, is, context, redaction);
    const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    const next = offset + LINES_PER_PAGE < lines ? offset + LINES_PER_PAGE : null;
    return { ...about, kind: "text", hunks: sliceHunks(hunks, offset, LINES_PER_PAGE), next, total };
  });
}

interface Content {
  kind: "file" | "submodule" | "too-large";
  id: string;
  size: number;
  bytes: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

async function contentAt({ reader, trees }: Objects, tree: string | null, path: string): Promise<Content | null> {
  const entry: TreeEntry | null = await entryAt(trees, tree, path);
  if (!entry || entry.mode === TREE_MODE) return null;
  const { id } = entry;
  if (entry.mode === GITLINK_MODE) return { kind: "submodule", id, size: 0, bytes: NO_BYTES };
  const size = (await reader.sizeOf(id)) ?? 0;
  if (size > MAX_TEXT_BYTES) return { kind: "too-large", id, size, bytes: NO_BYTES };
  return { kind: "file", id, size, bytes: await reader.require(id, "blob") };
}
