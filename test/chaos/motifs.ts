/** Sequences that are rare by chance alone, although work consists of them. Only the kinds are fixed, the rest is drawn. */
import type { Random } from "../fuzz/random.ts";

export interface Motif {
  /** Names of actions. */
  names: string[];
  /** Which of them is killed; -1: none. */
  killed: number;
}

/** What the user does next when a command was killed, or between two commands. */
const WORK = [
  "edit in place",
  "edit in place",
  "edit by rename",
  "write anew",
  "edit and keep the times",
  "write mapped",
  "delete",
  "move a file",
  "change the case of a name",
  "link in place of a file",
  "link in place of a directory",
  "file in place of a directory",
  "directory in place of a file",
  "write an ignored file",
  "ignored in place of another",
  "track an ignored file",
  "stage a part",
  "stage a part",
  "stage everything",
  "unstage",
  "commit everything",
  "switch",
];
const RESTORES = ["rewind", "rewind", "undo", "redo", "fork take"];
const NEXT = ["log", "save", "rewind", "redo", "doctor --fix", "claude is asked", "fork"];

export function motif(random: Random): Motif {
  switch (random.below(6)) {
    // A restore is killed, the user works on, and the next command has to make the best of it.
    case 0:
    case 1:
      return killedRestore(random);
    // What was looked at a while ago changes again.
    case 2: {
      const again = random.pick(["write mapped", "edit and keep the times", "edit in place", "edit by rename"]);
      return { names: [again, "wait", "save", again, random.pick(RESTORES), "redo"], killed: -1 };
    }
    case 3:
      return { names: ["fork", ...work(random, 3), random.pick(["fork drop", "fork take", "rewind"])], killed: -1 };
    case 4:
      return { names: ["fork", ...work(random, 1), random.pick(NEXT), ...work(random, 2), "fork drop"], killed: 0 };
    default:
      return { names: ["claude is asked", "claude writes", ...work(random, 2), "claude answers", "undo"], killed: -1 };
  }
}

function killedRestore(random: Random): Motif {
  const before = work(random, 2);
  const names = [...before, random.pick(RESTORES), ...work(random, 3), random.pick(NEXT)];
  return { names, killed: before.length };
}

function work(random: Random, most: number): string[] {
  return Array.from({ length: 1 + random.below(most) }, () => random.pick(WORK));
}
