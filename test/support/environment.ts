/** The environment that a test gives to git, to Backtrail and to agents: nothing of the user's own gets in. */
import { join } from "node:path";

/** The moment at which journeys begin, where they fix the time. */
const START = Date.parse("2026-01-05T09:00:00Z");

/** The fixed time so many minutes into a journey, as `BACKTRAIL_CLOCK` takes it. */
export function minute(count: number): string {
  return new Date(START + count * 60_000).toISOString();
}

/** Everything a child process sees, with homes below `home`; `extra` comes last, and `undefined` takes a name out. */
export function cleanEnvironment(home: string, extra: Record<string, string | undefined> = {}): Record<string, string> {
  const environment: Record<string, string | undefined> = {
    PATH: process.env["PATH"],
    TMPDIR: process.env["TMPDIR"],
    HOME: home,
    BACKTRAIL_HOME: join(home, "backtrail"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_AUTHOR_DATE: minute(0),
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    GIT_COMMITTER_DATE: minute(0),
    LANG: "C.UTF-8",
    TZ: "UTC",
    TERM: "dumb",
    NO_COLOR: "1",
    COLUMNS: "80",
    ...extra,
  };
  return Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] != null));
}
