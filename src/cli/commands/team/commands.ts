/** Command table: sharing with a team, and the team's hub. */
import { LEVELS, ROLES } from "../../../team/levels.ts";
import { type CommandSpec, JSON_OPTION, type OptionSpec, oneMore, wholeNumber, YES } from "../../program/spec.ts";

const DATABASE: OptionSpec = {
  flags: "--database <url>",
  help: "the PostgreSQL database (default: BACKTRAIL_HUB_DATABASE, which other users of the machine cannot see)",
};

export const TEAM: readonly CommandSpec[] = [
  {
    path: "team",
    group: "Team",
    summary: "share turns with your team, and search theirs",
    details:
      "Sends the turns of the repositories that you choose to your team's hub: counts only, unless you choose more. Everything is redacted before it leaves, in the background, and `backtrail forget` removes it there too.",
    examples: [
      ["backtrail team join <link>", "with the link that you were given"],
      ["backtrail team preview", "exactly what would leave this repository"],
      ["backtrail team share prompts", "prompts and names of files, too"],
      ["backtrail team status", "what waits, and why"],
      ["backtrail team search login redirect", "has anybody's agent solved this?"],
    ],
  },
  {
    path: "team join",
    group: "Team",
    summary: "join a team with a one-time link",
    details:
      "Exchanges the invitation for a token of this machine. In a repository, it starts to share that repository's counts; no other repository shares anything until you run `backtrail team share` there.",
    arguments: [{ name: "<link>", help: "the link that `backtrail hub token invite` printed" }],
    options: [
      { flags: "--device <name>", help: "what to call this machine (default: its host name)" },
      { flags: "--insecure", help: "allow an address without encryption" },
      JSON_OPTION,
    ],
    load: () => import("./join.ts"),
  },
  {
    path: "team leave",
    group: "Team",
    summary: "leave the team: revoke this machine's token",
    details:
      "Nothing is sent from this machine any more, whatever its repositories share. What was sent stays on the hub; `backtrail team share counts` before leaving removes texts, `backtrail forget` removes sessions.",
    options: [YES, JSON_OPTION],
    load: () => import("./leave.ts"),
  },
  {
    path: "team status",
    group: "Team",
    summary: "what this repository shares, what waits, and why",
    options: [JSON_OPTION],
    isDefault: true,
    load: () => import("./status.ts"),
  },
  {
    path: "team share",
    group: "Team",
    summary: "choose what this repository shares",
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
      ["backtrail team share everything --from-now", "whole, but nothing older"],
      ["backtrail team share nothing", "stop, and remove texts there"],
    ],
    load: () => import("./share.ts"),
  },
  {
    path: "team preview",
    group: "Team",
    summary: "exactly what would be sent, redacted as it would be",
    arguments: [{ name: "[level]", help: "as if this level were chosen: counts, prompts or everything" }],
    options: [
      { flags: "--all", help: "every recorded turn, not only those that the hub lacks" },
      { flags: "--limit <n>", help: "at most so many turns (default: 20; 0: all)", parse: wholeNumber },
      JSON_OPTION,
    ],
    load: () => import("./preview.ts"),
  },
  {
    path: "team send",
    group: "Team",
    summary: "send what waits now, instead of in the background",
    options: [JSON_OPTION],
    load: () => import("./send.ts"),
  },
  {
    path: "team search",
    group: "Team",
    summary: "search the turns that your team shares",
    arguments: [{ name: "<words...>", help: "all of them must occur; parts of identifiers are found" }],
    options: [
      { flags: "--repository <name>", help: "only this repository" },
      { flags: "--person <name>", help: "only this person's turns" },
      { flags: "--agent <name>", help: "only this agent's turns", completes: "agent" },
      { flags: "--limit <n>", help: "at most so many hits (default: 20)", parse: wholeNumber },
      JSON_OPTION,
    ],
    load: () => import("./search.ts"),
  },
  {
    path: "team activity",
    group: "Team",
    summary: "how much your team's agents did, by day, repository and agent",
    options: [
      { flags: "--days <n>", help: "so many days back (default: 7)", parse: wholeNumber },
      { flags: "--repository <name>", help: "only this repository" },
      JSON_OPTION,
    ],
    load: () => import("./activity.ts"),
  },
  {
    path: "team live",
    group: "Team",
    summary: "follow what your team's agents do, as they do it",
    details:
      "Prints a turn when it begins and when it ends, for those who share it and as far as you may read it, until stopped.",
    options: [JSON_OPTION],
    load: () => import("./live.ts"),
  },
  {
    path: "hub",
    group: "Team",
    summary: "run the server of a team",
    details:
      "The hub keeps a shared index of turns in PostgreSQL 15 or newer. It has roles, shows each person only the repositories that they may read, and can be rebuilt from git. docs/team.md sets one up in ten minutes.",
    examples: [
      ["backtrail hub init ada", "make the index; ada administers it"],
      ["backtrail hub serve", "on this machine, behind a proxy"],
      ["backtrail hub token invite bob", "a one-time link for a new member"],
      ["backtrail hub grant bob example.com/shop", "what bob may read"],
    ],
  },
  {
    path: "hub init",
    group: "Team",
    summary: "create the index, or update it to this version",
    details:
      "May be repeated, and run on several machines at once. With a name, it also invites the first administrator.",
    arguments: [{ name: "[admin]", help: "the first administrator" }],
    options: [DATABASE, { flags: "--url <url>", help: "the hub's address, for the invitation" }, JSON_OPTION],
    load: () => import("../hub/init.ts"),
  },
  {
    path: "hub serve",
    group: "Team",
    summary: "serve the team until stopped",
    details:
      'Any number of these processes may share one database. With --json, the first line is {"url"}. Without encryption, it listens on this machine only, unless a proxy in front of it encrypts.',
    options: [
      DATABASE,
      { flags: "--listen <address>", help: "<host>:<port> (default: 127.0.0.1:7420; port 0: any)" },
      { flags: "--read-database <url>", help: "a replica for reading" },
      { flags: "--tls-cert <file>", help: "a certificate, with --tls-key" },
      { flags: "--tls-key <file>", help: "its key" },
      { flags: "--behind-proxy", help: "allow other hosts without encryption: a reverse proxy encrypts" },
      { flags: "--metrics", help: "serve counters for Prometheus at /metrics" },
      {
        flags: "--connections <n>",
        help: "at most so many connections to the database (default: 10)",
        parse: wholeNumber,
      },
      JSON_OPTION,
    ],
    load: () => import("../hub/serve.ts"),
  },
  {
    path: "hub token",
    group: "Team",
    summary: "invite people, list their machines, revoke tokens",
    arguments: [
      { name: "<action>", help: "invite, list or revoke" },
      { name: "[who]", help: "a person; for revoke, also a machine's id" },
    ],
    options: [
      DATABASE,
      { flags: "--url <url>", help: "the hub's address, for the invitation" },
      { flags: "--role <role>", help: "of a new person: admin, member (default) or reader", choices: ROLES },
      { flags: "--email <address>", help: "of a new person: as in their commits, for checkpoints from git" },
      {
        flags: "--reads <repository>",
        help: "of a new person: may read it; `all` for every one; repeat it",
        parse: oneMore,
      },
      { flags: "--level <level>", help: "with --reads: up to this level (default: everything)", choices: LEVELS },
      JSON_OPTION,
    ],
    examples: [
      ["backtrail hub token invite bob --reads all", "bob reads everybody's turns"],
      ["backtrail hub token invite eve --role reader", "eve sends nothing"],
      ["backtrail hub token revoke bob", "all of bob's machines"],
    ],
    load: () => import("../hub/token.ts"),
  },
  {
    path: "hub people",
    group: "Team",
    summary: "who belongs to the team, and what they may read",
    options: [DATABASE, JSON_OPTION],
    load: () => import("../hub/people.ts"),
  },
  {
    path: "hub grant",
    group: "Team",
    summary: "let a person read a repository",
    arguments: [
      { name: "<person>", help: "who" },
      { name: "<repository>", help: "which, or `all`" },
      { name: "[level]", help: "counts, prompts, everything (default), or none to take the right away" },
    ],
    options: [DATABASE, JSON_OPTION],
    load: () => import("../hub/grant.ts"),
  },
  {
    path: "hub source",
    group: "Team",
    summary: "fill the index from git remotes with checkpoints",
    details:
      "A source is a git remote to which people push checkpoints (`backtrail sync push`). The hub reads it every minute, and keeps no more of a turn than its author shares; authors are known by the e-mail address of `hub token invite`. git fetches as this user, and asks nobody.",
    arguments: [
      { name: "<action>", help: "add, list, read or remove" },
      { name: "[remote]", help: "the address of a repository" },
    ],
    options: [
      DATABASE,
      { flags: "--as <name>", help: "the repository's name (default: from the address)" },
      { flags: "--level <level>", help: "for authors who share nothing (default: everything)", choices: LEVELS },
      JSON_OPTION,
    ],
    examples: [["backtrail hub source add git@example.com:shop", "read it from now on"]],
    load: () => import("../hub/source.ts"),
  },
  {
    path: "hub rebuild",
    group: "Team",
    summary: "read every source again, and compare it with the index",
    details:
      "Restores every turn that git has and the index lacks, such as after the database was lost, and names turns that a machine sent with another content. Changes nothing that a machine sent.",
    options: [DATABASE, JSON_OPTION],
    load: () => import("../hub/rebuild.ts"),
  },
  {
    path: "hub backup-check",
    group: "Team",
    summary: "check a restored database before serving from it",
    options: [DATABASE, JSON_OPTION],
    load: () => import("../hub/backup-check.ts"),
  },
];
