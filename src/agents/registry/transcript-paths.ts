/**
 * The directories of an agent's transcripts. A hook's payload may name any file of the user as the transcript, and its
 * content ends up in steps and checkpoints. So only files in these directories are read, after resolving links.
 */
import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isInside } from "../../base/paths.ts";
import type { Profile } from "../contract/profile.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The default directory, and those that environment variables name instead. */
export function transcriptDirectories({ transcript }: Profile, env: Environment = process.env): string[] {
  if (!transcript) return [];
  const moved = (transcript.moved_by ?? []).flatMap(({ env: name, path }) => {
    const directory = env[name];
    return directory && isAbsolute(directory) ? below(directory, path) : [];
  });
  return [...moved, ...below(env["HOME"] || homedir(), transcript.directory)];
}

/** A hook reads a profile without checking it, so its path may lead anywhere. */
function below(directory: string, path: string): string[] {
  const full = join(directory, path);
  return isInside(directory, full) ? [full] : [];
}

export interface Allowed {
  profiles: readonly Profile[];
  /** Our plugins for some agents write transcripts into the store. */
  storeDir: string;
  /** The setting `transcript_paths`: more directories; `~` is the home directory. */
  more: readonly string[];
}

/** Whether a transcript at `path` may be read. The file need not exist yet. */
export function mayRead(path: string, { profiles, storeDir, more }: Allowed, env: Environment = process.env): boolean {
  const home = env["HOME"] || homedir();
  const directories = profiles.flatMap((profile) => [
    ...transcriptDirectories(profile, env),
    ...(profile.transcript?.in_store ? [join(storeDir, profile.id)] : []),
  ]);
  for (const chosen of more) directories.push(chosen.startsWith("~/") ? join(home, chosen.slice(2)) : chosen);
  const real = realPath(path);
  if (real === null) return false;
  return directories.some((directory) => {
    const place = isAbsolute(directory) ? realPath(directory) : null;
    return place !== null && place !== real && isInside(place, real);
  });
}

/** Resolves links in the part of the path that exists; null for a dangling link or an unreadable path. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    if (isThere(path)) return null;
    const above = dirname(path);
    const parent = above === path ? null : realPath(above);
    return parent && join(parent, basename(path));
  }
}

/** True also if the check fails. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
