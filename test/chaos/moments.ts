/** What a work tree held, byte for byte, at the moment when a step was taken of it. */
import { relative } from "node:path";
import { type Census, contentOf } from "./census.ts";
import type { Violation } from "./model.ts";
import type { World } from "./world.ts";

export interface Moment {
  /** By path below the work tree: kind and content. */
  files: Map<string, string>;
  modes: Map<string, number>;
}

/**
 * Directories of the agents are never touched, and neither is what belongs to a repository of its own. Files that are mapped into
 * memory change without a sign, so that a step may have them as they were a moment ago.
 */
const NOT_OURS = /\.bin$|(^|\/)(\.claude|\.gemini|\.backtrail|lib|vendor|\.git)(\/|$)/;

export function momentOf(world: World, place: string, census: Census): Moment {
  if (isShortSighted(world, place)) return { files: new Map(), modes: new Map() };
  const prefix = `${relative(world.root, place)}/`;
  const unwatched = unwatchedFiles(world, place);
  const files = new Map<string, string>();
  const modes = new Map<string, number>();
  for (const [path, entry] of census.files) {
    const name = path.slice(prefix.length);
    if (!path.startsWith(prefix) || NOT_OURS.test(name) || unwatched.has(name)) continue;
    files.set(name, entry);
    modes.set(name, census.modes.get(path) ?? 0);
  }
  return { files, modes };
}

/** What is not as it was then, after somebody has gone back to it; `said`: what was printed about it. */
export function compare(world: World, place: string, then: Moment, now: Census, said: string): Violation[] {
  const prefix = relative(world.root, place);
  const unwatched = unwatchedFiles(world, place);
  // Git takes a link and a plain file with its target for the same then, and so does a step that git did not call changed.
  const hasLinks = world.ask(place, "config", "core.symlinks") !== "false\n";
  const isSame = (one: string | undefined, other: string) =>
    one === other || (!hasLinks && one !== undefined && contentOf(one) === contentOf(other));
  return [...then.files].flatMap(([name, entry]): Violation[] => {
    // What could not be brought back is named: something that no step holds stands in its way.
    if (unwatched.has(name) || said.includes(name)) return [];
    const path = `${prefix}/${name}`;
    // It is ignored by now, so that nobody may touch it.
    if (now.ignored.has(path)) return [];
    const found = now.files.get(path) ?? now.ignored.get(path);
    if (!isSame(found, entry))
      return [{ kind: "step", message: `${name} was ${entry}, and came back as ${found ?? "nothing"}.` }];
    const mode = then.modes.get(name);
    const isPrivate = mode !== undefined && (mode & 0o077) === 0;
    if (!isPrivate || ((now.modes.get(path) ?? 0) & 0o077) === 0) return [];
    return [{ kind: "step", message: `${name} was private, and came back readable by others.` }];
  });
}

/** Git was told not to look closely at files, and then nobody sees a change that keeps the time. */
function isShortSighted(world: World, place: string): boolean {
  const settings = world.ask(place, "config", "--get-regexp", "core\\.(trustctime|checkstat)");
  return /trustctime false|checkstat minimal/.test(settings);
}

/** Files that git was told not to look at; Backtrail leaves them alone. */
function unwatchedFiles(world: World, place: string): Set<string> {
  const listing = world.ask(place, "ls-files", "-v", "-z");
  return new Set(listing.split("\0").flatMap((line) => (/^[a-zS] /.test(line) ? [line.slice(2)] : [])));
}
