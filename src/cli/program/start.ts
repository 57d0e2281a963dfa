/** Starting and stopping to record. A part of the table of commands. */
import { type CommandSpec, JSON_OPTION, YES } from "./spec.ts";

export const START: readonly CommandSpec[] = [
  {
    path: "enable",
    group: "Start and stop",
    summary: "record the agents that work in this folder",
    details:
      "Puts Backtrail's hooks into the agents' own settings, so that every turn is recorded from now on. Only our entries are added; `backtrail disable` leaves each file as it was. In a git repository nothing new shows up in `git status`.",
    options: [
      { flags: "-a, --agent <id...>", help: "these agents (default: those found here)", completes: "agent" },
      {
        flags: "-s, --scope <scope>",
        help: "local: only you, only here (default); project: the shared settings; user: all your repositories",
        choices: ["local", "project", "user"],
      },
      { flags: "--external", help: "the named agents may be programs: backtrail-agent-<id> on PATH" },
      {
        flags: "--trust",
        help: "you know these hooks: an agent that wants them reviewed first (Codex) is told that you have",
      },
      YES,
      JSON_OPTION,
    ],
    examples: [
      ["backtrail enable", "the agents found here"],
      ["backtrail enable --agent claude-code", "this one"],
      ["backtrail enable --scope user", "in every repository of yours"],
      ["backtrail enable --agent codex --trust", "Codex asks nothing about the hooks"],
    ],
    load: () => import("../commands/enable.ts"),
  },
  {
    path: "disable",
    group: "Start and stop",
    summary: "stop recording; what was recorded stays",
    details:
      "Takes Backtrail's hooks out of the agents' settings again and leaves each file as it was before `enable`. What was recorded stays and can be used after the next `backtrail enable`.",
    options: [{ flags: "-a, --agent <id...>", help: "only these agents", completes: "agent" }, YES, JSON_OPTION],
    load: () => import("../commands/disable.ts"),
  },
  {
    path: "watch",
    group: "Start and stop",
    summary: "record an agent without hooks (Aider), while it runs",
    details:
      "Some agents have no hooks, but write down what they do. This follows what they write and records their turns, until you stop it. Run it in a terminal of its own beside the agent.",
    options: [
      { flags: "-a, --agent <id>", help: "only this agent (default: those connected here)", completes: "agent" },
      { flags: "--file <path>", help: "what it writes, where that is not in its usual place" },
    ],
    examples: [
      ["backtrail enable --agent aider", "once"],
      ["backtrail watch", "then start aider in another terminal"],
    ],
    load: () => import("../commands/watch.ts"),
  },
  {
    path: "status",
    group: "Start and stop",
    summary: "what is recorded here, and by which agents",
    details: "Whether Backtrail is on here, which agents are connected, and which sessions are open. Changes nothing.",
    options: [JSON_OPTION],
    load: () => import("../commands/status.ts"),
  },
];
