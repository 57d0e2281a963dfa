/** Command table: agents. */
import { HOOK_FORMATS } from "../../../agents/authoring/capture/hook-formats.ts";
import { type CommandSpec, command, JSON_OPTION, lazy } from "../../program/spec.ts";

const agentsCommand = command({
  path: "agents",
  group: "Set up",
  summary: "the agents that Backtrail knows, and how to add one",
  details: "The agents that Backtrail knows: what can be done with each, which are used here, and how to add one.",
});

export const agentsListCommand = command({
  path: "agents list",
  group: "Set up",
  summary: "all agents and what works with each (default)",
  options: [JSON_OPTION],
  isDefault: true,
});

export const agentsShowCommand = command({
  path: "agents show",
  group: "Set up",
  summary: "one agent: its hooks, files and commands",
  arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
  options: [JSON_OPTION],
});

export const agentsDetectCommand = command({
  path: "agents detect",
  group: "Set up",
  summary: "which agents are used here, and why we think so",
  options: [JSON_OPTION],
});

export const agentsRecordCommand = command({
  path: "agents record",
  group: "Set up",
  summary: "record what an agent sends and writes, to describe it",
  details:
    "Records what an agent's hooks send and which files grow while you work with it, until Ctrl-C or --stop. " +
    "Secrets are replaced. The recording stays on this machine, and nothing in it is ever executed.",
  arguments: [{ name: "<id>", help: "the agent: small letters, digits and dashes" }],
  options: [
    { flags: "--hooks <file>", help: "put the recording hooks into this settings file, and take them out at the end" },
    { flags: "--format <format>", help: "the form of that file", choices: HOOK_FORMATS },
    { flags: "--events <names>", help: "the agent's names for its events, with commas" },
    { flags: "--watch <directory...>", help: "another directory in which the agent writes" },
    { flags: "--stop", help: "end the recording that is under way" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail agents record mine", "print its hooks"],
    ["backtrail agents record mine --hooks ~/.mine.json", "install them"],
  ],
});

export const agentsCheckCommand = command({
  path: "agents check",
  group: "Set up",
  summary: "prove a profile against what was recorded of its agent",
  arguments: [{ name: "<agent>", help: "the agent, or the file of a profile", completes: "agent" }],
  options: [
    { flags: "--from <recording>", help: "the directory of a recording" },
    { flags: "--fixtures <directory>", help: "where payloads/ and transcripts/ are" },
    { flags: "--all", help: "every line of every transcript" },
    JSON_OPTION,
  ],
});

export const agentsNewCommand = command({
  path: "agents new",
  group: "Set up",
  summary: "start a profile for an agent of your own",
  arguments: [{ name: "<id>", help: "small letters, digits and dashes" }],
  options: [
    { flags: "--from <recording>", help: "propose the profile from this recording" },
    { flags: "--force", help: "replace the profile that is there" },
    JSON_OPTION,
  ],
});

export const AGENT_COMMANDS: readonly CommandSpec[] = [
  agentsCommand,
  lazy(agentsListCommand, () => import("./list.ts")),
  lazy(agentsShowCommand, () => import("./show.ts")),
  lazy(agentsDetectCommand, () => import("./detect.ts")),
  lazy(agentsRecordCommand, () => import("./record.ts")),
  lazy(agentsNewCommand, () => import("./new.ts")),
  lazy(agentsCheckCommand, () => import("./check.ts")),
];
