/**
 * Connects snapshots with ignored files: captures those that the user includes, and records the rules that hide the
 * others.
 */
import { pathMatcher } from "../../base/fs/glob.ts";
import type { DetailWriter } from "../snapshot/details.ts";
import { ignoreDetail } from "../snapshot/ignore-rules.ts";
import type { CaptureOptions, Snapshot } from "../snapshot/snapshot.ts";
import type { Workspace } from "../workspace.ts";
import type { IncludedFiles } from "./included.ts";

/** Starts the search for included ignored files. Resolves to null if the search fails. */
export async function startIncluding(
  workspace: Workspace,
  { include = [], exclude, patienceMs }: CaptureOptions,
  usualPatienceMs: number,
): Promise<IncludedFiles | null> {
  if (include.length === 0) return { paths: [], tooMany: [] };
  const { findIncluded } = await import("./included.ts");
  const timeoutMs = (patienceMs ?? usualPatienceMs) / 2;
  return findIncluded(workspace, { include, exclude, timeoutMs }).catch(() => null);
}

/** Matches files that are private regardless of their mode. */
export function privateByChoice({ include = [] }: CaptureOptions): (path: string) => boolean {
  return pathMatcher(include);
}

/** If the search failed, records no include patterns, so the step counts every ignored file as ignored. */
export function ignoreRulesOf(
  lines: string | null,
  { exclude, include = [] }: CaptureOptions,
  hasLooked: boolean,
  details: DetailWriter,
): Pick<Snapshot, "ignore"> {
  if (lines === null) return {};
  const detail = ignoreDetail(lines, exclude, hasLooked ? include : []);
  return { ignore: detail === null ? null : details.add(detail) };
}

/** Updates the list of ignored files, which may change while the rest of the snapshot stays the same. */
export function withIgnoredFiles(
  { ignoredFiles: _, ...snapshot }: Snapshot,
  detail: string | undefined,
  details: DetailWriter,
): Snapshot {
  return detail === undefined ? snapshot : { ...snapshot, ignoredFiles: details.add(detail) };
}
