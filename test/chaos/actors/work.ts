/** What agents do to files, by their tools and by the shell. */
import { dirname, join, relative } from "node:path";
import type { Random } from "../../fuzz/random.ts";
import { edited, text } from "../content.ts";
import type { World } from "../world.ts";
import { ignoredFile, presentFile, readText, someFile } from "./files.ts";

/** Writes a file as a tool does; gives its path and what was written. */
export function writeByTool(world: World, place: string, random: Random): { path: string; content: string } {
  const path = someFile(place, random);
  const old = readText(path);
  const content = old && !random.once(3) ? edited(old, random) : text(random);
  world.replace(path, content);
  return { path, content };
}

/** A shell command as the transcript has it, and doing it. */
export function shellWork(world: World, place: string, random: Random): { command: string; perform(): void } {
  const path = presentFile(place, random) ?? join(place, "a.txt");
  const name = relative(place, path);
  switch (random.below(6)) {
    case 0:
      return { command: `rm -f '${name}'`, perform: () => world.remove(path) };
    case 1:
      return { command: `mv '${name}' moved.txt`, perform: () => world.move(path, join(place, "moved.txt")) };
    case 2:
      return {
        command: `rm -rf '${relative(place, dirname(path)) || "none"}'`,
        perform: () => removeAbove(world, place, path),
      };
    case 3: {
      const secret = ignoredFile(place, random);
      return { command: "make build", perform: () => world.write(secret, text(random)) };
    }
    case 4:
      return { command: "git checkout -q -- .", perform: () => void world.git(place, "checkout", "-q", "--", ".") };
    default:
      return { command: `sed -i 1d '${name}'`, perform: () => world.replace(path, edited(readText(path), random)) };
  }
}

function removeAbove(world: World, place: string, path: string): void {
  if (dirname(path) !== place) world.remove(dirname(path));
}
