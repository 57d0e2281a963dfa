/** Command table: searching everything that agents did. */
import { UserError } from "../../../base/errors.ts";
import { JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Look back");

export const searchCommand = command("search", "find what agents were asked, said, ran and changed", {
  details:
    'Searches the sessions of every agent in all your repositories, recorded or not, and the lines that turns added and removed. Words match identifiers and parts of them, in any case: refresh finds tokenRefreshSession. "Quoted text" is literal, word* is a prefix, -word excludes. Filters: agent: repo: session: branch: commit: file: field: model: since: before: tag: cost: and is:undone, kept, committed, green, red, fork, subagent, run. Fields: prompt, answer, thinking, command, output, added, removed, path.',
  arguments: [{ name: "[words...]", help: "the words to find", completes: "query" }],
  options: [
    { flags: "--here", help: "only this repository" },
    {
      flags: "--team",
      help: "search your team's turns instead of this machine",
      conflicts: ["added", "removed", "alive", "rebuild", "best"],
    },
    { flags: "-l, --limit <hits>", help: "show at most this many hits (default: 20; 0: all)", parse: hits },
    { flags: "--best", help: "sort by relevance instead of time" },
    { flags: "--added <text>", help: "turns that added a line with this text" },
    { flags: "--removed <text>", help: "turns that removed a line with this text" },
    { flags: "--alive", help: "count the added lines that still exist" },
    { flags: "--rebuild", help: "rebuild the index first" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail search token refresh", "where was this solved?"],
    ["backtrail search --removed 'retry('", "which turn removed it?"],
    ["backtrail search ENOENT field:output since:2d", "recent failures"],
    ["backtrail search cache is:undone --here", "undone turns in this repository"],
  ],
});

export const SEARCH_COMMANDS: readonly CommandSpec[] = [lazy(searchCommand, () => import("./search.ts"))];

function hits(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of hits.`, "Give a whole number; 0 means all of them.");
}
