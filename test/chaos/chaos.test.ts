/** The oracle notices each kind of loss, a failing program is made small, and a short run of the tester finds nothing. */
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join, relative } from "node:path";
import { executable, temporaryDirectory } from "../support/index.ts";
import { Execution, type Outcome } from "./execute.ts";
import { finish } from "./finish.ts";
import type { Violation } from "./model.ts";
import { makeProgram, type Program } from "./program.ts";
import { Shrinker } from "./shrink.ts";

/** Seconds for which `npm test` runs it. */
const SHORT_RUN = 15;

describe("the oracle", () => {
  const cases: [string, string, Violation["kind"][]][] = [
    ["a file that is taken away", "rm a.txt", ["lost"]],
    ["a file that is overwritten", "echo other >a.txt", ["lost"]],
    ["a file that is kept where nobody is told", "mv a.txt .git/kept", ["lost"]],
    ["a file that is kept where its owner is told", 'mv a.txt .git/kept; echo "kept in $PWD/.git/kept"', []],
    ["an ignored file that is moved", "mv local.secret other.secret", ["ignored"]],
    ["a branch that is moved", "git update-ref HEAD HEAD~1", ["refs"]],
    ["an index that is gone with what was staged", "git read-tree HEAD", ["lost"]],
    ["a stash that is dropped", "git stash drop -q", ["commit", "refs", "stash"]],
    ["a refusal that has changed something", "mv a.txt c.txt; exit 4", ["files"]],
    ["a refusal that has changed a branch", "git branch other; exit 4", ["refs"]],
    ["an internal error", "exit 70", ["crash"]],
    ["nothing at all", "true", []],
  ];

  test("what the user writes under one name of a file is written under its other names", () => {
    using execution = new Execution({ seed: 1, variant: "plain", operations: [] }, "/bin/true");
    const { world } = execution;
    const [one, other] = ["a.txt", "again.secret"].map((name) => join(world.repository, name)) as [string, string];
    world.write(one, "first\n");
    world.hardLink(one, other);
    world.touched.clear();
    world.write(one, "second\n");
    expect([...world.touched].sort()).toEqual([relative(world.root, one), relative(world.root, other)]);
  });

  test.each(cases)("%s", async (_, deed, kinds) => {
    using place = temporaryDirectory();
    const program = place.write("backtrail", `#!/bin/sh\ncd "$HOME/../w/p" || exit 1\n${deed}\n`);
    chmodSync(program, 0o755);
    using execution = new Execution({ seed: 1, variant: "plain", operations: [] }, program);
    const { world } = execution;
    world.write(join(world.repository, "local.secret"), "ignored\n");
    world.write(join(world.repository, "b.txt"), "second\n");
    world.git(world.repository, "commit", "-qam", "second");
    world.write(join(world.repository, "b.txt"), "stashed\n");
    world.git(world.repository, "stash", "push", "-q");
    world.write(join(world.repository, "b.txt"), "staged\n");
    world.git(world.repository, "add", "b.txt");
    world.write(join(world.repository, "b.txt"), "third\n");
    world.write(join(world.repository, "a.txt"), "uncommitted\n");
    expect(execution.look()).toEqual([]);
    const violations = await execution.command({ name: "rewind", cwd: world.repository, args: ["rewind"] });
    expect([...new Set(violations.map(({ kind }) => kind))]).toEqual(kinds);
  });
});

test("a program depends on its seed alone", () => {
  expect(makeProgram(7, 40)).toEqual(makeProgram(7, 40));
  expect(makeProgram(8, 40)).not.toEqual(makeProgram(7, 40));
});

test("a failing program is made small", async () => {
  const isFailing = ({ operations }: Program) => {
    const names = operations.map(({ what }) => what);
    return names.includes("save") && names.indexOf("redo") > names.indexOf("save");
  };
  const pretend = async (program: Program): Promise<Outcome> => ({
    violations: isFailing(program) ? [{ kind: "lost", message: "" }] : [],
    at: program.operations.length - 1,
    figures: { operations: 0, commands: 0, kills: 0, contents: 0, steps: 0 },
    script: "",
  });
  const whole = makeProgram(3, 200);
  const { program } = await new Shrinker(pretend, whole, await pretend(whole), 60).shrink();
  expect(program.operations.map(({ what }) => what)).toEqual(["save", "redo"]);
  expect(program.operations.every(({ kill, meanwhile }) => !kill && !meanwhile)).toBe(true);
});

test("a short run loses nothing", async () => {
  const end = performance.now() + SHORT_RUN * 1000;
  for (let seed = 1; performance.now() < end; seed++) {
    const program = makeProgram(seed, 25);
    using execution = new Execution(program, executable());
    const { violations, script } = await execution.run(program, finish);
    if (violations.length > 0)
      throw new Error(`Seed ${seed}: ${violations.map(({ message }) => message).join("\n")}\n${script}`);
  }
}, 100_000);
