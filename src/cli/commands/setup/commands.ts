/** Command table: starting and stopping recording. */
import { type CommandSpec, command, JSON_OPTION, lazy, YES } from "../../program/spec.ts";

export const enableCommand = command({
  path: "enable",
  group: "Start and stop",
  summary: "record the agents that work in this folder",
  details:
    "Puts Backtrail's hooks into the agents' own settings, so that every turn is recorded from now on. Only our entries are added; `backtrail disable` leaves each file as it was. In a git repository nothing new shows up in `git status`. With --scope user, every git repository of yours is recorded, except those that the setting `scope.exclude` names and those where you run `backtrail disable`.",
  options: [
    { flags: "-a, --agent <id...>", help: "these agents (default: those found here)", completes: "agent" },
    {
      flags: "-s, --scope <scope>",
      help: "local: only you, only here (default); project: the shared settings; user: your own settings, for every git repository",
      choices: ["local", "project", "user"],
    },
    { flags: "--external", help: "the named agents may be programs: backtrail-agent-<id> on PATH" },
    { flags: "--mcp", help: "also let the agents ask Backtrail: they start its MCP server (docs/mcp.md)" },
    {
      flags: "--commands",
      help: "also add /backtrail-log, /backtrail-undo and /backtrail-why to agents with commands",
    },
    {
      flags: "--trust",
      help: "you know these hooks: an agent that wants them reviewed first (Codex) is told that you have",
    },
    {
      flags: "--strategy <name>",
      help: "manual-commit: you or the agent commit (default); auto-commit: a commit after each turn",
      choices: ["manual-commit", "auto-commit"],
    },
    { flags: "-f, --force", help: "write the hooks again, even where they seem to be in place" },
    YES,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail enable", "the agents found here"],
    ["backtrail enable --agent claude-code", "this one"],
    ["backtrail enable --scope user", "every git repository of yours"],
    ["backtrail enable --mcp", "agents can ask Backtrail"],
    ["backtrail enable --agent codex --trust", "Codex asks nothing about the hooks"],
  ],
});

export const disableCommand = command({
  path: "disable",
  group: "Start and stop",
  summary: "stop recording; what was recorded stays",
  details:
    "Takes Backtrail's hooks out of the agents' settings again and leaves each file as it was before `enable`. What was recorded stays and can be used after the next `backtrail enable`. In a repository that is recorded by `enable --scope user`, it excludes that repository.",
  options: [
    { flags: "-a, --agent <id...>", help: "only these agents", completes: "agent" },
    { flags: "-s, --scope <scope>", help: "user: take back `enable --scope user`", choices: ["user"] },
    YES,
    JSON_OPTION,
  ],
});

export const watchCommand = command({
  path: "watch",
  group: "Start and stop",
  summary: "record an agent without hooks (Aider), while it runs",
  details:
    "Some agents have no hooks, but write down what they do. This follows what they write and records their turns, until you stop it. Run it in a terminal of its own beside the agent.",
  options: [
    { flags: "-a, --agent <id>", help: "only this agent (default: those connected here)", completes: "agent" },
    { flags: "--file <path>", help: "what it writes, where that is not in its usual place", completes: "path" },
  ],
  examples: [
    ["backtrail enable --agent aider", "once"],
    ["backtrail watch", "then start aider in another terminal"],
  ],
});

export const statusCommand = command({
  path: "status",
  group: "Start and stop",
  summary: "what is recorded here, and by which agents",
  details: "Whether Backtrail is on here, which agents are connected, and which sessions are open. Changes nothing.",
  options: [JSON_OPTION],
});

export const SETUP_COMMANDS: readonly CommandSpec[] = [
  lazy(enableCommand, () => import("./enable.ts")),
  lazy(disableCommand, () => import("./disable.ts")),
  lazy(watchCommand, () => import("./watch.ts")),
  lazy(statusCommand, () => import("./status.ts")),
];
