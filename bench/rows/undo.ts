/** Taking one turn back out of a large work tree: the plan against a look at it, the merge against git's own. */
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contender, compare, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, enable, settle } from "../session.ts";

const STATUS = ["--no-optional-locks", "status", "--porcelain=v2", "-z", "-uall"];
const MERGE = join(import.meta.dirname, "..", "undo-merge.ts");

/** A later turn changes one in this many of a turn's files again, at the other end of the file. */
const AGAIN_ONE_IN = 10;

export function undoRows(executable: string, place: string, files: number, changed: number, pairs: number): Row[] {
  const repository = new Repository(join(place, "undo"), files);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  timed(session.start());
  const paths = tracked(repository)
    .filter((_, i) => i % Math.floor(files / changed) === 0)
    .slice(0, changed);
  const again = paths.filter((_, i) => i % AGAIN_ONE_IN === 0);
  turn(session, () => {
    for (const path of paths) appendFileSync(path, "export const last = true;\n");
  });
  turn(session, () => {
    for (const path of again) writeFileSync(path, `// first\n${readFileSync(path, "utf8")}`);
  });
  settle(executable, repository);
  const group = `Undo: ${changed} files of ${files.toLocaleString("en")}, ${again.length} of them changed again since`;
  const env = repository.environment();
  const git = (...args: string[]) => ({ program: "git", args, cwd: repository.path, env });
  const status: Contender = { run: () => timed(git(...STATUS)) };
  const plan: Contender = {
    run: () => timed({ program: executable, args: ["undo", "2", "--dry-run", "--json"], cwd: repository.path, env }),
  };
  const { commits, trees } = treesOf(repository);
  const mergeTree: Contender = { run: () => timed(git("merge-tree", "--write-tree", ...commits)) };
  const merge: Contender = { run: () => mergeTime(repository, trees) };
  return [
    {
      group,
      what: "plan",
      base: "`git status`",
      goal: { kind: "ratio", most: 5 },
      times: compare(status, plan, pairs),
    },
    {
      group,
      what: "merge",
      base: "`git merge-tree`",
      goal: { kind: "ratio", most: 3 },
      times: compare(mergeTree, merge, pairs),
    },
  ];
}

function turn(session: BenchSession, work: () => void): void {
  timed(session.prompt());
  work();
  session.answer();
  timed(session.stop());
}

function tracked(repository: Repository): string[] {
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd: repository.path, maxBuffer: 1 << 28 });
  return listed
    .toString("utf8")
    .split("\0")
    .filter(Boolean)
    .map((path) => join(repository.path, path));
}

/** The trees before and after the first turn, and now; and commits of them that git finds the base of. */
function treesOf(repository: Repository): { commits: string[]; trees: string[] } {
  const steps = readFileSync(join(repository.path, ".git", "backtrail", "steps.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const at = (kind: string, number: number): string =>
    steps.find((step) => step.kind === kind && step.turn === number).snapshot.work;
  const trees = [at("turn-start", 1), at("turn-end", 1), at("turn-end", 2)];
  const commit = (tree: string, ...parents: string[]) => {
    const args = ["commit-tree", tree, "-m", "x", ...parents.flatMap((parent) => ["-p", parent])];
    return execFileSync("git", args, { cwd: repository.path, env: repository.environment() }).toString().trim();
  };
  const [before = "", after = "", now = ""] = trees;
  const base = commit(after);
  return { commits: [commit(now, base), commit(before, base)], trees };
}

/** As the command does it, in a process that is warm: its start is in the plan's row. */
function mergeTime(repository: Repository, trees: readonly string[]): number {
  const args = [MERGE, repository.path, ...trees];
  const output = execFileSync(process.execPath, args, { cwd: repository.path, env: repository.environment() });
  return Number(output.toString());
}
