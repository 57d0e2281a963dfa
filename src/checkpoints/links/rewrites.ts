/**
 * Processes commits that git rewrote (amend, rebase), as recorded by post-rewrite. Most keep their trailers; if a
 * commit lost them, or several became one, links.jsonl in the store has the links that the new message lacks.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { appendLine, readText, removeFile } from "../../base/fs/files.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isCheckpointId } from "../format/layout.ts";
import { shareLinks } from "./squashed-links.ts";
import { linkedIn } from "./trailers.ts";

const OBJECT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

interface Link {
  v: 1;
  commit: string;
  checkpoints: string[];
}

/** Returns the checkpoints of a commit that its message does not name. */
export function extraLinks(workspace: Workspace, commit: string): string[] {
  return linksOf(workspace).get(commit) ?? [];
}

/** Returns commits of a checkpoint whose messages do not name it; some may no longer exist. */
export function extraCommits(workspace: Workspace, checkpoint: string): string[] {
  return [...linksOf(workspace)].flatMap(([commit, checkpoints]) => (checkpoints.includes(checkpoint) ? [commit] : []));
}

let known: { file: string; text: string; links: ReadonlyMap<string, string[]> } | undefined;

/** Caches the parsed file until it changes, because a long history looks up each commit. */
function linksOf(workspace: Workspace): ReadonlyMap<string, string[]> {
  const file = linksFile(workspace);
  const text = readText(file) ?? "";
  if (known?.file === file && known.text === text) return known.links;
  const links = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    try {
      const link = JSON.parse(line) as Partial<Link>;
      if (link.v !== 1 || !OBJECT_ID.test(link.commit ?? "") || !Array.isArray(link.checkpoints)) continue;
      const ids = link.checkpoints.filter((id) => typeof id === "string" && isCheckpointId(id));
      const commit = link.commit ?? "";
      links.set(commit, [...new Set([...(links.get(commit) ?? []), ...ids])]);
    } catch {
      // Skip a torn line.
    }
  }
  known = { file, text, links };
  return links;
}

/** Processes the entries of post-rewrite; repeats them if killed in between. */
export async function takeRewrites(workspace: Workspace): Promise<void> {
  const taken = join(workspace.storeDir, "rewrites.taken");
  if (readText(taken) === undefined && !rename(join(workspace.storeDir, "rewrites"), taken)) return;
  const olds = Map.groupBy(pairs(readText(taken) ?? ""), ([, fresh]) => fresh);
  const reader = new ObjectReader(workspace);
  try {
    for (const [fresh, rewritten] of olds) {
      const named = await linked(reader, fresh);
      const known = new Set([...named, ...extraLinks(workspace, fresh)]);
      const lost = new Set<string>();
      for (const [old] of rewritten) {
        for (const id of [...(await linked(reader, old)), ...extraLinks(workspace, old)])
          if (!known.has(id)) lost.add(id);
      }
      const link: Link = { v: 1, commit: fresh, checkpoints: [...lost] };
      if (lost.size === 0) continue;
      if (named[0] !== undefined) await shareLinks(workspace, named[0], { [fresh]: [...lost] });
      appendLine(linksFile(workspace), JSON.stringify(link));
    }
  } finally {
    reader.close();
  }
  removeFile(taken);
}

function pairs(text: string): [old: string, fresh: string][] {
  return text.split("\n").flatMap((line): [string, string][] => {
    const [old = "", fresh = ""] = line.split(" ");
    return OBJECT_ID.test(old) && OBJECT_ID.test(fresh) ? [[old, fresh]] : [];
  });
}

async function linked(reader: ObjectReader, commit: string): Promise<string[]> {
  const object = await reader.read(commit);
  if (object?.type !== "commit") return [];
  const text = object.data.toString("utf8");
  return linkedIn(text.slice(text.indexOf("\n\n") + 2));
}

function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function linksFile(workspace: Workspace): string {
  return join(workspace.storeDir, "links.jsonl");
}
