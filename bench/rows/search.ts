/** A search from a cold start, everything included, against the bare start of the same executable. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment } from "../../test/support/environment.ts";
import { writeCorpus } from "../corpus.ts";
import { compare, type Program, timed } from "../measure.ts";
import type { Row } from "../row.ts";

/** Words that most sessions have. */
const COMMON = ["return", "const", "function"];

export function searchRows(executable: string, place: string, megabytes: number, pairs: number): Row[] {
  const home = join(place, "search");
  mkdirSync(home);
  const { needles } = writeCorpus(home, megabytes);
  const env = cleanEnvironment(home, { BACKTRAIL_WORKER: "off" });
  const program = (...args: string[]): Program => ({ program: executable, args, cwd: home, env });
  timed(program("search", "--rebuild"));
  for (const { word, field } of needles) check(executable, home, env, word, field);
  const bare = program("hooks", "git", "nothing");
  const row = (what: string, most: number, ...args: string[]): Row => ({
    group: `A search in ${megabytes} MB of transcripts`,
    what,
    base: "bare start",
    goal: { kind: "ratio", most },
    times: compare({ run: () => timed(bare) }, { run: () => timed(program("search", "--json", ...args)) }, pairs),
  });
  return [
    row("a rare word", 3, needles[0]?.word ?? ""),
    row("three common words, newest first", 12, ...COMMON),
    row("three common words, by relevance", 12, "--best", ...COMMON),
  ];
}

/** Every needle is found in its field and nowhere else; anything else is no index to measure. */
function check(executable: string, cwd: string, env: Record<string, string>, word: string, field: string): void {
  const { stdout } = spawnSync(executable, ["search", "--json", word], { cwd, env, encoding: "utf8" });
  const { hits } = JSON.parse(stdout) as { hits: { field: string }[] };
  if (hits.length !== 1 || hits[0]?.field !== field) throw new Error(`${word} is found in ${JSON.stringify(hits)}.`);
}
