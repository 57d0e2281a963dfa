/** Command table: settings. */
import { DRY_RUN, JSON_OPTION, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy, type OptionSpec } from "../../program/spec.ts";

const command = commandsOf("Set up");

const SCOPES = [
  { flags: "--user", help: "for you, in all repositories", conflicts: ["project", "local"] },
  { flags: "--project", help: "for everybody, in the repository's shared file", conflicts: ["local"] },
  { flags: "--local", help: "for you, in this repository (default)" },
] as const satisfies readonly OptionSpec[];

const configCommand = command("config", "view and change settings", {
  details:
    "Settings come from these places; later ones override earlier ones: defaults, your own settings (--user), the repository's shared .backtrail/settings.json (--project) and .backtrail/settings.local.json, your own settings for this repository (--local), BACKTRAIL_* variables. The repository's files may come from somebody else, so settings there that make anything less safe are ignored until you accept them with `config trust`.",
  examples: [
    ["backtrail config", "every setting and its origin"],
    ["backtrail config set tier aggressive", "for you, here"],
    ["backtrail config set --user retention.days 90", "for you, everywhere"],
    ["backtrail config trust", "accept its settings"],
  ],
});

export const configListCommand = command("config list", "list settings, their values and origins (default)", {
  options: [{ flags: "--changed", help: "only settings that differ from the defaults" }, JSON_OPTION],
  isDefault: true,
});

export const configGetCommand = command("config get", "print the value of a setting", {
  arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
  options: [JSON_OPTION],
});

export const configSetCommand = command("config set", "change a setting", {
  arguments: [
    { name: "<key>", help: "the setting", completes: "setting" },
    { name: "<value>", help: "the new value; a list with commas or as JSON", completes: "value" },
  ],
  options: [...SCOPES, JSON_OPTION],
});

export const configUnsetCommand = command("config unset", "remove a setting", {
  arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
  options: [...SCOPES, JSON_OPTION],
});

export const configTrustCommand = command("config trust", "accept the settings in a repository's files", {
  details:
    "Files in a repository (.backtrail/settings.json, .backtrail/settings.local.json, .backtrail/agents/) may have come with a clone or an archive, so Backtrail ignores some of them. This command shows the ignored settings and copies their current values to your own settings for this repository. Later changes to the files are ignored again until you accept them.",
  arguments: [{ name: "[key...]", help: "only these settings (default: all ignored ones)", completes: "setting" }],
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
