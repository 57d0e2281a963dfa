/**
 * The table of commands: what each is called, takes and does in a few words. Help, commander and completion are
 * made from it. A command's code is loaded when it is run: `agents list` is `commands/agents/list.ts`.
 */
import { UserError } from "../base/errors.ts";
import { HISTORY_COMMANDS } from "./history-commands.ts";
import type { Io } from "./io.ts";

export const GROUPS = ["Start and stop", "Look back", "Go back", "Set up"] as const;
export type Group = (typeof GROUPS)[number];

export interface CommandSpec {
  path: string;
  alias?: string;
  group: Group;
  summary: string;
  /** For the command's own help; the summary where there is none. */
  details?: string;
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  examples?: readonly (readonly [string, string])[];
  hidden?: boolean;
  /** Run when its group is named alone. */
  isDefault?: boolean;
  /** `never`: each command declares its own options, and commander fills them as this table says. */
  load?: () => Promise<{ run(options: never, io: Io): Promise<number | undefined> }>;
}

export interface ArgumentSpec {
  /** `<needed>`, `[optional]`, `[any...]`. */
  name: string;
  help: string;
  completes?: Completes;
}

export interface OptionSpec {
  flags: string;
  help: string;
  choices?: readonly string[];
  conflicts?: string[];
  parse?: (text: string) => unknown;
  completes?: Completes;
}

/** What the shell offers in this place. */
export type Completes = "step" | "agent" | "setting" | "shell" | "session";

const JSON_OPTION: OptionSpec = { flags: "--json", help: "print JSON" };
const YES: OptionSpec = { flags: "-y, --yes", help: "don't ask" };
const DRY_RUN: OptionSpec = { flags: "-n, --dry-run", help: "say what would be done, and do nothing" };
const TARGET = "a step, `last`, `prev`, a number of turns back, a name, a commit, a checkpoint";

export const COMMANDS: readonly CommandSpec[] = [
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
    load: () => import("./commands/enable.ts"),
  },
  {
    path: "disable",
    group: "Start and stop",
    summary: "stop recording; what was recorded stays",
    details:
      "Takes Backtrail's hooks out of the agents' settings again and leaves each file as it was before `enable`. What was recorded stays and can be used after the next `backtrail enable`.",
    options: [{ flags: "-a, --agent <id...>", help: "only these agents", completes: "agent" }, YES, JSON_OPTION],
    load: () => import("./commands/disable.ts"),
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
    load: () => import("./commands/watch.ts"),
  },
  {
    path: "status",
    group: "Start and stop",
    summary: "what is recorded here, and by which agents",
    details: "Whether Backtrail is on here, which agents are connected, and which sessions are open. Changes nothing.",
    options: [JSON_OPTION],
    load: () => import("./commands/status.ts"),
  },
  {
    path: "log",
    group: "Look back",
    summary: "the timeline: every turn, newest first",
    arguments: [],
    options: [
      { flags: "-l, --limit <turns>", help: "at most that many turns (default: 20; 0: all)", parse: wholeNumber },
      {
        flags: "-s, --session <id>",
        help: "only this session; the beginning of its id is enough",
        completes: "session",
      },
      { flags: "--all", help: "also the other worktrees of this repository" },
      { flags: "--steps", help: "every step of each turn" },
      { flags: "--commits", help: "by commit, with the prompts behind each", conflicts: ["steps", "session"] },
      JSON_OPTION,
    ],
    examples: [
      ["backtrail log", "the last turns"],
      ["backtrail log --limit 0 --steps", "everything"],
      ["backtrail log --json", "for scripts"],
    ],
    load: () => import("./commands/log.ts"),
  },
  {
    path: "show",
    group: "Look back",
    summary: "one step: its prompt, files, tokens and the answer",
    arguments: [{ name: "[target]", help: `${TARGET} (default: last)`, completes: "step" }],
    options: [{ flags: "-p, --patch", help: "also what changed, as a diff" }, JSON_OPTION],
    examples: [
      ["backtrail show", "the last turn"],
      ["backtrail show 2 --patch", "the turn before the last, with its diff"],
    ],
    load: () => import("./commands/show.ts"),
  },
  {
    path: "diff",
    group: "Look back",
    summary: "what changed between two steps, or a step and now",
    details:
      "The difference between two steps. With one target: between that step and the files as they are now. Without any: what the last turn and whatever came after it changed.",
    arguments: [
      { name: "[from]", help: `${TARGET} (default: prev)`, completes: "step" },
      { name: "[to]", help: "likewise (default: the files as they are now)", completes: "step" },
    ],
    options: [
      { flags: "--paths <glob...>", help: "only these files" },
      { flags: "--stat", help: "only the names and what happened to them" },
      JSON_OPTION,
    ],
    examples: [
      ["backtrail diff last", "what you changed since the agent was done"],
      ["backtrail diff prev last", "what the last turn changed"],
      ["backtrail diff 3 --paths 'src/**'", "below src, since three turns ago"],
    ],
    load: () => import("./commands/diff.ts"),
  },
  ...HISTORY_COMMANDS,
  {
    path: "rewind",
    alias: "jump",
    group: "Go back",
    summary: "go back to a step, code and conversation together",
    details:
      "Brings the files back to how they were at a step, and makes a copy of the conversation that ends there, which the agent can continue. The present state is saved first: `backtrail redo` takes it all back. Ignored files, branches and commits are left alone. Without a target it lets you pick one.",
    arguments: [{ name: "[target]", help: TARGET, completes: "step" }],
    options: [
      { flags: "--code-only", help: "only the files", conflicts: ["chatOnly"] },
      { flags: "--chat-only", help: "only the conversation" },
      { flags: "--paths <glob...>", help: "only these files", conflicts: ["chatOnly"] },
      { flags: "--reset-head", help: "also move the branch back to the step's commit" },
      { flags: "--tell-agent", help: "let the continued conversation begin with what was undone" },
      DRY_RUN,
      YES,
      JSON_OPTION,
    ],
    examples: [
      ["backtrail rewind", "pick from the timeline"],
      ["backtrail rewind 1", "to before the last turn"],
      ["backtrail rewind last --dry-run", "what it would do"],
      ["backtrail rewind 2 --code-only --paths 'src/**'", "only some files"],
    ],
    load: () => import("./commands/rewind.ts"),
  },
  {
    path: "redo",
    group: "Go back",
    summary: "take the last rewind back, again and again",
    options: [DRY_RUN, YES, JSON_OPTION],
    load: () => import("./commands/redo.ts"),
  },
  {
    path: "save",
    group: "Go back",
    summary: "keep the present state under a name",
    arguments: [{ name: "[message...]", help: "a name to find it by, and to give as a target" }],
    options: [JSON_OPTION],
    examples: [
      ["backtrail save before the migration", "now"],
      ["backtrail rewind 'before the migration'", "and later"],
    ],
    load: () => import("./commands/save.ts"),
  },
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
    load: () => import("./commands/agents/list.ts"),
  },
  {
    path: "agents show",
    group: "Set up",
    summary: "one agent: its hooks, files and commands",
    arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
    options: [JSON_OPTION],
    load: () => import("./commands/agents/show.ts"),
  },
  {
    path: "agents detect",
    group: "Set up",
    summary: "which agents are used here, and why we think so",
    options: [JSON_OPTION],
    load: () => import("./commands/agents/detect.ts"),
  },
  {
    path: "agents check",
    group: "Set up",
    summary: "prove a profile against its recorded payloads",
    arguments: [{ name: "<id>", help: "the agent", completes: "agent" }],
    options: [{ flags: "--fixtures <directory>", help: "where payloads/ and transcripts/ are" }, JSON_OPTION],
    load: () => import("./commands/agents/check.ts"),
  },
  {
    path: "agents new",
    group: "Set up",
    summary: "start a profile for an agent of your own",
    arguments: [{ name: "<id>", help: "small letters, digits and dashes" }],
    options: [JSON_OPTION],
    load: () => import("./commands/agents/new.ts"),
  },
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
    load: () => import("./commands/config/list.ts"),
  },
  {
    path: "config get",
    group: "Set up",
    summary: "one setting's value",
    arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
    options: [JSON_OPTION],
    load: () => import("./commands/config/get.ts"),
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
    load: () => import("./commands/config/set.ts"),
  },
  {
    path: "config unset",
    group: "Set up",
    summary: "take a setting out of a file",
    arguments: [{ name: "<key>", help: "the setting", completes: "setting" }],
    options: [...scopeOptions(), JSON_OPTION],
    load: () => import("./commands/config/unset.ts"),
  },
  {
    path: "clean",
    group: "Set up",
    summary: "let go of steps that are past their time",
    details:
      "Lets go of steps that are older than `retention.days`, and of the oldest beyond `retention.max_size`, as the " +
      "background does by itself once a day. It first says what and how much. Named steps stay.",
    options: [DRY_RUN, YES, JSON_OPTION],
    load: () => import("./commands/clean.ts"),
  },
  {
    path: "redact",
    group: "Set up",
    summary: "find secrets in files, as they are kept out of checkpoints",
    details:
      "Secrets are taken out of conversations before they go into a checkpoint or leave this machine. These commands show what would be taken out of a file, and never a secret itself. `redaction.rules` and `redaction.allow` are your own additions and exceptions.",
    examples: [
      ["backtrail redact scan notes.md app.log", "where secrets are"],
      ["backtrail redact test session.jsonl", "what it is without them"],
      ["backtrail config set redaction.rules 'A-[0-9]{6}'", "a pattern of yours"],
    ],
  },
  {
    path: "redact scan",
    group: "Set up",
    summary: "where secrets are in these files",
    arguments: [{ name: "<files...>", help: "texts, transcripts, anything" }],
    options: [{ flags: "--check", help: "end with 1 if there is one" }, JSON_OPTION],
    isDefault: true,
    load: () => import("./commands/redact/scan.ts"),
  },
  {
    path: "redact test",
    group: "Set up",
    summary: "what a file looks like without its secrets",
    arguments: [{ name: "<file>", help: "a text or a transcript" }],
    options: [{ flags: "-w, --whole", help: "all of it, not only the places" }, JSON_OPTION],
    load: () => import("./commands/redact/test.ts"),
  },
  {
    path: "doctor",
    group: "Set up",
    summary: "find out what is wrong, and put it right",
    details:
      "Looks at the store, the hooks, the settings and the log of failures, and says in words what is wrong and what to do. Without --fix it changes nothing.",
    options: [
      { flags: "--check", help: "end with 1 unless everything holds", conflicts: ["fix"] },
      { flags: "--fix", help: "put right what can be put right safely" },
      JSON_OPTION,
    ],
    load: () => import("./commands/doctor.ts"),
  },
  {
    path: "completion",
    group: "Set up",
    summary: "a script that completes commands in your shell",
    arguments: [{ name: "<shell>", help: "bash, zsh, fish or powershell", completes: "shell" }],
    examples: [
      ["source <(backtrail completion bash)", "for this bash"],
      ["source <(backtrail completion zsh)", "for this zsh"],
      ["backtrail completion fish | source", "for this fish"],
    ],
    load: () => import("./commands/completion.ts"),
  },
  {
    path: "hooks",
    group: "Set up",
    summary: "what agents call; it reads its payload from standard input",
    arguments: [
      { name: "<agent>", help: "the agent that calls" },
      { name: "<verb>", help: "what has happened" },
    ],
    hidden: true,
    load: () => import("./commands/hooks.ts"),
  },
];

function scopeOptions(): OptionSpec[] {
  return [
    { flags: "--user", help: "in your own file, for all repositories", conflicts: ["project", "local"] },
    { flags: "--project", help: "in the repository's shared file", conflicts: ["local"] },
    { flags: "--local", help: "for you, in this repository (default)" },
  ];
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of turns.`, "Give a whole number; 0 means all of them.");
}
