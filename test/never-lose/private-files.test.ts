/** Files that others may not read are recorded and come back, and no copy of them is where others, or a clone, find it. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { objectsOf, wordsBelow } from "../support/leftovers.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Place extends Disposable {
  repository: TemporaryRepository;
  claude: ScriptedClaude;
}

async function enabled(): Promise<Place> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  return { repository, claude, [Symbol.dispose]: () => repository.remove() };
}

function writePrivate(repository: TemporaryRepository, name: string, content: string): void {
  chmodSync(repository.write(name, content), 0o600);
}

function modeOf(repository: TemporaryRepository, name: string): string {
  return (lstatSync(repository.at(name)).mode & 0o777).toString(8);
}

/** Whether the user's repository, with all its objects, has the words, and is whole by itself. */
function inRepository(repository: TemporaryRepository, words: readonly string[]): string[] {
  const said = repository.git("fsck", "--strict", "--no-dangling", "--full");
  expect(said).not.toMatch(/missing|broken/);
  const all = objectsOf(repository.at(".git"));
  return words.filter((word) => all.includes(word));
}

async function stepBefore(repository: TemporaryRepository, turn: number): Promise<string> {
  const { steps } = await repository.json<{ steps: { id: string; kind: string; turn: number }[] }>(["log"], { env });
  return steps.find((step) => step.kind === "turn-start" && step.turn === turn)?.id ?? "";
}

test("what a private file holds is in no object of the repository, and in no copy of it", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  writePrivate(repository, "private.pem", "MY-PRIVATE-FILE\n");
  mkdirSync(repository.at("closed"));
  repository.write("closed/inner/note.txt", "IN-CLOSED-DIRECTORY\n");
  symlinkSync("LINK-IN-CLOSED-DIRECTORY", repository.at("closed/link"));
  chmodSync(repository.at("closed"), 0o700);
  writePrivate(repository, "README.md", "CHANGED-TRACKED-FILE\n");
  await claude.turn("one", [write("new.txt", "PUBLIC-FILE\n")]);
  const words = ["MY-PRIVATE-FILE", "IN-CLOSED-DIRECTORY", "LINK-IN-CLOSED-DIRECTORY", "CHANGED-TRACKED-FILE"];
  expect(inRepository(repository, [...words, "PUBLIC-FILE"])).toEqual(["PUBLIC-FILE"]);
  expect(objectsOf(repository.at(".git")).includes("private.pem")).toBe(false);
  const copies = join(repository.home, "copies");
  repository.git("clone", "--quiet", repository.path, join(copies, "clone"));
  repository.git("clone", "--quiet", "--mirror", `file://${repository.path}`, join(copies, "mirror.git"));
  repository.git("bundle", "create", "--quiet", join(copies, "all.bundle"), "--all");
  repository.git("init", "--quiet", "--bare", join(copies, "pushed.git"));
  repository.git("push", "--quiet", "--mirror", join(copies, "pushed.git"));
  expect(wordsBelow(copies, words)).toEqual([]);
  const own = repository.at(".git/backtrail/private.git");
  expect(words.filter((word) => objectsOf(own).includes(word))).toEqual(words);
  expect((lstatSync(own).mode & 0o777).toString(8)).toBe("700");
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
});

test("rewind, redo and undo give it back, with its mode, after git's own garbage collection, too", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  writePrivate(repository, "keys/private.pem", "one\n");
  await claude.turn("first", [write("a.txt", "a\n")]);
  await claude.turn("second", [bash("echo two >keys/private.pem"), write("a.txt", "b\n")]);
  await claude.turn("third", [bash("rm keys/private.pem"), write("b.txt", "b\n")]);
  repository.git("gc", "--quiet", "--prune=now");
  await repository.json(["rewind", await stepBefore(repository, 3), "--yes", "--code-only"], { env });
  expect([repository.read("keys/private.pem"), modeOf(repository, "keys/private.pem")]).toEqual(["two\n", "600"]);
  await repository.json(["rewind", await stepBefore(repository, 2), "--yes", "--code-only"], { env });
  expect([repository.read("keys/private.pem"), modeOf(repository, "keys/private.pem")]).toEqual(["one\n", "600"]);
  await repository.json(["redo", "--yes"], { env });
  expect(repository.read("keys/private.pem")).toBe("two\n");
  await repository.json(["redo", "--yes"], { env });
  expect(repository.exists("keys/private.pem")).toBe(false);
  repository.git("gc", "--quiet", "--prune=now");
  await repository.json(["undo", await stepBefore(repository, 3), "--yes"], { env });
  expect([repository.read("keys/private.pem"), modeOf(repository, "keys/private.pem")]).toEqual(["two\n", "600"]);
  expect(inRepository(repository, ["one\n", "two\n", "private.pem"])).toEqual([]);
});

test("undo merges into a private file, and what it computes is not in the repository either", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  const lines = (...changed: string[]) =>
    Array.from({ length: 12 }, (_, i) => `${changed[i] ?? `line ${i}`}\n`).join("");
  writePrivate(repository, "private.txt", lines());
  await claude.turn("first", [bash("sed -i 's/line 1$/MY-FIRST/' private.txt")]);
  await claude.turn("second", [bash("sed -i 's/line 9$/MY-SECOND/' private.txt")]);
  await repository.json(["undo", await stepBefore(repository, 1), "--yes"], { env });
  expect(repository.read("private.txt")).toContain("line 1\n");
  expect(repository.read("private.txt")).toContain("MY-SECOND\n");
  expect(modeOf(repository, "private.txt")).toBe("600");
  expect(inRepository(repository, ["MY-FIRST", "MY-SECOND", "private.txt"])).toEqual([]);
});

test("show and diff read it; a fork has it, a branch alone has not, and taking that does not remove it", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  writePrivate(repository, "private.txt", "one\n");
  await claude.turn("first", [bash("echo two >>private.txt"), write("a.txt", "a\n")]);
  const first = await stepBefore(repository, 1);
  const diff = await repository.run(["diff", first], { env });
  expect(diff.stdout).toContain("+two");
  await claude.turn("second", [write("b.txt", "b\n")]);
  const second = await stepBefore(repository, 2);
  const { fork } = await repository.json<{ fork: { directory: string; name: string } }>(["fork", second], { env });
  const copy = join(fork.directory, "private.txt");
  expect([readFileSync(copy, "utf8"), (lstatSync(copy).mode & 0o777).toString(8)]).toEqual(["one\ntwo\n", "600"]);
  writeFileSync(copy, "one\ntwo\nthree\n");
  await repository.json(["fork", "take", fork.name, "--yes"], { env });
  expect(repository.read("private.txt")).toBe("one\ntwo\nthree\n");
  const alone = await repository.json<{ fork: { name: string }; notes: string[] }>(
    ["fork", second, "--branch-only", "--branch", "alone"],
    { env },
  );
  expect(alone.notes).toEqual(["Files that others may not read are not in it: private.txt."]);
  expect(repository.git("ls-tree", "-r", "--name-only", "alone").split("\n")).toEqual(["README.md", "a.txt"]);
  await repository.json(["fork", "drop", fork.name, "--yes"], { env });
  expect(repository.exists("private.txt")).toBe(true);
  expect(inRepository(repository, ["one\ntwo", "private.txt"])).toEqual([]);
});

test("a change that git takes for none is in the safety step, and not in the repository", async () => {
  using place = await enabled();
  const { repository } = place;
  repository.git("config", "core.checkStat", "minimal");
  repository.git("config", "core.trustctime", "false");
  writePrivate(repository, "kept.txt", "ANOTHER-PRIVATE-FILE\n");
  writePrivate(repository, "f.txt", "aaaaaaaaaa\n");
  repository.git("add", "f.txt");
  repository.git("commit", "--quiet", "--message", "one");
  await repository.run(["save", "before"], { env });
  repository.write("f.txt", "bbbbbbbbbb\n");
  utimesSync(repository.at("f.txt"), 1_000_000_000, 1_000_000_000);
  repository.git("commit", "--quiet", "--all", "--message", "two");
  repository.write("f.txt", "MY-PRIVATE\n");
  utimesSync(repository.at("f.txt"), 1_000_000_000, 1_000_000_000);
  expect(repository.git("status", "--porcelain", "f.txt")).toBe("");
  await repository.json(["rewind", "before", "--yes"], { env });
  expect(repository.read("f.txt")).toBe("aaaaaaaaaa\n");
  await repository.json(["redo", "--yes"], { env });
  expect([repository.read("f.txt"), modeOf(repository, "f.txt")]).toEqual(["MY-PRIVATE\n", "600"]);
  expect(inRepository(repository, ["MY-PRIVATE", "ANOTHER-PRIVATE-FILE", "kept.txt"])).toEqual([]);
});

test("what a fork that is dropped holds is in a step, and not in the repository", async () => {
  using place = await enabled();
  const { repository } = place;
  await repository.run(["save", "base"], { env });
  const { fork } = await repository.json<{ fork: { directory: string; name: string } }>(["fork", "base"], { env });
  const write = (name: string, content: string) => {
    writeFileSync(join(fork.directory, name), content);
    chmodSync(join(fork.directory, name), 0o600);
  };
  repository.git("-C", fork.directory, "update-index", "--skip-worktree", "README.md");
  write("README.md", "HIDDEN-AND-PRIVATE\n");
  write("private.txt", "MY-PRIVATE\n");
  await repository.json(["fork", "drop", fork.name, "--yes"], { env });
  expect(inRepository(repository, ["HIDDEN-AND-PRIVATE", "MY-PRIVATE"])).toEqual([]);
  const { steps } = await repository.json<{ steps: { id: string; name: string | null }[] }>(["log", "--all"], { env });
  const dropped = steps.find(({ name }) => name?.includes(fork.name))?.id ?? steps[0]?.id ?? "";
  await repository.json(["rewind", dropped, "--yes", "--code-only"], { env });
  expect([repository.read("private.txt"), repository.read("README.md")]).toEqual([
    "MY-PRIVATE\n",
    "HIDDEN-AND-PRIVATE\n",
  ]);
});

test("a large file that was public before is kept by the private store alone, and comes back", async () => {
  using place = await enabled();
  const { repository } = place;
  const content = Buffer.alloc(9 << 20, "LARGE-PRIVATE-FILE ");
  repository.write("large.bin", content);
  await repository.run(["save", "public"], { env });
  chmodSync(repository.at("large.bin"), 0o600);
  await repository.run(["save", "private"], { env });
  rmSync(repository.at("large.bin"));
  const { steps } = await repository.json<{ steps: { id: string; name: string }[] }>(["log"], { env });
  await repository.json(["forget", steps.find(({ name }) => name === "public")?.id ?? "", "--yes"], { env });
  repository.git("gc", "--quiet", "--prune=now");
  expect(inRepository(repository, ["LARGE-PRIVATE-FILE"])).toEqual([]);
  await repository.json(["rewind", "private", "--yes"], { env });
  expect(readFileSync(repository.at("large.bin")).equals(content)).toBe(true);
  expect(modeOf(repository, "large.bin")).toBe("600");
});

test("a file whose line endings git converts", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  repository.git("config", "core.autocrlf", "input");
  writePrivate(repository, "private.txt", "MY-PRIVATE\r\nFILE\r\n");
  repository.write("public.txt", "PUBLIC\r\n");
  await claude.turn("first", [bash("rm private.txt")]);
  await repository.json(["rewind", await stepBefore(repository, 1), "--yes", "--code-only"], { env });
  expect(repository.read("private.txt")).toBe("MY-PRIVATE\r\nFILE\r\n");
  expect(inRepository(repository, ["MY-PRIVATE", "PUBLIC"])).toEqual(["PUBLIC"]);
});

test("a file that becomes private, or public, is recorded in the right place from then on", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  repository.write("file.txt", "FIRST-PUBLIC\n");
  await claude.turn("first", []);
  writePrivate(repository, "file.txt", "THEN-PRIVATE\n");
  await claude.turn("second", []);
  chmodSync(repository.at("file.txt"), 0o644);
  await claude.turn("third", [write("other.txt", "x\n")]);
  expect(inRepository(repository, ["FIRST-PUBLIC", "THEN-PRIVATE"])).toEqual(["FIRST-PUBLIC", "THEN-PRIVATE"]);
  writePrivate(repository, "file.txt", "PRIVATE-AGAIN\n");
  await claude.turn("fourth", []);
  expect(inRepository(repository, ["PRIVATE-AGAIN"])).toEqual([]);
  for (const [turn, content] of [
    [1, "FIRST-PUBLIC\n"],
    [2, "THEN-PRIVATE\n"],
    [4, "PRIVATE-AGAIN\n"],
  ] as const) {
    await repository.json(["rewind", await stepBefore(repository, turn), "--yes", "--code-only"], { env });
    expect(repository.read("file.txt")).toBe(content);
  }
});

test("the user's own add and commit do not depend on the private store", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  writePrivate(repository, "private.txt", "MINE\n");
  writePrivate(repository, "other.txt", "OTHER\n");
  await claude.turn("first", []);
  repository.git("add", "private.txt");
  repository.git("commit", "--quiet", "--message", "with it");
  rmSync(repository.at(".git/backtrail/private.git"), { recursive: true });
  expect(repository.git("show", "HEAD:private.txt")).toBe("MINE");
  repository.git("fsck", "--strict");
  const report = await repository.run(["doctor", "--check", "--json"], { env });
  const { findings } = JSON.parse(report.stdout) as { findings: { check: string; level: string }[] };
  expect(findings.filter(({ level }) => level === "problem").map(({ check }) => check)).toEqual(["objects"]);
  await claude.turn("second", [write("a.txt", "a\n")]);
  expect((await repository.run(["rewind", "1", "--yes", "--code-only"], { env })).code).toBe(0);
});

test("forget removes it at once, and what other sessions hold stays", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  writePrivate(repository, "first.txt", "OF-THE-FIRST\n");
  writePrivate(repository, "both.txt", "OF-BOTH\n");
  await claude.turn("first", [write("a.txt", "a\n")]);
  await claude.end();
  rmSync(repository.at("first.txt"));
  const second = new ScriptedClaude(repository);
  await second.start();
  await second.turn("second", [bash("rm both.txt")]);
  const own = repository.at(".git/backtrail/private.git");
  expect(wordsBelow(repository.at(".git"), ["OF-THE-FIRST", "OF-BOTH"])).toEqual(["OF-THE-FIRST", "OF-BOTH"]);
  await repository.json(["forget", claude.session, "--yes"], { env });
  expect(wordsBelow(repository.at(".git"), ["OF-THE-FIRST", "OF-BOTH"])).toEqual(["OF-BOTH"]);
  for (const name of readdirSync(join(own, "objects/pack")))
    expect(lstatSync(join(own, "objects/pack", name)).mode & 0o077).toBe(0);
  const { steps } = await repository.json<{ steps: { id: string; kind: string }[] }>(["log"], { env });
  const start = steps.find(({ kind }) => kind === "turn-start")?.id ?? "";
  await repository.json(["rewind", start, "--yes", "--code-only"], { env });
  expect(repository.read("both.txt")).toBe("OF-BOTH\n");
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
});

test("expired steps release it", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  writePrivate(repository, "private.txt", "OLD\n");
  await claude.turn("first", [bash("rm private.txt")]);
  const later = new Date(Date.now() + 40 * 24 * 60 * 60 * 1000).toISOString();
  await repository.json(["clean", "--yes"], { env: { ...env, BACKTRAIL_CLOCK: later } });
  const own = repository.at(".git/backtrail/private.git");
  expect(Bun.spawnSync(["git", "--git-dir", own, "for-each-ref"]).stdout.toString()).toBe("");
});
