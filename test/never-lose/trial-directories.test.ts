/** A throwaway copy is only removed if the mark in it proves that it is one. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

const RECORDS = ".git/backtrail/worktrees/main/trials";
const COMMAND = ["sh", "-c", "test ! -e b.txt"];

async function killedAt(point: string): Promise<{ repository: TemporaryRepository; directory: string }> {
  const repository = temporaryRepository();
  const TMPDIR = join(repository.home, "tmp");
  mkdirSync(TMPDIR);
  const environment = repository.environment.bind(repository);
  repository.environment = (extra) => environment({ TMPDIR, BACKTRAIL_WORKER: "off", ...extra });
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("One", [write("a.txt", "a\n")]);
  await claude.turn("Two", [write("b.txt", "b\n")]);
  await repository.run(["bisect", "--", ...COMMAND], { env: { BACKTRAIL_FAULT: point } });
  const [name = ""] = readdirSync(repository.at(RECORDS));
  const { directory } = JSON.parse(repository.read(`${RECORDS}/${name}`)) as { directory: string };
  return { repository, directory };
}

test("killed before it was made, and a directory of that name since: it stays", async () => {
  const { repository, directory } = await killedAt("trial:recorded");
  using _ = repository;
  mkdirSync(directory);
  writeFileSync(join(directory, "mine.txt"), "mine\n");
  await repository.json(["log"]);
  expect(readFileSync(join(directory, "mine.txt"), "utf8")).toBe("mine\n");
  expect(readdirSync(repository.at(RECORDS))).toEqual([]);
});

test("removed by hand, and another directory in its place: it stays", async () => {
  const { repository, directory } = await killedAt("trial:made");
  using _ = repository;
  expect(existsSync(directory)).toBe(true);
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  writeFileSync(join(directory, "mine.txt"), "mine\n");
  await repository.json(["log"]);
  expect(readFileSync(join(directory, "mine.txt"), "utf8")).toBe("mine\n");
});

test("our own is removed, also after an interrupted removal", async () => {
  const { repository, directory } = await killedAt("trial:made");
  using _ = repository;
  await repository.run(["log"], { env: { BACKTRAIL_FAULT: "removal:emptied" } });
  expect(existsSync(directory)).toBe(false);
  expect(readdirSync(repository.at(RECORDS))).toHaveLength(1);
  await repository.json(["log"]);
  expect(readdirSync(join(repository.home, "tmp"))).toEqual([]);
  expect(readdirSync(repository.at(RECORDS))).toEqual([]);
});
