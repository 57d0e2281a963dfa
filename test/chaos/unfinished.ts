/** Where a killed command is still to be finished. A work tree may be moved meanwhile, so it is known by its directory's inode. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { finishesOthers, isFinishedLater } from "./allowances.ts";
import type { Ended, Invocation } from "./invocation.ts";
import { namesIn } from "./work-files.ts";
import type { World } from "./world.ts";

/** A disk that is full or read-only also keeps a command from clearing away what it has begun. */
const DISK_TROUBLE = /disk ?space|no space left|read-only file system|ENOSPC|EROFS/i;

export class Unfinished {
  readonly #world: World;
  readonly #places = new Set<string>();
  /** Forks belong to no work tree: whoever comes next finishes them. */
  #forks = false;

  constructor(world: World) {
    this.#world = world;
  }

  get any(): boolean {
    return this.#forks || this.#places.size > 0;
  }

  note(invocation: Invocation, ended: Ended): void {
    const top = join(this.#world.root, "w");
    const there = new Set([...this.#world.places(), ...namesIn(top).map((name) => join(top, name))].map(identityOf));
    for (const place of this.#places) if (!there.has(place)) this.#places.delete(place);
    const place = identityOf(this.#world.placeOf(invocation.cwd));
    const isFork = invocation.args[0] === "fork";
    if (ended.killed && isFinishedLater(invocation)) {
      this.#places.add(place);
      if (isFork) this.#forks = true;
    } else if (isFork && ended.code === 1 && DISK_TROUBLE.test(ended.stderr)) {
      this.#forks = true;
    } else if (!ended.killed && ended.code === 0 && finishesOthers(invocation)) {
      // A command that fails may have failed before it came to that.
      this.#places.delete(place);
      this.#forks = false;
    }
  }
}

function identityOf(place: string): string {
  const stat = statSync(place, { throwIfNoEntry: false });
  return stat ? `${stat.dev}.${stat.ino}` : place;
}
