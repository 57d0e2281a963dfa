/** The sentences for files that are left alone: settings of other tools, our own settings, links, and for times. */
import type { BaseProblem } from "../../../../base/problems.ts";
import { shownPath } from "../../../../base/text.ts";
import type { ConfigProblem } from "../../../../config/problems.ts";
import type { DocumentProblem, EditProblem } from "../../../../edit/problems.ts";
import { TRY_AGAIN, type WordsFor } from "../words.ts";

const MOVE_AWAY = "Move it away and try again.";
const CORRECT = "Correct the file, then try again.";

export const BASE_WORDS: WordsFor<BaseProblem> = {
  "path-outside": ({ path, root }) => [`${shownPath(path)} is outside ${shownPath(root)}.`],
  "path-is-link": ({ path }) => [
    `${shownPath(path)} is a link to somewhere else, and is not written through.`,
    "Replace it by a file or directory of its own.",
  ],
  "path-has-other-names": ({ path }) => [
    `${shownPath(path)} is also another file (a hard link), and is not written to.`,
    "Replace it by a file of its own.",
  ],
  "not-a-date": ({ text }) => [
    `"${text}" is not a time.`,
    'Use something like "2 hours ago", 2d, yesterday, 2026-11-17 or "2026-11-17 14:30".',
  ],
};

export const CONFIG_WORDS: WordsFor<ConfigProblem> = {
  "no-repository-for-setting": () => [
    "There is no repository here to keep a setting in.",
    "Give --user to set it everywhere.",
  ],
  "settings-unreadable": ({ file, reason }) => [`${file} cannot be read: ${reason}`, CORRECT],
  "settings-not-an-object": ({ file }) => [`${file} does not hold a JSON object.`, CORRECT],
};

export const EDIT_WORDS: WordsFor<EditProblem> = {
  "file-locked": ({ path }) => [`Another Backtrail is changing ${shownPath(path)} right now.`, TRY_AGAIN],
  "file-unsupported": ({ path, reason }) => [
    `${shownPath(path)} was left as it is: ${documentProblemText(reason)}.`,
    "Correct the file (or move it away) and run the command again.",
  ],
  "file-changed-meanwhile": ({ path }) => [`${shownPath(path)} changed while it was being edited.`, "Try again."],
  "link-leads-outside": ({ path, real, within }) => [
    `${shownPath(path)} leads to ${shownPath(real)}, outside ${shownPath(within)}; it was left alone.`,
    "Replace the symbolic link by a file of its own, or use `--scope user`.",
  ],
  "file-not-written": ({ path, code }) => [
    `${shownPath(path)} could not be written (${code === "ENOSPC" ? "the disk is full" : code}).`,
    "Nothing was changed in it.",
  ],
  "file-in-the-way": ({ path }) => [
    `${shownPath(path)} can't be made: a file is where its directory should be.`,
    "Move that file away.",
  ],
  "settings-file-unreadable": ({ path, code }) => [
    `${shownPath(path)} can't be read (${code}).`,
    "Check who owns it and its permissions.",
  ],
  "directory-unreachable": ({ path, code }) => [
    `${shownPath(path)} can't be reached (${code}).`,
    "Check the permissions of its directory.",
  ],
  "link-dangling": ({ path, to }) => [
    `${shownPath(path)} is a symbolic link to nothing.`,
    `Make the ${to} it names, or remove the link.`,
  ],
  "is-directory": ({ path }) => [`${shownPath(path)} is a directory, not a file.`, MOVE_AWAY],
  "not-regular": ({ path }) => [`${shownPath(path)} is not a regular file.`, MOVE_AWAY],
  "read-only": ({ path }) => [
    `${shownPath(path)} is read-only.`,
    "Make it writable, or choose another place with `--scope`.",
  ],
};

/** Continues a sentence that names the file. */
function documentProblemText(problem: DocumentProblem): string {
  switch (problem.kind) {
    case "not-ours":
      return "it is not Backtrail's, and the hooks need a file of that name";
    case "nothing-to-write":
      return "there is nothing to write into it";
    case "too-large":
      return "it is far too large for a settings file";
    case "not-utf8":
      return "it is not UTF-8 text";
    case "not-json":
      return `it is not valid JSON (${lowerFirst(problem.reason)})`;
    case "not-toml": {
      const line = problem.line === null ? "" : ` in line ${problem.line}`;
      return `it is not valid TOML (${lowerFirst(problem.reason)}${line})`;
    }
    case "key-unreadable":
      return "it has a key that can't be read";
    case "key-ambiguous":
      return `${entryName(problem.path)} in it is both a table and a value`;
    case "key-exists":
      return `it already has ${entryName(problem.path)}`;
    case "nothing-at":
      return `it has no ${entryName(problem.path)}`;
    case "wrong-type": {
      const expected = problem.expected === "list" ? "a list" : "an object";
      return problem.path.length === 0
        ? `it does not hold ${expected}`
        : `${entryName(problem.path)} in it is not ${expected}`;
    }
    case "not-array-of-tables":
      return `its "${problem.key}" is not an array of tables`;
    case "entry-not-ours":
      return `${entryName(problem.path)} in it is not ours`;
    case "not-written":
      return "our entries could not be written into it";
    case "not-separable":
      return "changing it would also change entries that are not Backtrail's";
  }
}

function entryName(path: readonly (string | number)[]): string {
  return JSON.stringify(path.join("."));
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
