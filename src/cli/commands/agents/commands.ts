/** Command table: agents. */
import { HOOK_FORMATS } from "../../../agents/authoring/capture/hook-formats.ts";
import { JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Set up");

const agentsCommand = command("agents", "list, inspect and add agents", {
  details:
    "Shows what works with each agent and which agents are used here. Adds a profile for an agent that Backtrail does not know.",
});

export const agentsListCommand = command("agents list", "list agents and what works with each (default)", {
  options: [JSON_OPTION],
  isDefault: true,
});

export const agentsShowCommand = command("agents show", "show an agent's hooks, files and commands", {
  arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
  options: [JSON_OPTION],
});

export const agentsDetectCommand = command("agents detect", "list the agents used here, with the evidence", {
  options: [JSON_OPTION],
});

export const agentsRecordCommand = command("agents record", "record what an agent sends and writes, for a profile", {
  details:
    "Records what an agent's hooks send and which files grow while you work with it, until Ctrl-C or --stop. " +
    "Secrets are replaced. The recording stays on this machine, and nothing in it is ever executed.",
  arguments: [{ name: "<id>", help: "the agent: small letters, digits and dashes" }],
  options: [
    { flags: "--hooks <file>", help: "install recording hooks in this settings file, and remove them at the end" },
    { flags: "--format <format>", help: `the file's form: ${HOOK_FORMATS.join(", ")}`, choices: HOOK_FORMATS },
    { flags: "--keys <names>", help: "in TOML: the agent's keys of a hook: event=type,name=name" },
    { flags: "--events <names>", help: "the agent's names of events, separated by commas" },
    { flags: "--watch <directory...>", help: "also watch this directory" },
    { flags: "--stop", help: "end the current recording" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail agents record mine", "print the hooks to install"],
    ["backtrail agents record mine --hooks ~/.mine.json", "install them"],
  ],
});

export const agentsCheckCommand = command("agents check", "test a profile against a recording of its agent", {
  arguments: [{ name: "<agent>", help: "an agent, or the path of a profile", completes: "agent" }],
  options: [
    { flags: "--from <recording>", help: "the recording's directory" },
    { flags: "--fixtures <directory>", help: "the directory with payloads/ and transcripts/" },
    { flags: "--all", help: "show every line of every transcript" },
    JSON_OPTION,
  ],
});

export const agentsNewCommand = command("agents new", "create a profile for another agent", {
  arguments: [{ name: "<id>", help: "small letters, digits and dashes" }],
  options: [
    { flags: "--from <recording>", help: "derive the profile from this recording" },
    { flags: "--force", help: "replace an existing profile" },
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
