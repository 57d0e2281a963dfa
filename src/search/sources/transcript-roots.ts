/**
 * The directories in which agents keep their transcripts. Loading every agent's profile takes a large part of a search's
 * time, so the index keeps what the profiles say until the next look at every file.
 */
import { statSync } from "node:fs";
import type { Profile } from "../../agents/contract/profile.ts";
import { listProfiles, userAgentsDirectory } from "../../agents/registry/registry.ts";
import { transcriptDirectories } from "../../agents/registry/transcript-paths.ts";
import { isRecord } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import type { SearchIndex } from "../index/store.ts";

export interface TranscriptRoot {
  agent: string;
  directory: string;
  /** The agent writes a transcript as one JSON document. */
  isDocument: boolean;
}

/** What `roots` depends on is kept beside it. */
interface Saved {
  version: string;
  /** The time of the directory with the user's own profiles. */
  agents: number;
  /** Variables of the environment that move a directory, and `HOME`. */
  variables: Record<string, string | null>;
  roots: TranscriptRoot[];
}

/** The state key in the index. */
const KEY = "transcript roots";

/** With `fresh`, from the profiles in any case. */
export async function transcriptRoots(index: SearchIndex, fresh: boolean): Promise<TranscriptRoot[]> {
  const before = index.state(KEY);
  const saved = fresh ? undefined : asSaved(before);
  if (saved && isCurrent(saved)) return saved.roots;
  const profiles = (await listProfiles()).filter(({ transcript }) => !transcript?.in_store);
  const roots = profiles.flatMap((profile) => rootsOf(profile));
  const now = JSON.stringify({ version, agents: agentsTime(), variables: variablesOf(profiles), roots });
  if (now !== before) index.transaction(() => index.setState(KEY, now));
  return roots;
}

function rootsOf(profile: Profile): TranscriptRoot[] {
  const isDocument = profile.transcript?.format === "json";
  return transcriptDirectories(profile).map((directory) => ({ agent: profile.id, directory, isDocument }));
}

function variablesOf(profiles: readonly Profile[]): Saved["variables"] {
  const moving = profiles.flatMap(({ transcript }) => (transcript?.moved_by ?? []).map(({ env }) => env));
  return Object.fromEntries(["HOME", ...moving].map((name) => [name, process.env[name] ?? null]));
}

function isCurrent({ version: made, agents, variables }: Saved): boolean {
  if (made !== version || agents !== agentsTime()) return false;
  return Object.entries(variables).every(([name, value]) => (process.env[name] ?? null) === value);
}

/** 0 if the user has no profiles of their own. */
function agentsTime(): number {
  return statSync(userAgentsDirectory(), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Undefined for anything that this version did not write: the profiles are then read again. */
function asSaved(text: string | null): Saved | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    const isSaved = isRecord(value) && Array.isArray(value["roots"]) && isRecord(value["variables"]);
    return isSaved ? (value as unknown as Saved) : undefined;
  } catch {
    return undefined;
  }
}
