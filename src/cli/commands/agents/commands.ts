/** Command table: agents. */
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

export const agentsCheckCommand = command({
  path: "agents check",
  group: "Set up",
  summary: "prove a profile against its recorded payloads",
  arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
  options: [{ flags: "--fixtures <directory>", help: "where payloads/ and transcripts/ are" }, JSON_OPTION],
});

export const agentsNewCommand = command({
  path: "agents new",
  group: "Set up",
  summary: "start a profile for an agent of your own",
  arguments: [{ name: "<id>", help: "small letters, digits and dashes" }],
  options: [JSON_OPTION],
});

export const AGENT_COMMANDS: readonly CommandSpec[] = [
  agentsCommand,
  lazy(agentsListCommand, () => import("./list.ts")),
  lazy(agentsShowCommand, () => import("./show.ts")),
  lazy(agentsDetectCommand, () => import("./detect.ts")),
  lazy(agentsCheckCommand, () => import("./check.ts")),
  lazy(agentsNewCommand, () => import("./new.ts")),
];
