/**
 * Caches which tracked files are inexact: git considers them unchanged although a checkout would write different bytes.
 * Losing the cache costs time, never correctness.
 */
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { readText, writeFileAtomic } from "../../base/fs/files.ts";
import type { Workspace } from "../workspace.ts";

/** A tracked file as the index lists it. */
export interface TrackedFile {
  path: string;
  mode: string;
  id: string;
}

/** A file whose bytes can change while `git status` reports nothing: see `Verdict`. */
export interface WatchedFile extends TrackedFile {
  /** Empty if the file must be checked: it was written too recently, or was not checked yet. */
  mark: string;
}

export interface InexactState {
  v: 2;
  /** Identity of the private index that the state was computed from. */
  index: string;
  /** Directories with tracked attribute files. */
  attributes: string[];
  /** Fingerprint of the conversion rules; empty if git converts nothing. */
  rules: string;
  inexact: TrackedFile[];
  /** The only files to check again while the index and the rules stay the same; null if there are too many to list. */
  watched: WatchedFile[] | null;
  /** Some files are undecided, or their times do not prove yet that they stay unchanged. */
  recheck: boolean;
  /** Checksum of the file with all checked files. */
  files: string;
}

/** A file that was checked. */
export interface KnownFile {
  mode: string;
  id: string;
  inexact: boolean;
  /** See `Verdict`. */
  steady: boolean;
  /** Whether the index knows the file's size. */
  sized: boolean;
  /** Empty if the file was written too recently. */
  mark: string;
}

export interface LoadedState {
  state: InexactState;
  /** All checked files, read on demand since there may be very many; empty if they do not belong to this state. */
  files(): Map<string, KnownFile>;
}

export function loadInexact(workspace: Workspace): LoadedState | undefined {
  try {
    const [sum, head = ""] = (readText(stateFile(workspace)) ?? "").split("\n", 2);
    if (sum !== hexDigest("sha1", head)) return undefined;
    const state = JSON.parse(head) as InexactState;
    return state.v === 2 ? { state, files: () => readFiles(workspace, state.files) } : undefined;
  } catch {
    return undefined;
  }
}

export function saveInexact(
  workspace: Workspace,
  state: Omit<InexactState, "v" | "files">,
  checked: ReadonlyMap<string, KnownFile>,
): void {
  const rows = checked.size === 0 ? "" : JSON.stringify([...checked].map(fileRow));
  const files = hexDigest("sha1", rows);
  if (rows !== "") writeFileAtomic(filesFile(workspace), rows);
  const head = JSON.stringify({ v: 2, ...state, files } satisfies InexactState);
  writeFileAtomic(stateFile(workspace), `${hexDigest("sha1", head)}\n${head}\n`);
}

/** Changes whenever the index file does; undefined if there is none. */
export function indexIdentity(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${basename(path)} ${stat.size}.${stat.mtimeNs}.${stat.ino}`;
}

type FileRow = [path: string, known: string];

function fileRow([path, { mode, id, inexact, steady, sized, mark }]: [string, KnownFile]): FileRow {
  return [path, `${mode} ${id} ${[inexact, steady, sized].map(Number).join("")} ${mark}`];
}

function readFiles(workspace: Workspace, sum: string): Map<string, KnownFile> {
  const text = readText(filesFile(workspace)) ?? "";
  const rows = text !== "" && hexDigest("sha1", text) === sum ? (JSON.parse(text) as FileRow[]) : [];
  return new Map(
    rows.map(([path, known]) => {
      const [mode = "", id = "", flags = "", mark = ""] = known.split(" ");
      const [inexact, steady, sized] = [flags[0] === "1", flags[1] === "1", flags[2] === "1"];
      return [path, { mode, id, inexact, steady, sized, mark }];
    }),
  );
}

function stateFile({ stateDir }: Workspace): string {
  return join(stateDir, "inexact.json");
}

function filesFile({ stateDir }: Workspace): string {
  return join(stateDir, "inexact-files.json");
}
