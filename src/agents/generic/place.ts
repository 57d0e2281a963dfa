/**
 * Where a session's files are, by the pattern in the profile. Session ids and directories come from payloads: an id
 * that could lead anywhere else is refused, and a path is spelled with the characters that the profile keeps.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { entriesIn } from "../../base/fs/files.ts";
import { isInside } from "../../base/paths.ts";
import type { Profile, Spelling, TranscriptSection } from "../contract/profile.ts";
import { transcriptDirectories } from "../registry/transcript-paths.ts";

/** By default, every character but letters and digits is a hyphen. */
const DEFAULT_SPELLING: Spelling = { keep: "A-Za-z0-9", other: "-" };
const MAX_LISTED = 2_000;

/** Ids become names of files and directories. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id) && !id.includes("..");
}

/** The transcript's path below the transcript directory. */
export function placeOf(pattern: string, transcript: TranscriptSection, root: string, sessionId: string): string {
  const spelling = transcript.spelling ?? DEFAULT_SPELLING;
  const path = root.replace(/(?<!\/)\/+$/, "");
  return pattern.replace(/\{(session|project|folder|sha256:(\d+))\}/g, (_, kind: string, digits?: string) => {
    if (kind === "session") return sessionId;
    if (digits !== undefined) return hexDigest("sha256", path).slice(0, Number(digits));
    return spelled(kind === "project" ? path : (path.split("/").at(-1) ?? ""), spelling);
  });
}

/** A file of a session; null if the pattern leads out of the directory, as that of an unchecked profile may. */
export function fileIn(
  directory: string,
  pattern: string,
  transcript: TranscriptSection,
  root: string,
  sessionId: string,
): string | null {
  const path = join(directory, placeOf(pattern, transcript, root, sessionId));
  return path !== directory && isInside(directory, path) ? path : null;
}

/**
 * Finds the transcript of a session: at its place, or with the same name in another project's directory, because the
 * agent may see the project under another path. Null if the profile has no pattern.
 */
export function findTranscript(profile: Profile, root: string, sessionId: string): string | null {
  const { transcript } = profile;
  if (!transcript?.place || !isSessionId(sessionId)) return null;
  const [directory] = transcriptDirectories(profile);
  if (directory === undefined) return null;
  const expected = fileIn(directory, transcript.place, transcript, root, sessionId);
  if (expected === null || existsSync(expected)) return expected;
  return elsewhere(directory, transcript.place.split("/"), sessionId) ?? expected;
}

/** Searches every directory that matches the pattern's first part. */
function elsewhere(directory: string, parts: readonly string[], sessionId: string): string | null {
  const open = parts.findIndex((part) => /\{(?!session\})/.test(part));
  if (open < 0 || parts.slice(open + 1).some((part) => /\{(?!session\})/.test(part))) return null;
  const above = join(directory, ...parts.slice(0, open).map((part) => part.replaceAll("{session}", sessionId)));
  const below = parts.slice(open + 1).map((part) => part.replaceAll("{session}", sessionId));
  if (below.length === 0) return null;
  for (const name of namesIn(above)) {
    const path = join(above, name, ...below);
    if (existsSync(path)) return path;
  }
  return null;
}

/** The sessions whose transcripts are at their place for a project: their ids and paths. */
export function sessionsAt(profile: Profile, root: string): Map<string, string> {
  const { transcript } = profile;
  const [directory] = transcriptDirectories(profile);
  const parts = transcript?.place?.split("/") ?? [];
  const open = parts.findIndex((part) => part.includes("{session}"));
  const found = new Map<string, string>();
  if (!transcript?.place || directory === undefined || open < 0) return found;
  const [before = "", after = ""] = placeOf(parts[open] ?? "", transcript, root, "\0").split("\0");
  const above = placeOf(parts.slice(0, open).join("/"), transcript, root, "");
  for (const { name } of entriesIn(join(directory, above))) {
    if (!name.startsWith(before) || !name.endsWith(after)) continue;
    const id = name.slice(before.length, name.length - after.length);
    const path = isSessionId(id) ? fileIn(directory, transcript.place, transcript, root, id) : null;
    if (path !== null && existsSync(path)) found.set(id, path);
  }
  return found;
}

function namesIn(directory: string): string[] {
  return entriesIn(directory)
    .filter((entry) => entry.isDirectory())
    .slice(0, MAX_LISTED)
    .map(({ name }) => name);
}

function spelled(text: string, { keep, other, runs, lower, longest }: Spelling): string {
  const given = lower ? text.toLowerCase() : text;
  // `keep` holds only letters, digits, dots, hyphens and underscores, so it can't end the character class.
  const result = given.replace(
    new RegExp(`[^${keep.replace(/-(?![A-Za-z0-9])/g, "\\-")}]${runs ? "+" : ""}`, "g"),
    other,
  );
  if (!runs) return longest === undefined ? result : result.slice(0, longest);
  const trim = (each: string) => each.replace(/^-+|-+$/g, "");
  return longest === undefined ? trim(result) : trim(trim(result).slice(0, longest));
}
