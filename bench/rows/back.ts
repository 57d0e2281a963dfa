/** Going back over many files, against what git needs to look at them, and to write the same ones; and the timeline. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newStepId } from "../../src/base/ids.ts";
import { type Contender, compare, type Program, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, enable, settle } from "../session.ts";

const STATUS = ["--no-optional-locks", "status", "--porcelain=v2", "-z", "-uall"];
/** Files that changed this shortly before are looked at twice; a person takes longer than that to change their mind. */
const SETTLED_MS = 2_100;

export interface BackSizes {
  files: number;
  changed: number;
  steps: number;
}

export function backRows(executable: string, place: string, sizes: BackSizes, pairs: number): Row[] {
  const group = `Going back over ${sizes.changed} of ${sizes.files.toLocaleString("en")} files`;
  const repository = new Repository(join(place, "back"), sizes.files);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  timed(session.start());
  session.turn();
  timed(session.prompt());
  session.answer();
  repository.change(sizes.changed);
  timed(session.stop());
  settle(executable, repository);
  const [after, before] = lastTwo(repository);
  const ours = (...args: string[]): Program => ({
    program: executable,
    args,
    cwd: repository.path,
    env: repository.environment(),
  });
  const status = { program: "git", args: STATUS, cwd: repository.path, env: repository.environment() };
  timed(ours("rewind", before, "--yes", "--code-only"));
  timed(ours("rewind", after, "--yes", "--code-only"));
  Bun.sleepSync(SETTLED_MS);
  const plan = compare(
    { run: () => timed(status) },
    { run: () => timed(ours("rewind", before, "--dry-run", "--json")) },
    pairs,
  );
  const apply = compare(
    checkout(join(place, "checkout"), sizes),
    {
      prepare: () => {
        timed(ours("rewind", before, "--yes", "--code-only"));
        Bun.sleepSync(SETTLED_MS);
      },
      run: () => timed(ours("rewind", after, "--yes", "--code-only")),
    },
    pairs,
  );
  return [
    { group, what: "plan", base: "`git status`", goal: { kind: "ratio", most: 5 }, times: plan },
    { group, what: "apply", base: "`git checkout`", goal: { kind: "ratio", most: 2 }, times: apply },
  ];
}

/** The first page of a long timeline, against the bare start. */
export function logRows(executable: string, place: string, sizes: BackSizes, pairs: number): Row[] {
  const repository = new Repository(join(place, "log"), 1_000);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  timed(session.start());
  repository.change(5);
  session.turn();
  settle(executable, repository);
  lengthen(repository, sizes.steps);
  const bare: Program = { ...session.wrote(), args: ["hooks", "git", "nothing"], input: "" };
  const log = { ...bare, args: ["log"] };
  return [
    {
      group: "The timeline",
      what: `first page of ${sizes.steps.toLocaleString("en")} steps`,
      base: "bare start",
      goal: { kind: "ratio", most: 3 },
      times: compare({ run: () => timed(bare) }, { run: () => timed(log) }, pairs),
    },
  ];
}

/** `git checkout` of the same paths, from the same state to the same state, in a repository that is just the same. */
function checkout(place: string, sizes: BackSizes): Contender {
  const repository = new Repository(place, sizes.files);
  repository.change(sizes.changed);
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--message", "changed");
  const list = join(repository.home, "paths");
  const env = repository.environment();
  const git = (...args: string[]): Program => ({ program: "git", args, cwd: repository.path, env });
  const names = Bun.spawnSync(["git", "diff", "--name-only", "HEAD~1", "HEAD"], { cwd: repository.path, env });
  writeFileSync(list, names.stdout);
  return {
    prepare: () => {
      timed(git("reset", "--quiet", "--hard", "HEAD~1"));
      timed(git("reset", "--quiet", "--soft", "ORIG_HEAD"));
      timed(git("read-tree", "HEAD~1"));
      timed(git("update-index", "-q", "--refresh"));
      Bun.sleepSync(SETTLED_MS);
    },
    run: () => timed(git("checkout", "--quiet", "HEAD", `--pathspec-from-file=${list}`)),
  };
}

/** The steps at the end and at the start of the last turn. */
function lastTwo(repository: Repository): [string, string] {
  const steps = stepLines(repository).map((line) => JSON.parse(line) as { id: string; kind: string });
  const of = (kind: string) => steps.findLast((step) => step.kind === kind)?.id ?? "";
  return [of("turn-end"), of("turn-start")];
}

/** As if the last turn had happened again and again. */
function lengthen(repository: Repository, count: number): void {
  const lines = stepLines(repository);
  const steps = lines.slice(-2).map((line) => JSON.parse(line) as { id: string; turn: number });
  let text = "";
  for (let i = lines.length; i < count; i++) {
    const step = steps[i % 2];
    const time = new Date(Date.parse("2026-01-01") + i * 60_000).toISOString();
    text += `${JSON.stringify({ ...step, id: newStepId(), time, turn: Math.floor(i / 2) })}\n`;
  }
  appendFileSync(listOf(repository), text);
}

function stepLines(repository: Repository): string[] {
  return readFileSync(listOf(repository), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

function listOf(repository: Repository): string {
  return join(repository.path, ".git", "backtrail", "steps.jsonl");
}
