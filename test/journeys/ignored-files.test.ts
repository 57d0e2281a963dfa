/** A plan names the ignored files that a turn removed, moved, created or changed, however it did that. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

interface Row {
  kind?: string;
  what: string;
  why: string;
  command?: string;
}

const env = { BACKTRAIL_WORKER: "off" };

/** A repository with ignored files of every kind, one quiet turn, and one that runs these commands. */
async function ran(repository: TemporaryRepository, ...commands: string[]): Promise<ScriptedClaude> {
  repository.write(".gitignore", ".env*\n*.log\nnode_modules/\ndist/\n");
  repository.commit("ignore");
  repository.write(".env", "SECRET=1\n");
  repository.write("app.log", "started\n");
  repository.write("sub/inner.log", "inner\n");
  repository.write("sub/kept.txt", "kept\n");
  repository.write("dist/bundle.js", "built\n");
  for (let i = 0; i < 30; i++) repository.write(`node_modules/package-${i}/index.js`, "x\n");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Begin", [write("one.txt", "1\n")]);
  await claude.turn("Work", [write("two.txt", "2\n"), ...commands.map((command) => bash(command))]);
  return claude;
}

async function rowsOf(repository: TemporaryRepository, command: "rewind" | "undo"): Promise<Row[]> {
  const { plan } = await repository.json<{ plan: { notUndone: Row[] } }>([command, "1", "--dry-run"], { env });
  expect(plan.notUndone.every(({ kind }) => kind?.startsWith("ignored-file"))).toBe(true);
  return plan.notUndone.map(({ kind: _, ...row }) => row);
}

/** Without the agent's own settings, which git ignores too: the hooks are in them. */
const CLEAN = "git clean --quiet -fdX -e '!settings.local.json'";
const REMOVED = "it was removed; git ignores it, so its content is not recorded";
const CHANGED = "it was changed; git ignores it, so its earlier content is not recorded";
const CREATED = "it is ignored by git, so it is not recorded";

test.each<[command: string, rows: Row[]]>([
  ["rm .env", [{ what: ".env", why: REMOVED, command: "rm .env" }]],
  ["rm -rf node_modules", [{ what: "node_modules/", why: REMOVED, command: "rm -rf node_modules" }]],
  ["cd sub && rm inner.log", [{ what: "sub/inner.log", why: REMOVED, command: "cd sub && rm inner.log" }]],
  ["rm *.log", [{ what: "app.log", why: REMOVED, command: "rm *.log" }]],
  [
    "mv .env .env.old",
    [
      {
        what: ".env",
        why: "it was moved to .env.old; git ignores it, so it is not recorded",
        command: "mv .env .env.old",
      },
    ],
  ],
  ["sed -i s/1/2/ .env", [{ what: ".env", why: CHANGED, command: "sed -i s/1/2/ .env" }]],
  ["cp one.txt .env.copy", [{ what: ".env.copy", why: CREATED, command: "cp one.txt .env.copy" }]],
  ["cp sub/kept.txt .env", [{ what: ".env", why: CHANGED, command: "cp sub/kept.txt .env" }]],
  [
    CLEAN,
    [".env", "app.log", "dist/", "node_modules/", "sub/inner.log"].map((what) => ({
      what,
      why: REMOVED,
      command: CLEAN,
    })),
  ],
  ["rm dist/bundle.js", [{ what: "dist/bundle.js", why: REMOVED, command: "rm dist/bundle.js" }]],
])("%s is named by rewind and by undo", async (command, rows) => {
  using repository = temporaryRepository();
  await ran(repository, command);
  const byName = (a: Row, b: Row) => (a.what < b.what ? -1 : 1);
  expect((await rowsOf(repository, "rewind")).sort(byName)).toEqual(rows);
  expect((await rowsOf(repository, "undo")).sort(byName)).toEqual(rows);
});

test("a command that removed several files is named once, below the last of them", async () => {
  using repository = temporaryRepository();
  await ran(repository, CLEAN);
  const { stdout } = await repository.run(["rewind", "1", "--dry-run"], { env });
  expect(stdout.split("\n").filter((line) => line.includes(CLEAN))).toEqual([`      all by ${CLEAN}`]);
});

test("what a script removes, changes and makes is found without its name in any command", async () => {
  using repository = temporaryRepository();
  repository.write("tidy.sh", "rm .env app.log\necho changed >> sub/inner.log\necho new > made.log\n");
  await ran(repository, "sh tidy.sh");
  expect(await rowsOf(repository, "rewind")).toEqual([
    { what: ".env", why: REMOVED },
    { what: "app.log", why: REMOVED },
    { what: "sub/inner.log", why: CHANGED },
    { what: "made.log", why: CREATED },
  ]);
});

test("a turn that leaves ignored files alone has nothing to say of them", async () => {
  using repository = temporaryRepository();
  await ran(repository, "cat .env app.log > /dev/null");
  expect(await rowsOf(repository, "rewind")).toEqual([]);
  // What comes later is not this turn's.
  repository.write("app.log", "written by hand\n");
  expect(await rowsOf(repository, "undo")).toEqual([]);
});

test("where no list was made, commands tell", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", "*.log\n.env\ndist/\n");
  repository.commit("ignore");
  await repository.run(["enable", "--agent", "claude-code"]);
  mkdirSync(repository.at("dist"));
  repository.write(".env", "SECRET=1\n");
  const claude = new ScriptedClaude(repository);
  await claude.start();
  rmSync(repository.at(".git/backtrail/worktrees/main/ignored.json"));
  await claude.turn("Work", [write("two.txt", "2\n"), bash("rm -r dist && rm .env"), bash(CLEAN)]);
  expect(existsSync(repository.at(".env"))).toBe(false);
  const rows = await rowsOf(repository, "rewind");
  expect(rows.map(({ what }) => what).sort()).toEqual([".env", `\`${CLEAN}\``, "dist"]);
});
