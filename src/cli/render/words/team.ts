/** The sentences for the errors of a team's hub and of sharing with it. */
import type { HubProblem } from "../../../hub/problems.ts";
import type { TeamProblem } from "../../../team/problems.ts";
import type { WordsFor } from "./words.ts";

export const HUB_WORDS: WordsFor<HubProblem> = {
  "not-a-database": () => [
    "This is not the address of a PostgreSQL database.",
    "It looks like `postgres://user:password@host/database`. BACKTRAIL_HUB_DATABASE keeps it out of the command line.",
  ],
  "no-index": () => ["This database has no team index.", "Create or update it with `backtrail hub init`."],
  "index-older": () => [
    "The schema of this database is older than this program.",
    "Create or update it with `backtrail hub init`.",
  ],
  "index-newer": ({ version, known }) => [
    `The schema of this database is version ${version}, and this program knows version ${known}.`,
    "Use a newer Backtrail.",
  ],
  "not-a-person": ({ name }) => [`"${name}" is not a person's name.`],
  "person-exists": ({ name }) => [`This name or e-mail address is already taken: ${name}.`],
  "no-person": ({ name }) => [`There is no person named "${name}".`, "`backtrail hub people` lists everybody."],
  "password-in-address": () => ["The address has a password in it.", "Use a credential helper of git, or an ssh key."],
  "source-exists": () => ["This remote is a source already."],
  "cannot-listen": ({ host, port, reason }) => [
    `The hub cannot listen on ${host}:${port}: ${reason}`,
    "`--listen` chooses another address.",
  ],
};

export const TEAM_WORDS: WordsFor<TeamProblem> = {
  "no-team": () => [
    "This machine is not in a team.",
    "Join one with `backtrail team join <link>`. The hub's administrator creates the link with `backtrail hub token invite`.",
  ],
  "team-file-damaged": () => [
    "The file with your team's hub cannot be read.",
    "`backtrail team leave`, then join again.",
  ],
  "share-file-damaged": () => [
    "The file that says what this repository shares cannot be read.",
    "Choose again with `backtrail team share`.",
  ],
  "not-a-team-repository": () => ["This is not a name for a repository.", "It looks like `github.com/acme/shop`."],
  "not-a-hub": () => ["This is not the address of a hub.", "It looks like `https://hub.example.com`."],
  "hub-not-http": () => ["A hub's address begins with https://."],
  "hub-not-encrypted": () => [
    "This address is not encrypted: others on the network could read the token and what you share.",
    "Use https://, or give --insecure if the network itself is private.",
  ],
};
