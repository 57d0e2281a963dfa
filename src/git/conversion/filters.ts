/**
 * Handles programs that git starts and that hang: filters (`filter.<name>.clean`) and a file monitor
 * (`core.fsmonitor`). A program that never ends must not block recording. Backtrail reruns git without it and does not
 * try it again for an hour.
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
  /** Hash of the filter definitions, or the monitor's command; a changed definition gets another try. */
  filters: string;
}

/** Settings that disable all filters. */
export function withoutFilters({ filterNames }: ConversionConfig): string[] {
  return filterNames.flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `filter.${name}.${setting}`]),
  );
}

/** Whether a filter with the current definitions hung recently. */
export function areHung(workspace: Workspace, { filters }: ConversionConfig): boolean {
  return isRemembered(filtersFile(workspace), filters);
}

export function isMonitorHung(workspace: Workspace, { monitor }: ConversionConfig): boolean {
  return monitor !== null && isRemembered(monitorFile(workspace), monitor);
}

function isRemembered(file: string, definition: string): boolean {
  // Missing for nearly every work tree.
  if (!existsSync(file)) return false;
  try {
    const hung = readJson(file) as Partial<Hung> | undefined;
    return hung?.v === 1 && hung.filters === definition && Math.abs(Date.now() - (hung.at ?? 0)) < REMEMBERED_MS;
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
  writeJson(filtersFile(workspace), { v: 1, at: Date.now(), filters } satisfies Hung);
}

export function rememberMonitorHung(workspace: Workspace, { monitor }: ConversionConfig): void {
  log("warn", "snapshot", "The file monitor (core.fsmonitor) did not end, so git looks at every file itself.");
  writeJson(monitorFile(workspace), { v: 1, at: Date.now(), filters: monitor ?? "" } satisfies Hung);
}

function filtersFile(workspace: Workspace): string {
  return join(workspace.stateDir, "hung-filters.json");
}

function monitorFile(workspace: Workspace): string {
  return join(workspace.stateDir, "hung-monitor.json");
}
