/** The sentences for files that are left alone: settings of other tools, our own settings, links, and for times. */
import type { BaseProblem } from "../../../base/problems.ts";
import { shownPath } from "../../../base/text.ts";
import type { ConfigProblem } from "../../../config/problems.ts";
import type { EditProblem } from "../../../edit/problems.ts";
import { TRY_AGAIN, type WordsFor } from "./words.ts";

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
    `${shownPath(path)} was left as it is: ${reason}.`,
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
    `${shownPath(path)} can't be made: a file stands where its directory should be.`,
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
