/**
 * Handles hanging filters (`filter.<name>.clean`): a filter that never ends must not block recording. Backtrail reruns
 * git without filters and does not try them again for an hour.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "../../base/fs/files.ts";
import { log } from "../../base/log.ts";
import type { Workspace } from "../workspace.ts";
import type { ConversionConfig } from "./config-cache.ts";

const REMEMBERED_MS = 60 * 60 * 1000;

interface Hung {
  v: 1;
  at: number;
  /** Hash of the filter definitions; changed definitions get another try. */
  filters: string;
}

/** Settings that disable all filters. */
export function withoutFilters({ filterNames }: ConversionConfig): string[] {
  return filterNames.flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `filter.${name}.${setting}`]),
  );
}

/** A cheap check; false for nearly every work tree. */
export function mayBeHung(workspace: Workspace): boolean {
  return existsSync(hungFile(workspace));
}

/** Whether a filter with the current definitions hung recently. */
export async function areHung(workspace: Workspace, facts: Promise<ConversionConfig>): Promise<boolean> {
  if (!mayBeHung(workspace)) return false;
  const { filters } = await facts;
  try {
    const hung = readJson(hungFile(workspace)) as Partial<Hung> | undefined;
    return hung?.v === 1 && hung.filters === filters && Math.abs(Date.now() - (hung.at ?? 0)) < REMEMBERED_MS;
  } catch {
    return false;
  }
}

export function rememberHung(workspace: Workspace, { filters, filterNames }: ConversionConfig): void {
  log(
    "warn",
    "snapshot",
    `A filter did not end, so files that it concerns are not captured: ${filterNames.join(", ")}`,
  );
  writeJson(hungFile(workspace), { v: 1, at: Date.now(), filters } satisfies Hung);
}

function hungFile(workspace: Workspace): string {
  return join(workspace.stateDir, "hung-filters.json");
}
