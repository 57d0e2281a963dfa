/** Hooks that have nothing to do, against the bare start of the same executable. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { compare, type Program, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, enable, settle } from "../session.ts";

const GOAL = { kind: "ratio", most: 1.5 } as const;

export function startRows(executable: string, place: string, pairs: number): Row[] {
  const repository = new Repository(join(place, "start"), 1_000);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  session.turn();
  timed(session.prompt());
  settle(executable, repository);

  // An unknown git hook: it reads nothing.
  const bare: Program = { ...session.wrote(), args: ["hooks", "git", "nothing"], input: "" };
  const outside = join(place, "outside");
  mkdirSync(outside);
  const elsewhere = { ...session.wrote(), cwd: outside };
  elsewhere.env = { ...elsewhere.env, CLAUDE_PROJECT_DIR: outside };
  elsewhere.input = elsewhere.input?.replaceAll(repository.path, outside) ?? "";

  const row = (what: string, hook: Program): Row => ({
    group: "A hook that has nothing to do",
    what,
    base: "bare start",
    goal: GOAL,
    times: compare({ run: () => timed(bare) }, { run: () => timed(hook) }, pairs),
  });
  return [row("after a tool that wrote a file", session.wrote()), row("where recording is off", elsewhere)];
}
