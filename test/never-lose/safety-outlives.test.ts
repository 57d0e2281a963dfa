/** The state before a restore is not dropped to make room: it is said before that it does not fit, and `redo` works after pruning. */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { edit, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Planned {
  plan: { oversized?: { bytes: number; limit: number; keptUntil: string } };
}

async function enabled(maxSize: string): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["config", "set", "retention.max_size", maxSize], { env });
  return repository;
}

/** The daily pruning, now, and then git's own. */
async function prune(repository: TemporaryRepository): Promise<void> {
  rmSync(repository.at(".git/backtrail/pruned"), { force: true });
  expect((await repository.run(["worker", repository.path])).code).toBe(0);
  repository.git("gc", "--quiet", "--prune=now");
}

function random(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(data.subarray(at, Math.min(bytes, at + 65_536)));
  return data;
}

test("untracked files that a rewind takes away, more than steps may take", async () => {
  using repository = await enabled("1000000");
  await repository.run(["save", "s0"], { env });
  for (const name of ["data1.bin", "data2.bin", "data3.bin"]) repository.write(name, random(1_000_000));
  repository.write("notes.txt", "MY UNTRACKED NOTES\n");
  const dry = await repository.json<Planned>(["rewind", "s0", "--dry-run"], { env });
  expect(dry.plan.oversized).toMatchObject({ bytes: 3_000_019, limit: 1_000_000 });
  const days = (Date.parse(dry.plan.oversized?.keptUntil ?? "") - Date.now()) / (24 * 60 * 60 * 1000);
  expect(Math.round(days)).toBe(30);
  const shown = await repository.run(["rewind", "s0", "--dry-run"], { env });
  expect(shown.stdout).toMatch(
    /room the previous state takes up to 3(\.0)? MB, more than retention\.max_size \(1(\.0)? MB\); it is kept until/,
  );
  const done = await repository.run(["rewind", "s0", "--yes"], { env });
  expect(done.stdout).toContain("note: the previous state takes up to");
  expect(repository.exists("notes.txt")).toBe(false);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  for (const n of [1, 2, 3]) await claude.turn(`turn ${n}`, [write("n.txt", `${n}\n`)]);
  await prune(repository);
  const report = await repository.json<{ findings: { check: string; level: string }[] }>(["doctor"], { env });
  expect(report.findings.find(({ check }) => check === "size")?.level).toBe("ok");
  await repository.json(["redo", "--yes"], { env });
  expect(repository.read("notes.txt")).toBe("MY UNTRACKED NOTES\n");
  expect(repository.exists("data3.bin")).toBe(true);
});

test("an undo can be undone after the turn's steps would have expired", async () => {
  using repository = await enabled("100000");
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("first", [write("a.txt", "one\ntwo\nthree\n")]);
  await claude.turn("second", [edit("a.txt", "two", "TWO")]);
  await claude.turn("third", [write("b.txt", "b\n")]);
  const { steps } = await repository.json<{ steps: { id: string; turn: number }[] }>(["log"], { env });
  await repository.json(["undo", steps.find(({ turn }) => turn === 2)?.id ?? "", "--yes"], { env });
  expect(repository.read("a.txt")).toBe("one\ntwo\nthree\n");
  for (let n = 4; n < 14; n++) {
    writeFileSync(repository.at("big.bin"), random(60_000));
    await claude.turn(`turn ${n}`, []);
  }
  await prune(repository);
  await repository.json(["redo", "--yes"], { env });
  expect(repository.read("a.txt")).toBe("one\nTWO\nthree\n");
});

test("what fits is not worth a word", async () => {
  using repository = await enabled("1000000");
  await repository.run(["save", "s0"], { env });
  repository.write("notes.txt", "notes\n");
  const dry = await repository.json<Planned>(["rewind", "s0", "--dry-run"], { env });
  expect(dry.plan.oversized).toBeUndefined();
});
