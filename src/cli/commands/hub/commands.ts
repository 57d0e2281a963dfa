/** Command table: the server of a team. */
import { LEVELS, ROLES } from "../../../team/levels.ts";
import { JSON_OPTION, oneMore, wholeNumber } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy, type OptionSpec } from "../../program/spec.ts";

const command = commandsOf("Team");

const DATABASE = {
  flags: "--database <url>",
  help: "the PostgreSQL database (default: BACKTRAIL_HUB_DATABASE, which other users of the machine cannot see)",
} as const satisfies OptionSpec;
const ADDRESS = { flags: "--url <url>", help: "the hub's address, for the invitation" } as const satisfies OptionSpec;
const onDatabase = <const O extends readonly OptionSpec[]>(...options: O) =>
  [DATABASE, ...options, JSON_OPTION] as const;

const hubCommand = command("hub", "run a team's server", {
  details:
    "The hub keeps a shared index of turns in PostgreSQL 15 or newer. It has roles, shows each person only the repositories that they may read, and can be rebuilt from git. docs/team.md sets one up in ten minutes.",
  examples: [
    ["backtrail hub init ada", "create the index; ada administers it"],
    ["backtrail hub serve", "on this machine, behind a proxy"],
    ["backtrail hub token invite bob", "a one-time link for a new member"],
    ["backtrail hub grant bob example.com/shop", "what bob may read"],
  ],
});

export const hubInitCommand = command("hub init", "create the index, or update it to this version", {
  details:
    "May be repeated, and run on several machines at once. With a name, it also invites the first administrator.",
  arguments: [{ name: "[admin]", help: "the first administrator" }],
  options: onDatabase(ADDRESS),
});

export const hubServeCommand = command("hub serve", "serve the team until stopped", {
  details:
    'Any number of these processes may share one database. With --json, the first line is {"url"}. Without encryption, it listens on this machine only, unless a proxy in front of it encrypts.',
  options: onDatabase(
    { flags: "--url <url>", help: "the address under which browsers reach the hub's page (default: where it listens)" },
    { flags: "--listen <address>", help: "<host>:<port> (default: 127.0.0.1:7420; port 0: any)" },
    { flags: "--read-database <url>", help: "a replica for reading" },
    { flags: "--tls-cert <file>", help: "a certificate, with --tls-key" },
    { flags: "--tls-key <file>", help: "its key" },
    {
      flags: "--behind-proxy",
      help: "a reverse proxy encrypts: allow other hosts, and take callers' addresses from X-Forwarded-For",
    },
    { flags: "--metrics", help: "serve counters for Prometheus at /metrics" },
    {
      flags: "--connections <n>",
      help: "the maximum number of database connections (default: 10)",
      parse: wholeNumber,
    },
  ),
});

export const hubTokenCommand = command("hub token", "invite people, list their machines, revoke tokens", {
  arguments: [
    { name: "<action>", help: "invite, list or revoke" },
    { name: "[who]", help: "a person; for revoke, also a machine's id" },
  ],
  options: onDatabase(
    ADDRESS,
    { flags: "--role <role>", help: "a new person's role: admin, member (default) or reader", choices: ROLES },
    { flags: "--email <address>", help: "a new person's e-mail address in commits, for checkpoints from git" },
    {
      flags: "--reads <repository>",
      help: "a repository that a new person may read, or `all`; repeatable",
      parse: oneMore,
    },
    { flags: "--level <level>", help: "with --reads: up to this level (default: everything)", choices: LEVELS },
  ),
  examples: [
    ["backtrail hub token invite bob --reads all", "bob reads everybody's turns"],
    ["backtrail hub token invite eve --role reader", "eve sends nothing"],
    ["backtrail hub token revoke bob", "all of bob's machines"],
  ],
});

export const hubPeopleCommand = command("hub people", "list the members and what they may read", {
  options: onDatabase(),
});

export const hubRoleCommand = command("hub role", "change a person's role", {
  details: "Holds at once, on all of the person's machines. What a reader sent before, as a member, stays.",
  arguments: [
    { name: "<person>", help: "who" },
    { name: "<role>", help: "admin, member or reader" },
  ],
  options: onDatabase(),
});

export const hubGrantCommand = command("hub grant", "let a person read a repository", {
  arguments: [
    { name: "<person>", help: "the person" },
    { name: "<repository>", help: "a repository, or `all`" },
    { name: "[level]", help: "counts, prompts, everything (default), or none to revoke it" },
  ],
  options: onDatabase(),
});

export const hubAuditCommand = command("hub audit", "who read or wrote what", {
  details:
    "Every request of a person is there, with the words of a search, and what an administrator did with `backtrail hub`. It grows by a row per request; --keep deletes old ones.",
  options: onDatabase(
    { flags: "--person <name>", help: "only what this person did" },
    { flags: "--limit <n>", help: "show the newest n entries (default: 50)", parse: wholeNumber },
    { flags: "--keep <days>", help: "delete entries older than this, and print nothing", parse: wholeNumber },
  ),
  examples: [["backtrail hub audit --keep 365", "once a month, say"]],
});

export const hubSourceCommand = command("hub source", "fill the index from git remotes with checkpoints", {
  details:
    "A source is a git remote to which people push checkpoints (`backtrail sync push`). The hub reads it every minute, and keeps no more of a turn than its author shares; authors are known by the e-mail address of `hub token invite`. git fetches as this user, and asks nobody.",
  arguments: [
    { name: "<action>", help: "add, list, read or remove" },
    { name: "[remote]", help: "the address of a repository" },
  ],
  options: onDatabase(
    { flags: "--as <name>", help: "the repository's name (default: from the address)" },
    { flags: "--level <level>", help: "for authors who share nothing (default: everything)", choices: LEVELS },
  ),
  examples: [["backtrail hub source add git@example.com:shop", "read it from now on"]],
});

export const hubRebuildCommand = command("hub rebuild", "read every source again, and compare it to the index", {
  details:
    "Adds every turn that git has and the index lacks, such as after the loss of the database. Lists turns whose content differs from what a machine sent, and leaves those unchanged.",
  options: onDatabase(),
});

export const hubBackupCheckCommand = command("hub backup-check", "check a restored database before serving from it", {
  options: onDatabase(),
});

export const HUB_COMMANDS: readonly CommandSpec[] = [
  hubCommand,
  lazy(hubInitCommand, () => import("./init.ts")),
  lazy(hubServeCommand, () => import("./serve.ts")),
  lazy(hubTokenCommand, () => import("./token.ts")),
  lazy(hubPeopleCommand, () => import("./people.ts")),
  lazy(hubRoleCommand, () => import("./role.ts")),
  lazy(hubGrantCommand, () => import("./grant.ts")),
  lazy(hubAuditCommand, () => import("./audit.ts")),
  lazy(hubSourceCommand, () => import("./source.ts")),
  lazy(hubRebuildCommand, () => import("./rebuild.ts")),
  lazy(hubBackupCheckCommand, () => import("./backup-check.ts")),
];
