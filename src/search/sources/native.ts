/**
 * Finds the agents' own transcript files. Looking at every file takes long where there are many, so a quick look reads
 * only directories that changed and the files that were written last.
 */
import { statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { entriesIn } from "../../base/fs/files.ts";
import { readTranscriptHead } from "../../checkpoints/import/find.ts";
import { findWorkspace } from "../../git/workspace.ts";
import type { SearchIndex } from "../index/store.ts";
import type { FoundTranscript } from "./recorded.ts";
import { openTranscriptFile } from "./transcript-bytes.ts";
import { type TranscriptRoot, transcriptRoots } from "./transcript-roots.ts";

const DEEPEST = 5;
const MAX_FILES = 50_000;
/** A quick look checks this many of the files that changed last. */
const RECENT_FILES = 200;

export interface NativeFiles {
  files: FoundTranscript[];
  /** Directories that changed, with their times, to save once all files are indexed. */
  folders: Map<string, number>;
}

interface SeenFile {
  path: string;
  size: number;
  modified: number;
  root: TranscriptRoot;
}

/** Finds the files that changed since they were indexed. */
export async function nativeTranscripts(index: SearchIndex, look: "quick" | "full"): Promise<NativeFiles> {
  const walk = new Walk(look === "quick" ? knownFolders(index) : new Map());
  const roots = await transcriptRoots(index, look === "full");
  for (const root of roots) walk.directory(root.directory, root, 0);
  const known = knownFiles(index, walk.files);
  if (look === "quick") {
    for (const file of recentFiles(index)) {
      known.set(file.origin, file);
      walk.file(file.origin, roots);
    }
  }
  const workspaces = new Map<string, { repository: string | null; store: string | null }>();
  const files = walk.files.flatMap((file) => {
    const before = known.get(file.path);
    if (before && before.size === file.size && before.modified === file.modified) return [];
    return found(file, workspaces) ?? [];
  });
  return { files, folders: walk.folders };
}

class Walk {
  readonly files: SeenFile[] = [];
  readonly folders = new Map<string, number>();
  readonly #known: ReadonlyMap<string, number>;
  readonly #seen = new Set<string>();

  constructor(known: ReadonlyMap<string, number>) {
    this.#known = known;
  }

  directory(path: string, root: TranscriptRoot, depth: number): void {
    if (depth > DEEPEST || this.files.length >= MAX_FILES) return;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return;
    const modified = Math.round(stat.mtimeMs);
    if (this.#known.get(path) === modified) {
      // Nothing was added here, but perhaps further below.
      for (const folder of this.#below(path)) this.directory(folder, root, depth + 1);
      return;
    }
    this.folders.set(path, modified);
    for (const entry of entriesIn(path)) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) this.directory(inside, root, depth + 1);
      else if (entry.isFile() && /^\.jsonl?$/.test(extname(entry.name))) this.#add(inside, root);
    }
  }

  /** A known file; its agent is the directory's. */
  file(path: string, roots: readonly TranscriptRoot[]): void {
    const root = roots.find(({ directory }) => path.startsWith(`${directory}/`));
    if (root) this.#add(path, root);
  }

  #add(path: string, root: TranscriptRoot): void {
    if (this.#seen.has(path) || this.files.length >= MAX_FILES) return;
    this.#seen.add(path);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) this.files.push({ path, size: stat.size, modified: Math.round(stat.mtimeMs), root });
  }

  #children: Map<string, string[]> | undefined;

  #below(path: string): string[] {
    this.#children ??= Map.groupBy(this.#known.keys(), (folder) => folder.slice(0, folder.lastIndexOf("/")));
    return this.#children.get(path) ?? [];
  }
}

function found(
  { path, modified, root }: SeenFile,
  workspaces: Map<string, { repository: string | null; store: string | null }>,
): FoundTranscript | undefined {
  const head = readTranscriptHead(path);
  if (!head) return undefined;
  const { session, directory, subagent } = head;
  return {
    agent: root.agent,
    session,
    part: subagent ? basename(path, extname(path)) : "",
    ...placeOf(directory, workspaces),
    origin: path,
    isDocument: root.isDocument || extname(path) === ".json",
    time: modified,
    open: () => Promise.resolve(openTranscriptFile(path)),
  };
}

/** The work tree of a directory, or the directory itself if there is none. */
export function placeOf(
  directory: string | null,
  workspaces: Map<string, { repository: string | null; store: string | null }>,
): { repository: string | null; store: string | null } {
  if (directory === null) return { repository: null, store: null };
  const known = workspaces.get(directory);
  if (known) return known;
  const workspace = findWorkspace(directory);
  const place = { repository: workspace?.root ?? directory, store: workspace?.storeDir ?? null };
  workspaces.set(directory, place);
  return place;
}

function knownFolders(index: SearchIndex): Map<string, number> {
  const rows = index.database.statement("select path, modified from folders").all();
  return new Map((rows as { path: string; modified: number }[]).map(({ path, modified }) => [path, modified]));
}

interface KnownFile {
  origin: string;
  size: number;
  modified: number;
}

function recentFiles(index: SearchIndex): KnownFile[] {
  const sql = "select origin, size, modified from conversations where part != 'changes' order by modified desc limit ?";
  return index.database.statement(sql).all(RECENT_FILES) as KnownFile[];
}

function knownFiles(index: SearchIndex, files: readonly SeenFile[]): Map<string, KnownFile> {
  const one = index.database.statement("select origin, size, modified from conversations where origin = ?");
  const all = index.database.statement("select origin, size, modified from conversations");
  const rows = files.length < 1_000 ? files.map(({ path }) => one.get(path)) : all.all();
  return new Map((rows as (KnownFile | undefined)[]).flatMap((row) => (row ? [[row.origin, row]] : [])));
}
