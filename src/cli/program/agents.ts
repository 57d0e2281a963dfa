/** The agents. A part of the table of commands. */
import { type CommandSpec, JSON_OPTION } from "./spec.ts";

export const AGENTS: readonly CommandSpec[] = [
  {
    path: "agents",
    group: "Set up",
    summary: "the agents that Backtrail knows, and how to add one",
    details: "The agents that Backtrail knows: what can be done with each, which are used here, and how to add one.",
  },
  {
    path: "agents list",
    group: "Set up",
    summary: "all agents and what works with each (default)",
    options: [JSON_OPTION],
    isDefault: true,
    load: () => import("../commands/agents/list.ts"),
  },
  {
    path: "agents show",
    group: "Set up",
    summary: "one agent: its hooks, files and commands",
    arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
    options: [JSON_OPTION],
    load: () => import("../commands/agents/show.ts"),
  },
  {
    path: "agents detect",
    group: "Set up",
    summary: "which agents are used here, and why we think so",
    options: [JSON_OPTION],
    load: () => import("../commands/agents/detect.ts"),
  },
  {
    path: "agents check",
    group: "Set up",
    summary: "prove a profile against its recorded payloads",
    arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
    options: [{ flags: "--fixtures <directory>", help: "where payloads/ and transcripts/ are" }, JSON_OPTION],
    load: () => import("../commands/agents/check.ts"),
  },
  {
    path: "agents new",
    group: "Set up",
    summary: "start a profile for an agent of your own",
    arguments: [{ name: "<id>", help: "small letters, digits and dashes" }],
    options: [JSON_OPTION],
    load: () => import("../commands/agents/new.ts"),
  },
];
