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
  const ours = new Turned(executable, join(place, "back"), sizes);
  const status = { ...ours.rewind(), program: "git", args: STATUS };
  const plan = compare({ run: () => timed(status) }, { run: () => timed(ours.rewind("--dry-run", "--json")) }, pairs);
  const apply = compare(
    checkout(join(place, "checkout"), sizes),
    anew((count) => {
      const turned = new Turned(executable, join(place, `back-${count}`), sizes);
      return () => timed(turned.rewind("--yes", "--code-only"));
    }),
    Math.ceil(pairs / 2),
  );
  return [
    { group, what: "plan", base: "`git status`", goal: { kind: "ratio", most: 5 }, times: plan },
    { group, what: "apply", base: "`git checkout`", goal: { kind: "ratio", most: 2 }, times: apply },
  ];
}

/** A repository in which the last turn changed this many files. */
class Turned {
  readonly #executable: string;
  readonly #repository: Repository;

  constructor(executable: string, place: string, { files, changed }: BackSizes) {
    this.#executable = executable;
    this.#repository = new Repository(place, files);
    enable(executable, this.#repository);
    const session = new BenchSession(executable, this.#repository);
    timed(session.start());
    // Files that are new to git are there from the first turn on, so that the second is written back whole.
    for (let i = 0; i < 2; i++) {
      timed(session.prompt());
      session.answer();
      this.#repository.change(changed);
      timed(session.stop());
      settle(executable, this.#repository);
    }
    Bun.sleepSync(SETTLED_MS);
  }

  rewind(...options: string[]): Program {
    const { path: cwd } = this.#repository;
    return { program: this.#executable, args: ["rewind", "1", ...options], cwd, env: this.#repository.environment() };
  }
}

/**
 * Measured once in each directory: after deleting many files, ext4 takes several times as long to create
 * new ones there, and no user rewinds hundreds of files every other second.
 */
function anew(make: (count: number) => () => number): Contender {
  let count = 0;
  let run = () => 0;
  return {
    prepare: () => {
      run = make(count++);
    },
    run: () => run(),
  };
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

/** `git checkout` of as many paths, to as they were one commit before, in a repository that is just the same. */
function checkout(place: string, { files, changed }: BackSizes): Contender {
  return anew((count) => {
    const repository = new Repository(`${place}-${count}`, files);
    for (const message of ["first turn", "second turn"]) {
      repository.change(changed);
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "--message", message);
    }
    const [cwd, env] = [repository.path, repository.environment()];
    const list = join(repository.home, "paths");
    writeFileSync(list, Bun.spawnSync(["git", "diff", "--name-only", "HEAD~1", "HEAD"], { cwd, env }).stdout);
    Bun.sleepSync(SETTLED_MS);
    repository.git("update-index", "-q", "--refresh");
    const args = ["checkout", "--quiet", "HEAD~1", `--pathspec-from-file=${list}`];
    return () => timed({ program: "git", args, cwd, env });
  });
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
