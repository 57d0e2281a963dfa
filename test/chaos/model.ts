/**
 * The oracle. It compares the world before a command of Backtrail's with the world after it, and knows nothing of how Backtrail
 * works: what was there must be in place, in a step, in a commit or stash of the user's, or where the output says that it is.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { allowanceOf } from "./allowances.ts";
import { type Census, contentOf } from "./census.ts";
import { keptBytes } from "./content.ts";
import { contentsElsewhere } from "./elsewhere.ts";
import type { Ended, Invocation } from "./invocation.ts";
import { Unfinished } from "./unfinished.ts";
import type { World } from "./world.ts";

export interface Violation {
  kind:
    | "lost"
    | "ignored"
    | "staged"
    | "refs"
    | "stash"
    | "files"
    | "step"
    | "transcript"
    | "conversation"
    | "commit"
    | "unreadable"
    | "hang"
    | "crash"
    | "unsound";
  message: string;
  /** The command that it came after. */
  command?: string;
}

/** What others did while a command ran. */
export interface Meanwhile {
  written: ReadonlySet<string>;
  removed: ReadonlySet<string>;
  touched: ReadonlySet<string>;
  /** They used git: index and refs are theirs. */
  git: boolean;
  any: boolean;
}

export const NO_AGENT: Meanwhile = {
  written: new Set(),
  removed: new Set(),
  touched: new Set(),
  git: false,
  any: false,
};

const EMPTY_FILE = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
/** Exit statuses that say: refused, nothing was done. */
const REFUSALS = new Set([2, 3, 4]);
const EXIT_STATUSES = new Set([0, 1, 2, 3, 4, 130]);

export class Oracle {
  readonly #world: World;
  /** Every content that was ever seen in a file or staged, with a word on where. */
  readonly contents = new Map<string, string>();
  /** Contents that only the directory of a killed command has; the next command must put them where they are found. */
  #limbo = new Set<string>();
  readonly #unfinished: Unfinished;
  /** A `forget` failed, so that a later command may finish it. */
  #isForgetting = false;
  /** Ignored files that Backtrail has written itself, such as those that a fork tracks, with their content. */
  readonly #brought = new Set<string>();
  /** Forks that were to be dropped with everything in them; a killed drop is finished later. */
  readonly #dropped = new Set<string>();
  /** The contents of ignored files in those forks. */
  readonly #givenUp = new Set<string>();
  /** Commits are made by Backtrail after each turn. */
  autoCommit = false;

  constructor(world: World) {
    this.#world = world;
    this.#unfinished = new Unfinished(world);
  }

  /** After something that the user or an agent did: what they destroy themselves is theirs, but steps stay. */
  othersDid(before: Census, after: Census): Violation[] {
    this.#learn(after);
    return this.#stepsGone(before, after);
  }

  /** After a command of Backtrail's has ended, by itself or by a kill. */
  commandDid(invocation: Invocation, ended: Ended, before: Census, after: Census, meanwhile: Meanwhile): Violation[] {
    this.#learn(after);
    const pending = this.#unfinished.any;
    this.#unfinished.note(invocation, ended);
    const allowance = allowanceOf(invocation, this.autoCommit);
    // What was to be forgotten goes with a later command, if the disk was full.
    this.#isForgetting ||= invocation.args[0] === "forget" && ended.code !== 0;
    const found = [
      ...this.#ending(invocation, ended),
      ...this.#contentsLost(invocation, ended, before, after, meanwhile),
      ...this.#commitsLost(ended, before, after),
      ...this.#ignoredTouched(invocation, before, after, meanwhile),
      ...(allowance.steps || this.#isForgetting ? [] : this.#stepsGone(before, after)),
      ...(allowance.transcripts || pending ? [] : this.#transcriptsChanged(before, after, meanwhile)),
      ...after.broken.map((what): Violation => ({ kind: "unreadable", message: what })),
    ];
    for (const [path, entry] of after.ignored) {
      const isThere = (before.ignored.get(path) ?? before.files.get(path)) === entry;
      if (!isThere && !meanwhile.touched.has(path)) this.#brought.add(`${path} ${entry}`);
    }
    const refused = ended.code !== null && REFUSALS.has(ended.code);
    if (!pending && !meanwhile.git) {
      const files = refused ? "none" : allowance.files;
      if (files !== "all") {
        found.push(...this.#filesChanged(before, after, meanwhile, files === "places"));
        found.push(...this.#stagedChanged(before, after));
      }
      if (!allowance.refs || refused) found.push(...this.#refsChanged(before, after));
    }
    const name = `${invocation.args.slice(0, 4).join(" ")} (exit ${ended.killed ? "killed" : ended.code})`;
    return found.map(({ kind, message }) => ({
      kind,
      message: `${message}\n    after ${name}`,
      command: shortName(invocation),
    }));
  }

  #learn(census: Census): void {
    for (const [path, entry] of [...census.files, ...census.ignored]) {
      const content = contentOf(entry);
      if (!this.contents.has(content)) this.contents.set(content, path);
    }
    for (const content of census.staged) if (!this.contents.has(content)) this.contents.set(content, "staged");
    this.contents.delete(EMPTY_FILE);
  }

  #ending(invocation: Invocation, ended: Ended): Violation[] {
    if (ended.timedOut) return [{ kind: "hang", message: "It did not end." }];
    if (ended.killed) return [];
    const isFault = ended.code === null || !EXIT_STATUSES.has(ended.code) || /\n\s+at .+:\d+:\d+/.test(ended.stderr);
    if (isFault && invocation.args[0] !== "run") return [{ kind: "crash", message: ended.stderr.slice(0, 2000) }];
    return [];
  }

  #contentsLost({ args }: Invocation, ended: Ended, before: Census, after: Census, meanwhile: Meanwhile): Violation[] {
    const owed = new Set([...this.#limbo, ...meanwhile.written]);
    for (const entry of before.files.values()) owed.add(contentOf(entry));
    for (const [path, entry] of before.ignored) {
      if (this.#isGivenUp(args, path)) this.#givenUp.add(contentOf(entry));
      else owed.add(contentOf(entry));
    }
    for (const content of before.staged) owed.add(content);
    for (const content of before.reachable) if (this.contents.has(content)) owed.add(content);
    const held = this.#heldIn(after);
    const missing = [...owed].filter(
      (content) =>
        content !== EMPTY_FILE &&
        !this.#givenUp.has(content) &&
        !held.has(content) &&
        // Whether bytes come back as they were is seen at the end, by going back.
        !held.has(keptBytes(content)) &&
        !meanwhile.removed.has(content),
    );
    if (missing.length === 0) {
      this.#limbo = new Set();
      return [];
    }
    const elsewhere = contentsElsewhere(this.#world, new Set(missing));
    const lost = missing.filter((content) => !elsewhere.named.has(content));
    // A killed command may have moved a file aside that the next one has to put somewhere.
    const waits = ended.killed || this.#unfinished.any;
    this.#limbo = new Set(waits ? lost.filter((content) => elsewhere.unnamed.has(content)) : []);
    return lost
      .filter((content) => !this.#limbo.has(content))
      .map((content) => {
        const where = elsewhere.unnamed.get(content);
        const hint = where ? `; it lies in ${where}, which nobody was told` : "";
        return { kind: "lost", message: `The content ${content} of ${this.#placeOf(content, before)} is lost${hint}.` };
      });
  }

  #placeOf(content: string, before: Census): string {
    for (const [path, entry] of [...before.files, ...before.ignored]) if (contentOf(entry) === content) return path;
    return before.staged.has(content) ? `the index (${this.contents.get(content)})` : `${this.contents.get(content)}`;
  }

  /** Every content that can be found again. */
  #heldIn(census: Census): Set<string> {
    const held = new Set(census.reachable);
    for (const entry of [...census.files.values(), ...census.ignored.values()]) held.add(contentOf(entry));
    for (const content of census.staged) held.add(content);
    for (const step of census.steps.values()) for (const content of step.entries.values()) held.add(content);
    for (const [ref, objects] of census.kept) {
      if (this.#world.said.includes(ref)) for (const id of objects) held.add(id);
    }
    return held;
  }

  /** A killed command could not say which refs hold commits; the command that finishes its work does. */
  #commitsLost({ killed }: Ended, before: Census, after: Census): Violation[] {
    const isKnown = (ref: string) => killed || this.#world.said.includes(ref);
    const kept = new Set([...after.kept].flatMap(([ref, ids]) => (isKnown(ref) ? [...ids] : [])));
    return [...before.commits]
      .filter((id) => !after.commits.has(id) && !kept.has(id))
      .map((id) => ({ kind: "commit", message: `The commit ${id} can no longer be reached.` }));
  }

  #ignoredTouched({ args }: Invocation, before: Census, after: Census, meanwhile: Meanwhile): Violation[] {
    return [...before.ignored]
      .filter(([path, entry]) => {
        if (meanwhile.touched.has(path)) return false;
        if ((after.ignored.get(path) ?? after.files.get(path)) === entry) return false;
        return !this.#isGivenUp(args, path) && !this.#brought.has(`${path} ${entry}`);
      })
      .map(([path]) => ({ kind: "ignored", message: `The ignored file ${path} is gone or changed.` }));
  }

  /** An ignored file of a fork that was dropped: no step holds it, and its owner said yes to that. */
  #isGivenUp(args: readonly string[], path: string): boolean {
    const [first, second, fork] = args;
    if (first === "fork" && second === "drop" && fork && args.includes("--yes")) this.#dropped.add(fork);
    // Its directory has another name while it is removed.
    return this.#dropped.has((path.split("/")[1] ?? "").replace(/^\.(.+)\.[k-z]{12}$/, "$1"));
  }

  #stepsGone(before: Census, after: Census): Violation[] {
    return [...before.steps].flatMap(([id, step]): Violation[] => {
      const now = after.steps.get(id);
      if (!now) return [{ kind: "step", message: `The step ${id} is gone.` }];
      const gone = [...step.entries].filter(([path, content]) => now.entries.get(path) !== content);
      return gone.map(([path]) => ({ kind: "step", message: `The step ${id} no longer has ${path}.` }));
    });
  }

  #transcriptsChanged(before: Census, after: Census, meanwhile: Meanwhile): Violation[] {
    return [...before.transcripts]
      .filter(([path, entry]) => !meanwhile.touched.has(path) && after.transcripts.get(path) !== entry)
      .map(([path]) => ({ kind: "transcript", message: `The conversation ${path} is gone or changed.` }));
  }

  #filesChanged(before: Census, after: Census, meanwhile: Meanwhile, onlyInPlaces: boolean): Violation[] {
    const places = [...before.workTrees.keys()].filter((place) => after.workTrees.has(place));
    const stays = (path: string) => places.some((place) => path.startsWith(`${place}/`));
    const all = (census: Census) => new Map([...census.files, ...census.ignored]);
    const [then, now] = [all(before), all(after)];
    return [...new Set([...then.keys(), ...now.keys()])]
      .filter((path) => then.get(path) !== now.get(path) && !meanwhile.touched.has(path))
      .filter((path) => !onlyInPlaces || stays(path))
      .filter((path) => !meanwhile.any || !hasOtherNames(join(this.#world.root, path)))
      .map((path) => {
        const what = then.has(path) ? (now.has(path) ? "was changed" : "was removed") : "was made";
        return { kind: "files", message: `${path} ${what} by a command that must not.` };
      });
  }

  #stagedChanged(before: Census, after: Census): Violation[] {
    return [...before.workTrees].flatMap(([place, { index }]): Violation[] => {
      const now = after.workTrees.get(place);
      if (!now || index === null || now.index === null || now.index === index) return [];
      return [{ kind: "staged", message: `What is staged in ${place} was changed:\n${difference(index, now.index)}` }];
    });
  }

  #refsChanged(before: Census, after: Census): Violation[] {
    const found: Violation[] = [];
    const names = new Set([...before.refs.keys(), ...after.refs.keys()]);
    for (const name of names) {
      const [then, now] = [before.refs.get(name), after.refs.get(name)];
      if (then !== now)
        found.push({ kind: "refs", message: `${name} was ${then ?? "absent"} and is ${now ?? "gone"}.` });
    }
    for (const [place, { head }] of before.workTrees) {
      const now = after.workTrees.get(place)?.head;
      if (now !== undefined && now !== head)
        found.push({ kind: "refs", message: `HEAD of ${place}: ${head}, now ${now}.` });
    }
    if (before.stash !== after.stash) found.push({ kind: "stash", message: "The stash was changed." });
    return found;
  }
}

function shortName({ args: [first = "", second = ""] }: Invocation): string {
  const isPart = first === "hooks" || (first === "fork" && ["take", "drop", "list", "diff"].includes(second));
  return isPart ? `${first}-${second}` : first;
}

function difference(before: string, after: string): string {
  const [then, now] = [before.split("\0"), after.split("\0")];
  return [
    ...then.filter((line) => !now.includes(line)).map((line) => `      - ${line}`),
    ...now.filter((line) => !then.includes(line)).map((line) => `      + ${line}`),
  ].join("\n");
}

/** A file with several names changes under all of them. */
function hasOtherNames(path: string): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1;
}
