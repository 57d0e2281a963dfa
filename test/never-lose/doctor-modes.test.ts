/** `doctor` never says that nobody can read what somebody can, and `doctor --fix` closes what we have written. */
import { expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScriptedClaude, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";

const env = { BACKTRAIL_WORKER: "off" };
const CLOSED = "ok: only you can read the store";

async function recorded(repository: TemporaryRepository): Promise<void> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  chmodSync(repository.write("private.txt", "private\n"), 0o600);
  await claude.turn("one", [write("a.txt", "a\n")]);
}

/** What it says of who can read what. */
async function modes(repository: TemporaryRepository, ...args: string[]): Promise<string[]> {
  const { stdout } = await repository.run(["doctor", "--json", ...args], { env });
  const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string; message: string }[] };
  return findings.filter(({ check }) => check === "modes").map(({ level, message }) => `${level}: ${message}`);
}

function openAll(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chmodSync(path, stat.isDirectory() ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) openAll(join(path, name));
}

function openBelow(path: string): string[] {
  const stat = lstatSync(path);
  const here = stat.mode & 0o077 ? [path] : [];
  return stat.isDirectory() ? [...here, ...readdirSync(path).flatMap((name) => openBelow(join(path, name)))] : here;
}

test("all files are written private; a file that was opened up is named and made private again", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  expect(await modes(repository)).toEqual([CLOSED]);
  const store = repository.at(".git/backtrail");
  const closed = ["conversations", "private.git", "steps.jsonl", "sessions"];
  for (const name of closed) expect(openBelow(join(store, name))).toEqual([]);
  openAll(store);
  const [said = ""] = await modes(repository);
  expect(said).toStartWith("problem: Others on this machine may read .git/backtrail, ");
  expect(await modes(repository, "--fix")).toEqual([CLOSED]);
  for (const name of closed) expect(openBelow(join(store, name))).toEqual([]);
  expect((await repository.run(["rewind", "1", "--yes", "--code-only"], { env })).code).toBe(0);
});

test("logs of runs, redacted secrets and settings count as well", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const home = join(repository.home, "backtrail");
  const put = (path: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "{}\n");
    openAll(join(path, ".."));
  };
  put(join(home, "data", "redaction", "map"));
  chmodSync(join(home, "data"), 0o755);
  put(repository.at(".aiwr/logs/run.jsonl"));
  put(join(home, "config", "settings.json"));
  chmodSync(join(home, "config"), 0o755);
  const said = (await modes(repository)).join("\n");
  expect(said).toContain("data/redaction/map");
  expect(said).toContain(".aiwr/logs/run.jsonl");
  expect(said).toMatch(/warning: Others on this machine may read your settings: .*settings.json/);
  expect(await modes(repository, "--fix")).toEqual([CLOSED]);
  expect(openBelow(join(home, "config"))).toEqual([]);
  expect((lstatSync(repository.at(".aiwr/logs/run.jsonl")).mode & 0o777).toString(8)).toBe("600");
});

test("the store of a folder without git", async () => {
  using folder = temporaryFolder();
  await recorded(folder);
  expect(await modes(folder)).toEqual([CLOSED]);
  const [name = ""] = readdirSync(join(folder.home, "backtrail/data/folders"));
  const store = join(folder.home, "backtrail/data/folders", name);
  expect((lstatSync(store).mode & 0o777).toString(8)).toBe("700");
  chmodSync(join(folder.home, "backtrail/data"), 0o755);
  chmodSync(join(folder.home, "backtrail/data/folders"), 0o755);
  chmodSync(store, 0o755);
  const [said = ""] = await modes(folder);
  expect(said).toStartWith("problem: Others on this machine may read ");
  expect(await modes(folder, "--fix")).toEqual([CLOSED]);
});

test("copies of private files that an earlier version put into the repository are named", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  repository.write("secret.txt", "secret\n");
  repository.write("public.txt", "public\n");
  await repository.run(["save", "old"], { env });
  // An earlier version knew nothing of permissions, and had every file in the repository.
  for (const list of [".git/backtrail/steps.jsonl", ...recordLists(repository)]) {
    const lines = readFileSync(repository.at(list), "utf8").replaceAll(/,"permissions":(?:null|"[0-9a-f]+")/g, "");
    writeFileSync(repository.at(list), lines);
  }
  expect(await modes(repository)).toEqual([CLOSED]);
  chmodSync(repository.at("secret.txt"), 0o600);
  const [said = ""] = await modes(repository);
  expect(said).toStartWith("warning: Steps of an earlier version have copies of files that others may not read");
  expect(said).toContain("secret.txt (1 step, such as ");
  expect(said).not.toContain("public.txt");
});

function recordLists(repository: TemporaryRepository): string[] {
  const keys = readdirSync(repository.at(".git/backtrail/conversations"));
  return keys.map((key) => join(".git/backtrail/conversations", key, "steps.jsonl"));
}
