/** Command table: searching everything that agents did. */
import { UserError } from "../../../base/errors.ts";
import { type CommandSpec, command, JSON_OPTION, lazy } from "../../program/spec.ts";

export const searchCommand = command({
  path: "search",
  group: "Look back",
  summary: "find what agents were asked, said, ran and changed",
  details:
    'Searches the sessions of every agent in every repository of yours, recorded or not, and the lines that turns added and removed. Words match whole identifiers and their parts, in any case: refresh finds tokenRefreshSession. "Quoted text" is literal, word* is a prefix, -word excludes. Filters: agent: repo: session: branch: commit: file: field: model: since: before: tag: cost: and is:undone, kept, committed, green, red, fork, subagent, run. Fields: prompt, answer, thinking, command, output, added, removed, path.',
  arguments: [{ name: "[words...]", help: "what to look for", completes: "query" }],
  options: [
    { flags: "--here", help: "only this repository" },
    {
      flags: "--team",
      help: "what your team shares, instead of what is on this machine",
      conflicts: ["added", "removed", "alive", "rebuild", "best"],
    },
    { flags: "-l, --limit <hits>", help: "at most that many hits (default: 20; 0: all)", parse: hits },
    { flags: "--best", help: "the best match first, instead of the newest" },
    { flags: "--added <text>", help: "turns that added a line with this text" },
    { flags: "--removed <text>", help: "turns that removed a line with this text" },
    { flags: "--alive", help: "also count the added lines that are still there" },
    { flags: "--rebuild", help: "delete the index first, and make it again" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail search token refresh", "where was this solved?"],
    ["backtrail search --removed 'retry('", "which turn removed it?"],
    ["backtrail search ENOENT field:output since:2d", "what failed lately"],
    ["backtrail search cache is:undone --here", "what was undone here"],
  ],
});

export const SEARCH_COMMANDS: readonly CommandSpec[] = [lazy(searchCommand, () => import("./search.ts"))];

function hits(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of hits.`, "Give a whole number; 0 means all of them.");
}
