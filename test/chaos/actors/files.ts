/** Which file somebody works on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../fuzz/random.ts";
import { entryAt, namesIn } from "../work-files.ts";
import type { World } from "../world.ts";

const NAMES = [
  "a.txt",
  "b.txt",
  "src/c.txt",
  "src/d.txt",
  "src/deep/e.txt",
  "docs/with space.txt",
  "B.txt",
  "ü -\n.txt",
  "-x",
  "run.sh",
  "src",
];
const IGNORED = ["ign/x.txt", "ign/deep/y.txt", "local.secret", "src/z.secret"];
const OTHERS = /^(\.git|\.claude|\.gemini|\.backtrail|\.aiwr)$/;

/** Mostly the repository, sometimes another work tree. */
export function pickPlace({ repository, places }: { repository: string; places: string[] }, random: Random): string {
  return random.below(100) < 65 ? repository : random.pick(places);
}

export function placeIn(world: World, random: Random): string {
  const places = world.places();
  const others = places.filter((place) => place !== world.repository);
  if (world.where === "repository") return world.repository;
  if (world.where === "other" && others.length > 0) return random.pick(others);
  return pickPlace({ repository: world.repository, places }, random);
}

/** Files of a work tree that are no links, by name. */
export function filesIn(place: string, below = ""): string[] {
  return namesIn(join(place, below)).flatMap((name) => {
    if (OTHERS.test(name)) return [];
    const path = below ? `${below}/${name}` : name;
    const entry = entryAt(join(place, path));
    if (entry?.isDirectory()) return filesIn(place, path);
    return entry?.isFile() ? [path] : [];
  });
}

/** A file that is there, as an absolute path; null if there is none. */
export function presentFile(place: string, random: Random): string | null {
  const files = filesIn(place).filter((name) => !name.startsWith(".git") && !isIgnored(name));
  return files.length === 0 ? null : join(place, random.pick(files));
}

/** Mostly one that is there, otherwise one of a few names. */
export function someFile(place: string, random: Random): string {
  const present = random.below(100) < 70 ? presentFile(place, random) : null;
  return present ?? join(place, random.pick(NAMES));
}

export function ignoredFile(place: string, random: Random): string {
  return join(place, random.pick(IGNORED));
}

function isIgnored(name: string): boolean {
  return name.startsWith("ign/") || name.endsWith(".secret");
}

export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
