/** The hooks that take a step, against git's own time to check, or to store, the same work tree. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type Contender, compare, timed } from "../measure.ts";
import { makeObjectDirectories, Repository } from "../repository.ts";
import type { Goal, Row } from "../row.ts";
import { BenchSession, countSteps, enable, settle, turnEnd, turnStart } from "../session.ts";

const STATUS = ["--no-optional-locks", "status", "--porcelain=v2", "-z", "-uall"];
/** From this many changed files on, storing them takes most of the time. */
const MANY = 500;

export function turnRows(executable: string, place: string, files: number, changes: number[], pairs: number): Row[] {
  const repository = new Repository(join(place, `turns-${files}`), files);
  return rowsIn(executable, repository, `${files.toLocaleString("en")} files`, changes, pairs);
}

/** All files in one directory: every step writes its whole tree. */
export function wideRows(executable: string, place: string, files: number, changes: number[], pairs: number): Row[] {
  const repository = new Repository(join(place, `wide-${files}`), files, true);
  return rowsIn(executable, repository, `${files.toLocaleString("en")} files in one directory`, changes, pairs);
}

function rowsIn(executable: string, repository: Repository, group: string, changes: number[], pairs: number): Row[] {
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  timed(session.start());
  return changes.flatMap((count) => {
    repository.change(count);
    session.turn();
    settle(executable, repository);
    const before = countSteps(repository);
    const measured = measure(session, count, pairs);
    const taken = countSteps(repository) - before;
    // Two comparisons with a warm-up each, and two hooks for each measured turn.
    const expected = 4 * (pairs + 1);
    if (taken !== expected) throw new Error(`${group}: ${taken} steps were recorded, not ${expected}.`);
    return measured.map((row) => ({ ...row, group }));
  });
}

function measure(session: BenchSession, count: number, pairs: number): Omit<Row, "group">[] {
  const { repository } = session;
  const fresh = () => repository.change(count);
  const base = count < MANY ? status(repository, fresh) : store(repository, fresh);
  const goal: Goal = count < MANY ? { kind: "beside", milliseconds: 25 } : { kind: "ratio", most: 0.75 };
  const common = { base: count < MANY ? "`git status`" : "`git add`, `write-tree`", goal };
  const changed = `${count} changed`;
  return [
    { ...common, what: `turn start, ${changed}`, times: compare(base, turnStart(session, fresh), pairs) },
    { ...common, what: `turn end, ${changed}`, times: compare(base, turnEnd(session, fresh), pairs) },
  ];
}

function status(repository: Repository, prepare: () => void): Contender {
  const command = { program: "git", args: STATUS, cwd: repository.path, env: repository.environment() };
  return { prepare, run: () => timed(command) };
}

/**
 * Writes objects to a separate directory, so that they do not slow down later measurements. That
 * directory is made ready as a repository in use would be. Nothing is removed before everything is measured: see quiet.ts.
 */
function store(repository: Repository, prepare: () => void): Contender {
  const index = join(repository.home, "index");
  const shared = join(repository.path, ".git", "objects");
  let round = 0;
  const command = (...args: string[]) => {
    const objects = join(repository.home, "stored", String(round));
    const where = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: shared };
    return {
      program: "git",
      args,
      cwd: repository.path,
      env: repository.environment({ GIT_INDEX_FILE: index, ...where }),
    };
  };
  return {
    prepare: () => {
      round++;
      makeObjectDirectories(join(repository.home, "stored", String(round)));
      prepare();
    },
    run: () => {
      const began = performance.now();
      copyFileSync(join(repository.path, ".git", "index"), index);
      const copied = performance.now() - began;
      return copied + timed(command("add", "--all")) + timed(command("write-tree"));
    },
  };
}
