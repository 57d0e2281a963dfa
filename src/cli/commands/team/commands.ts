/** Command table: sharing turns with a team. */
import { JSON_OPTION, wholeNumber, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Team");

const teamCommand = command("team", "share turns with your team, and search theirs", {
  details:
    "Sends the turns of the repositories that you choose to your team's hub: counts only, unless you choose more. Everything is redacted before it leaves, in the background, and `backtrail forget` removes it there too.",
  examples: [
    ["backtrail team join <link>", "with the link from your administrator"],
    ["backtrail team preview", "show exactly what would be sent"],
    ["backtrail team share prompts", "also share prompts and file names"],
    ["backtrail team status", "show what waits to be sent, and why"],
    ["backtrail team search login redirect", "has a colleague solved this?"],
  ],
});

export const teamJoinCommand = command("team join", "join a team with a one-time link", {
  details:
    "Exchanges the invitation for a token of this machine. In a repository, it starts to share that repository's counts; no other repository shares anything until you run `backtrail team share` there.",
  arguments: [{ name: "<link>", help: "the link that `backtrail hub token invite` printed" }],
  options: [
    { flags: "--device <name>", help: "what to call this machine (default: its host name)" },
    { flags: "--insecure", help: "allow an address without encryption" },
    JSON_OPTION,
  ],
});

export const teamLeaveCommand = command("team leave", "leave the team: revoke this machine's token", {
  details:
    "This machine stops sending, whatever its repositories share. What it sent stays on the hub: to remove texts, run `backtrail team share counts` before you leave; to remove sessions, run `backtrail forget`.",
  options: [YES, JSON_OPTION],
});

export const teamStatusCommand = command("team status", "show what this repository shares, and what waits", {
  options: [JSON_OPTION],
  isDefault: true,
});

export const teamShareCommand = command("team share", "choose what this repository shares", {
  details:
    "`counts`: agent, model, times, tokens, the number of files, whether the turn was undone. `prompts`: also prompts, names of files and session ids. `everything`: also answers and what tools did. Everything is redacted first. A lower level removes from the hub what is above it; `nothing` stops sharing, and removes texts.",
  arguments: [{ name: "[level]", help: "counts (default), prompts, everything or nothing" }],
  options: [
    { flags: "--as <name>", help: "the team's name for this repository (default: from the address of origin)" },
    { flags: "--from-now", help: "only turns that begin from now on" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail team share", "counts only"],
    ["backtrail team share everything --from-now", "whole turns, but no older ones"],
    ["backtrail team share nothing", "stop, and remove texts there"],
  ],
});

export const teamPreviewCommand = command("team preview", "show exactly what would be sent, after redaction", {
  arguments: [{ name: "[level]", help: "preview this level: counts, prompts or everything" }],
  options: [
    { flags: "--all", help: "every recorded turn, not only those that the hub lacks" },
    { flags: "--limit <n>", help: "show at most this many turns (default: 20; 0: all)", parse: wholeNumber },
    JSON_OPTION,
  ],
});

export const teamSendCommand = command("team send", "send waiting turns now", {
  options: [JSON_OPTION],
});

export const teamSearchCommand = command("team search", "search the turns that your team shares", {
  arguments: [{ name: "<words...>", help: "words that must all occur; parts of identifiers match" }],
  options: [
    { flags: "--repository <name>", help: "only this repository" },
    { flags: "--person <name>", help: "only this person's turns" },
    { flags: "--agent <name>", help: "only this agent's turns", completes: "agent" },
    { flags: "--limit <n>", help: "show at most this many hits (default: 20)", parse: wholeNumber },
    JSON_OPTION,
  ],
});

export const teamActivityCommand = command("team activity", "count your team's turns by day, repository and agent", {
  options: [
    { flags: "--days <n>", help: "the number of days (default: 7)", parse: wholeNumber },
    { flags: "--repository <name>", help: "only this repository" },
    JSON_OPTION,
  ],
});

export const teamLiveCommand = command("team live", "follow your team's turns live", {
  details: "Prints each turn when it begins and ends, if you may read it. Runs until stopped.",
  options: [JSON_OPTION],
});

export const teamViewCommand = command("team view", "open the team's page in the browser", {
  details:
    "Asks the hub for a link that signs one browser in as you, once, within ten minutes. The page shows what your team shares, as far as you may read it, and changes nothing.",
  options: [{ flags: "--no-open", help: "print the link and open nothing" }, JSON_OPTION],
});

export const TEAM_COMMANDS: readonly CommandSpec[] = [
  teamCommand,
  lazy(teamJoinCommand, () => import("./join.ts")),
  lazy(teamLeaveCommand, () => import("./leave.ts")),
  lazy(teamStatusCommand, () => import("./status.ts")),
  lazy(teamShareCommand, () => import("./share.ts")),
  lazy(teamPreviewCommand, () => import("./preview.ts")),
  lazy(teamSendCommand, () => import("./send.ts")),
  lazy(teamSearchCommand, () => import("./search.ts")),
  lazy(teamActivityCommand, () => import("./activity.ts")),
  lazy(teamLiveCommand, () => import("./live.ts")),
  lazy(teamViewCommand, () => import("./view.ts")),
];
