/** Command table: starting and stopping recording. */
import { JSON_OPTION, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Start and stop");

export const enableCommand = command("enable", "record the agents that work in this folder", {
  details:
    "Adds Backtrail's hooks to the agents' settings, so that every turn is recorded from now on. `backtrail disable` restores each settings file. `git status` shows nothing new. With --scope user, all your git repositories are recorded, except those in the setting `scope.exclude` and those where you run `backtrail disable`.",
  options: [
    { flags: "-a, --agent <id...>", help: "connect these agents (default: those found here)", completes: "agent" },
    {
      flags: "-s, --scope <scope>",
      help: "local: only you, only here (default); project: the shared settings; user: your own settings, for every git repository",
      choices: ["local", "project", "user"],
    },
    { flags: "--external", help: "allow agents that are programs: backtrail-agent-<id> on PATH" },
    { flags: "--mcp", help: "also give the agents Backtrail's MCP server (docs/mcp.md)" },
    {
      flags: "--commands",
      help: "also add the commands /backtrail-log, /backtrail-undo and /backtrail-why",
    },
    {
      flags: "--trust",
      help: "approve the hooks for an agent that asks you to review them (Codex)",
    },
    {
      flags: "--strategy <name>",
      help: "manual-commit: you or the agent commit (default); auto-commit: a commit after each turn",
      choices: ["manual-commit", "auto-commit"],
    },
    { flags: "-f, --force", help: "write the hooks again, even if they seem to be installed" },
    YES,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail enable", "the agents found here"],
    ["backtrail enable --agent claude-code", "this one"],
    ["backtrail enable --scope user", "all your git repositories"],
    ["backtrail enable --mcp", "agents can query the record"],
    ["backtrail enable --agent codex --trust", "Codex does not ask about the hooks"],
  ],
});

export const disableCommand = command("disable", "stop recording; the record stays", {
  details:
    "Removes Backtrail's hooks and restores the agents' settings files. The record stays and is available again after the next `backtrail enable`. In a repository that is recorded by `enable --scope user`, excludes that repository.",
  options: [
    { flags: "-a, --agent <id...>", help: "only these agents", completes: "agent" },
    { flags: "-s, --scope <scope>", help: "user: undo `enable --scope user`", choices: ["user"] },
    YES,
    JSON_OPTION,
  ],
});

export const watchCommand = command("watch", "record an agent without hooks (Aider), while it runs", {
  details:
    "Some agents have no hooks, but write a transcript. This command follows the transcript and records the turns, until you stop it. Run it in a second terminal beside the agent.",
  arguments: [{ name: "[id]", help: "only this agent (default: those connected here)", completes: "agent" }],
  options: [
    { flags: "-a, --agent <id>", help: "the same as the argument", completes: "agent" },
    { flags: "--file <path>", help: "the transcript, if it is not in the usual place", completes: "path" },
  ],
  examples: [
    ["backtrail enable --agent aider", "once"],
    ["backtrail watch", "then start aider in another terminal"],
  ],
});

export const statusCommand = command("status", "show whether recording is on, and for which agents", {
  details: "Shows whether recording is on here, which agents are connected, and which sessions are open.",
  options: [JSON_OPTION],
});

export const SETUP_COMMANDS: readonly CommandSpec[] = [
  lazy(enableCommand, () => import("./enable.ts")),
  lazy(disableCommand, () => import("./disable.ts")),
  lazy(watchCommand, () => import("./watch.ts")),
  lazy(statusCommand, () => import("./status.ts")),
];
