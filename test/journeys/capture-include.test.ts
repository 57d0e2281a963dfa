/** Ignored files that the user wants in steps come back like others, and never leave the machine. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { settled } from "./commits.ts";
import type { Forked } from "./forks.ts";

const env = { BACKTRAIL_WORKER: "off" };
const SECRET = "TOKEN=first-of-all-secrets\n";

interface Plan {
  plan: { write: string[]; delete: string[]; notUndone: { what: string }[] };
}

/** `.env` at the root, readable for all; another one in a directory, for the user alone. */
async function started(include: string[]): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude }> {
  const repository = temporaryRepository();
  repository.write(".gitignore", ".env\n*.key\nsecrets/\n");
  repository.commit("ignore");
  repository.write(".env", SECRET);
  repository.write("app/.env", "APP=1\n");
  chmodSync(repository.at("app/.env"), 0o600);
  repository.write("secrets/a.key", "key\n");
  await repository.run(["enable", "--agent", "claude-code"], { env });
  await repository.run(["config", "set", "capture.include", JSON.stringify(include)], { env });
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Begin", [write("one.txt", "1\n")]);
  return { repository, claude };
}

async function rewind(repository: TemporaryRepository): Promise<Plan["plan"]> {
  return (await repository.json<Plan>(["rewind", "1", "--code-only", "--yes"], { env })).plan;
}

test("a turn's changes to them are undone and redone, with their modes", async () => {
  const { repository, claude } = await started([".env", "secrets/*.key"]);
  using _ = repository;
  const commands = ["rm .env", "sed -i s/1/2/ app/.env", "echo more > secrets/b.key", "chmod 644 app/.env"];
  await claude.turn("Change", [write("two.txt", "2\n"), ...commands.map((command) => bash(command))]);
  const plan = await rewind(repository);
  expect(plan.write.sort()).toEqual([".env", "app/.env"]);
  expect(plan.delete.sort()).toEqual(["secrets/b.key", "two.txt"]);
  expect(plan.notUndone).toEqual([]);
  expect(repository.read(".env")).toBe(SECRET);
  expect(statSync(repository.at(".env")).mode & 0o777).toBe(0o644);
  expect(repository.read("app/.env")).toBe("APP=1\n");
  expect(statSync(repository.at("app/.env")).mode & 0o777).toBe(0o600);
  expect(repository.exists("secrets/b.key")).toBe(false);
  await repository.json(["redo", "--yes"], { env });
  expect(repository.exists(".env")).toBe(false);
  expect(repository.read("app/.env")).toBe("APP=2\n");
  expect(repository.read("secrets/b.key")).toBe("more\n");
});

test("an undo takes one turn's change out of them and keeps a later one", async () => {
  const { repository, claude } = await started(["/.env"]);
  using _ = repository;
  repository.write(".env", "A=1\n\n\n\nB=1\n");
  await claude.turn("First", [bash("sed -i s/A=1/A=2/ .env")]);
  await claude.turn("Second", [bash("sed -i s/B=1/B=2/ .env")]);
  await repository.json(["undo", "2", "--yes"], { env });
  expect(repository.read(".env")).toBe("A=1\n\n\n\nB=2\n");
});

test("a fork has them", async () => {
  const { repository, claude } = await started([".env"]);
  using _ = repository;
  await claude.turn("Change", [write("two.txt", "2\n"), bash("echo B=2 >> .env")]);
  const { fork, notes } = await repository.json<Forked>(["fork", "1"], { env });
  const at = (name: string) => join(fork.directory ?? "", name);
  expect(readFileSync(at(".env"), "utf8")).toBe(SECRET);
  expect(statSync(at("app/.env")).mode & 0o777).toBe(0o600);
  expect(notes.join()).not.toContain("app/.env");
});

test("their contents are in the private store alone, and in no clone, commit or checkpoint", async () => {
  const { repository, claude } = await started([".env"]);
  using _ = repository;
  await claude.turn("Change", [write("two.txt", "2\n"), bash("echo OTHER=second-secret >> .env")]);
  repository.commit("two");
  await settled(repository);
  const objects = (...where: string[]) =>
    repository.git(...where, "cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered");
  expect(objects()).not.toContain("first-of-all-secrets");
  expect(repository.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain(".env");
  const refs = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail").split("\n");
  for (const ref of refs) expect(repository.git("ls-tree", "-r", "--name-only", ref)).not.toContain("/.env");
  expect(objects("--git-dir", repository.at(".git/backtrail/private.git"))).toContain("first-of-all-secrets");
  const metadata = repository.checkpoints("grep", "-l", "two.txt", "entire/checkpoints/v1").split("\n");
  expect(metadata.length).toBeGreaterThan(0);
  expect(() => repository.checkpoints("grep", "-e", "first-of-all-secrets", "entire/checkpoints/v1")).toThrow();
});

test("a file that was ignored before the setting was made is left alone", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", ".env\n");
  repository.commit("ignore");
  repository.write(".env", SECRET);
  await repository.run(["enable", "--agent", "claude-code"], { env });
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Begin", [write("one.txt", "1\n")]);
  await repository.run(["config", "set", "capture.include", '[".env"]'], { env });
  await claude.turn("Go on", [write("two.txt", "2\n")]);
  const { plan } = await repository.json<Plan>(["rewind", "2", "--code-only", "--yes"], { env });
  expect(plan.delete.sort()).toEqual(["one.txt", "two.txt"]);
  expect(repository.read(".env")).toBe(SECRET);
});

test("only the user's own settings count, and large files are named", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", ".env\nlarge.bin\n");
  repository.write(".backtrail/settings.json", JSON.stringify({ capture: { include: [".env"] } }));
  repository.commit("ignore");
  repository.write(".env", SECRET);
  repository.write("large.bin", "x".repeat(1_000_001));
  await repository.run(["enable", "--agent", "claude-code"], { env });
  await repository.run(["save", "first"], { env });
  rmSync(repository.at(".env"));
  const { plan } = await repository.json<Plan>(["rewind", "first", "--dry-run"], { env });
  expect(plan.write).toEqual([]);
  await repository.run(["config", "trust", "--yes"], { env });
  await repository.run(["config", "set", "capture.include", '[".env", "/large.bin"]'], { env });
  repository.write(".env", SECRET);
  await repository.run(["save", "second"], { env });
  rmSync(repository.at(".env"));
  rmSync(repository.at("large.bin"));
  const later = await repository.json<Plan>(["rewind", "second", "--code-only", "--yes"], { env });
  expect(later.plan.write).toEqual([".env"]);
  expect(later.plan.notUndone.map(({ what }) => what)).toContain("large.bin");
  expect(existsSync(repository.at("large.bin"))).toBe(false);
});

test("auto-commit leaves them to the user, also if git does not ignore them", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"], { env });
  repository.git("checkout", "--quiet", "-b", "work");
  await repository.run(["config", "set", "strategy", "auto-commit"], { env });
  await repository.run(["config", "set", "capture.include", '[".env"]'], { env });
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Begin", [write("one.txt", "1\n"), write(".env", SECRET)]);
  await settled(repository);
  expect(repository.git("show", "--name-only", "--format=", "HEAD")).toBe("one.txt");
  expect(repository.git("status", "--porcelain")).toBe("?? .env");
});
