/** Commits with our hooks, against the same commits without: what the hooks add, as a ratio to the bare start of the executable. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare, type Program, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, enable } from "../session.ts";

const GROUP = "A commit: what the hooks add";

export function commitRows(executable: string, place: string, pairs: number): Row[] {
  const repository = new Repository(join(place, "commits"), 1_000);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  let count = 0;
  const program = (args: string[]): Program => ({
    program: "git",
    args,
    cwd: repository.path,
    env: repository.environment(),
  });
  const stage = () => {
    writeFileSync(join(repository.path, "committed.txt"), `${count++}\n`);
    timed(program(["add", "--all"]));
  };
  const turn = () => {
    timed(session.prompt());
    writeFileSync(join(repository.path, "committed.txt"), `${count++}\n`);
    session.answer();
    timed(session.stop());
    timed(program(["add", "--all"]));
  };
  const commit = () => timed(program(["commit", "--quiet", "--message", "one more"]));
  const without = () => {
    stage();
    return timed(program(["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "one more"]));
  };
  const added = (prepare: () => void) => () => {
    const plain = without();
    prepare();
    return Math.max(0, commit() - plain);
  };
  const bare: Program = { ...session.wrote(), args: ["hooks", "git", "nothing"], input: "" };
  const shell: Program = { ...program(["-c", ":"]), program: "sh" };
  const row = (what: string, base: string, most: number, against: Program, run: () => number): Row => ({
    group: GROUP,
    what,
    base,
    goal: { kind: "ratio", most },
    times: compare({ run: () => timed(against) }, { run }, pairs),
  });
  const settings: Program = { ...bare, args: ["config", "set", "push.enabled", "true"] };
  const pushing: Program = { ...bare, args: ["hooks", "git", "pre-push", "origin", "."] };
  turn();
  commit();
  timed(settings);
  return [
    row("a session's files in it", "bare start", 6, bare, added(turn)),
    row("no session concerned (three hooks)", "`sh -c :`", 6, shell, added(stage)),
    row("a push that checkpoints are to follow (pre-push)", "bare start", 6, bare, () => timed(pushing)),
  ];
}
