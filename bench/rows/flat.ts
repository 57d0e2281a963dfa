/** What must not matter: how many sessions are recorded already, and how long the conversation is. */
import { join } from "node:path";
import { compare, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, countSteps, enable, settle, turnEnd } from "../session.ts";

const FILES = 1_000;
const CHANGED = 5;

export interface FlatSizes {
  sessions: number;
  megabytes: number;
}

export function flatRows(executable: string, place: string, sizes: FlatSizes, pairs: number): Row[] {
  const begin = (name: string): BenchSession => {
    const repository = new Repository(join(place, name), FILES);
    enable(executable, repository);
    return new BenchSession(executable, repository);
  };

  const alone = begin("one-session");
  alone.turn();
  const crowded = begin("many-sessions");
  for (let i = 1; i < sizes.sessions; i++) {
    const other = new BenchSession(executable, crowded.repository);
    crowded.repository.change(CHANGED);
    other.turn();
    timed(other.end());
  }
  crowded.turn();

  const short = begin("short");
  short.growTranscript(1e6);
  short.turn();
  const long = begin("long");
  long.growTranscript(sizes.megabytes * 1e6);
  long.turn();

  for (const { repository } of [alone, crowded, short, long]) settle(executable, repository);
  return [
    row(`${sizes.sessions} recorded sessions`, crowded, "1 session", alone, pairs),
    row(`a transcript of ${sizes.megabytes} MB`, long, "one of 1 MB", short, pairs),
  ];
}

function row(what: string, large: BenchSession, base: string, small: BenchSession, pairs: number): Row {
  const before = countSteps(large.repository);
  const end = (session: BenchSession) => turnEnd(session, () => session.repository.change(CHANGED));
  const times = compare(end(small), end(large), pairs);
  const taken = countSteps(large.repository) - before;
  if (taken !== 2 * (pairs + 1)) throw new Error(`${what}: ${taken} steps were recorded, not ${2 * (pairs + 1)}.`);
  return { group: "What must not matter (turn end, 5 changed)", what, base, goal: { kind: "flat" }, times };
}
