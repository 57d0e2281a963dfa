/** Settings. A part of the table of commands. */
import { type CommandSpec, JSON_OPTION, type OptionSpec } from "./spec.ts";

export const SETTINGS: readonly CommandSpec[] = [
  {
    path: "config",
    group: "Set up",
    summary: "settings: what holds, where it comes from, and changing it",
    details:
      "Settings are read in layers, the later winning: built-in, your own (--user), the repository's shared .backtrail/settings.json (--project), its .backtrail/settings.local.json (--local), BACKTRAIL_* variables.",
    examples: [
      ["backtrail config", "every setting and its origin"],
      ["backtrail config set tier aggressive", "for you, here"],
      ["backtrail config set --user retention.days 90", "for you, everywhere"],
    ],
  },
  {
    path: "config list",
    group: "Set up",
    summary: "every setting, its value and where it comes from (default)",
    options: [{ flags: "--changed", help: "only those that differ from the built-in ones" }, JSON_OPTION],
    isDefault: true,
    load: () => import("../commands/config/list.ts"),
  },
  {
    path: "config get",
    group: "Set up",
    summary: "one setting's value",
    arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
    options: [JSON_OPTION],
    load: () => import("../commands/config/get.ts"),
  },
  {
    path: "config set",
    group: "Set up",
    summary: "change a setting",
    arguments: [
      { name: "<key>", help: "the setting", completes: "setting" },
      { name: "<value>", help: "its new value; a list with commas, or as JSON" },
    ],
    options: [...scopeOptions(), JSON_OPTION],
    load: () => import("../commands/config/set.ts"),
  },
  {
    path: "config unset",
    group: "Set up",
    summary: "take a setting out of a file",
    arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
    options: [...scopeOptions(), JSON_OPTION],
    load: () => import("../commands/config/unset.ts"),
  },
];

function scopeOptions(): OptionSpec[] {
  return [
    { flags: "--user", help: "in your own file, for all repositories", conflicts: ["project", "local"] },
    { flags: "--project", help: "in the repository's shared file", conflicts: ["local"] },
    { flags: "--local", help: "for you, in this repository (default)" },
  ];
}
