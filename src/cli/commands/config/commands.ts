/** Command table: settings. */
import { type CommandSpec, command, DRY_RUN, JSON_OPTION, lazy, type OptionSpec, YES } from "../../program/spec.ts";

const SCOPES = [
  { flags: "--user", help: "in your own file, for all repositories", conflicts: ["project", "local"] },
  { flags: "--project", help: "in the repository's shared file", conflicts: ["local"] },
  { flags: "--local", help: "for you, in this repository (default)" },
] as const satisfies readonly OptionSpec[];

const configCommand = command({
  path: "config",
  group: "Set up",
  summary: "view and change settings",
  details:
    "Settings are read in layers, the later winning: built-in, your own (--user), the repository's shared .backtrail/settings.json (--project) and .backtrail/settings.local.json, your own for this repository (--local), BACKTRAIL_* variables. The repository's files may have come with it, so they can't make anything less safe: what they ask for beyond that is ignored until you accept it with `config trust`.",
  examples: [
    ["backtrail config", "every setting and its origin"],
    ["backtrail config set tier aggressive", "for you, here"],
    ["backtrail config set --user retention.days 90", "for you, everywhere"],
    ["backtrail config trust", "accept what it asks for"],
  ],
});

export const configListCommand = command({
  path: "config list",
  group: "Set up",
  summary: "every setting, its value and where it comes from (default)",
  options: [{ flags: "--changed", help: "only those that differ from the built-in ones" }, JSON_OPTION],
  isDefault: true,
});

export const configGetCommand = command({
  path: "config get",
  group: "Set up",
  summary: "one setting's value",
  arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
  options: [JSON_OPTION],
});

export const configSetCommand = command({
  path: "config set",
  group: "Set up",
  summary: "change a setting",
  arguments: [
    { name: "<key>", help: "the setting", completes: "setting" },
    { name: "<value>", help: "its new value; a list with commas, or as JSON", completes: "value" },
  ],
  options: [...SCOPES, JSON_OPTION],
});

export const configUnsetCommand = command({
  path: "config unset",
  group: "Set up",
  summary: "take a setting out of a file",
  arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
  options: [...SCOPES, JSON_OPTION],
});

export const configTrustCommand = command({
  path: "config trust",
  group: "Set up",
  summary: "accept settings that a repository's files ask for",
  details:
    "Files in a repository (.backtrail/settings.json, .backtrail/settings.local.json, .backtrail/agents/) may have come with a clone or an archive, so some of what they say is ignored. This shows what, and makes it your own setting for this repository. Only the present values are accepted: a later change of the files counts no more than before.",
  arguments: [{ name: "[key...]", help: "only these settings (default: all that are ignored)", completes: "setting" }],
  options: [YES, DRY_RUN, JSON_OPTION],
});

export const CONFIG_COMMANDS: readonly CommandSpec[] = [
  configCommand,
  lazy(configListCommand, () => import("./list.ts")),
  lazy(configGetCommand, () => import("./get.ts")),
  lazy(configSetCommand, () => import("./set.ts")),
  lazy(configUnsetCommand, () => import("./unset.ts")),
  lazy(configTrustCommand, () => import("./trust.ts")),
];
