/** Another attempt beside the first: made from a step, looked at, compared, brought back, dropped. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, write } from "../support/index.ts";
import { Attempts, type Fork, said, shownIn } from "./forks.ts";

test("a fork has exactly the step's files, its staged changes, and the conversation up to the step", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  repository.write(".gitattributes", "*.crlf text eol=lf\n*.odd -text\n");
  repository.write(".claude/commands/review.md", "Review it.\n");
  repository.commit("attributes");
  repository.write(".claude/commands/review.md", "Review it well.\n");
  await agent.turn("Lay the ground", [write("src/app.ts", "one\n"), write("src/gone.ts", "gone\n")]);
  repository.git("add", "src/app.ts");
  repository.write("src/app.ts", "one and more\n");
  repository.write("un tracked/ü\nline.txt", "odd name\n");
  repository.write("raw.crlf", "kept\r\nas it is\r\n");
  repository.write("tool.sh", "#!/bin/sh\n");
  chmodSync(repository.at("tool.sh"), 0o755);
  symlinkSync("src/app.ts", repository.at("link"));
  const then = attempts.look();
  await agent.turn("Try it one way", [write("src/app.ts", "two\n"), write("new.ts", "new\n")], "That was one way.");
  const now = attempts.look();

  const { fork } = await attempts.fork("1");
  expect(attempts.look(fork.directory)).toEqual(then);
  expect(attempts.look()).toEqual(now);
  expect(repository.git("-C", fork.directory, "branch", "--show-current")).toBe("fork/try-it-one-way");
  expect(repository.git("-C", fork.directory, "rev-parse", "HEAD")).toBe(repository.git("rev-parse", "HEAD"));
  expect(repository.git("branch", "--show-current")).toBe("main");
  expect(said(fork.chat?.file ?? "")).toEqual(["Lay the ground", "Done."]);
  expect(fork.chat?.command).toBe(`cd ${fork.directory} && claude --resume ${fork.chat?.session}`);
  expect((await repository.run(["doctor", "--check"])).code).toBe(0);
});

test("the agent is recorded in the fork, with separate turns", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  const settings = JSON.parse(repository.read(".claude/settings.local.json"));
  repository.write(
    ".claude/settings.local.json",
    JSON.stringify({ permissions: { allow: ["Bash(ls:*)"] }, ...settings }),
  );
  await agent.turn("First", [write("a.txt", "1\n")]);
  await agent.turn("Second", [write("a.txt", "2\n")]);
  const { fork } = await attempts.fork("1", "--branch", "again");
  expect(readFileSync(join(fork.directory, ".claude/settings.local.json"), "utf8")).toBe(
    repository.read(".claude/settings.local.json"),
  );
  expect(repository.git("-C", fork.directory, "status", "--porcelain")).toBe("?? a.txt");
  await attempts.turnIn(fork, "Another way", "a.txt", "other\n");
  const { forks } = await repository.json<{ forks: (Fork & { turns: number })[] }>(["fork", "list"]);
  expect(forks).toMatchObject([{ name: "again", turns: 1, state: "ready" }]);
  const here = await repository.json<{ steps: { prompt: string }[] }>(["log"]);
  expect(here.steps.some(({ prompt }) => prompt === "Another way")).toBe(false);
  // From here, its conversation goes on there.
  const there = await repository.json<{ chat: { command: string } }>(["resume", fork.chat?.session ?? ""]);
  expect(there.chat.command).toBe(fork.chat?.command ?? "");
  const inside = await repository.run(["fork", "drop", "again", "--yes"], { cwd: fork.directory });
  expect(inside.code).toBe(2);
  // In the fork, going back works as anywhere.
  const back = await repository.run(["rewind", "1", "--yes"], { cwd: fork.directory });
  expect(back).toMatchObject({ code: 0 });
  expect(readFileSync(join(fork.directory, "a.txt"), "utf8")).toBe("1\n");
});

test("what a terminal shows, from the fork to its end", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("Write the parser", [write("parser.ts", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")]);
  await agent.turn("Make it faster", [write("parser.ts", "one\n2\n3\n4\n5\n6\n7\n8\n9\n"), write("here.ts", "x\n")]);
  const made = await repository.run(["fork", "1", "--branch", "again"]);
  expect(shownIn(attempts, made)).toBe(`Forked <step> (just now), before "Make it faster"
  name       again
  directory  <forks>/again
  branch     again

Continue the conversation with:
  cd <forks>/again && claude --resume <session>

\`backtrail fork diff again\` compares the fork with this work tree; \`fork take\` merges its changes.
`);
  const again = `${repository.path}.forks/again`;
  writeFileSync(join(again, "parser.ts"), "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  writeFileSync(join(again, "there.ts"), "y\n");
  expect(shownIn(attempts, await repository.run(["fork", "list"]))).toBe(
    "again  just now  0 turns  Make it faster\n  <forks>/again, branch again\n",
  );
  expect(shownIn(attempts, await repository.run(["fork", "diff", "again"]))).toContain(
    `          here              again
  files   +1 ~1             +1 ~1
  lines   +2 -1             +2 -1
  turns   1                 0
  tokens  3390              none
  cost    ~ $0.0034         none
`,
  );
  const { here } = await repository.json<{ here: { cost: unknown } }>(["fork", "diff", "again"]);
  expect(here.cost).toEqual({ usd: 0.00342, estimated: true });
  expect(shownIn(attempts, await repository.run(["fork", "take", "again", "--dry-run"]))).toBe(
    `Take the changes of the fork again
1 file to create, 1 file to write
  ~ parser.ts
  + there.ts
  chat not changed, here and in the fork
`,
  );
  expect((await repository.run(["fork", "take", "again", "--yes"])).code).toBe(0);
  expect(repository.read("parser.ts")).toBe("one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  expect(repository.read("here.ts") + repository.read("there.ts")).toBe("x\ny\n");
  expect((await repository.run(["fork", "take", "again", "--yes"])).code).toBe(3);
  const dropped = await repository.run(["fork", "drop", "again"]);
  expect(shownIn(attempts, dropped)).toBe("Dropped again.\n  Its last state is step <step>.\n");
  expect(existsSync(`${repository.path}.forks`)).toBe(false);
  expect(repository.git("branch", "--list")).toBe("* main");
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  // Taken before the fork went, and taken back after it has gone.
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("parser.ts")).toBe("one\n2\n3\n4\n5\n6\n7\n8\n9\n");
  expect(repository.exists("there.ts")).toBe(false);
  const step = /step ([k-z]{12})/.exec(dropped.stdout)?.[1] ?? "";
  expect((await repository.run(["rewind", step, "--yes"])).code).toBe(0);
  expect(repository.read("there.ts")).toBe("y\n");
});

test("where both changed the same lines nothing is written, unless with markers", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n"), write("b.bin", "\0one\n")]);
  await agent.turn("Second", [write("a.txt", "2\n"), write("b.bin", "\0two\n")]);
  const { fork } = await attempts.fork("1", "--branch", "again");
  writeFileSync(join(fork.directory, "a.txt"), "other\n");
  writeFileSync(join(fork.directory, "b.bin"), "\0other\n");
  writeFileSync(join(fork.directory, "new.txt"), "new\n");
  const before = attempts.look();
  const refused = await repository.run(["fork", "take", "again", "--yes"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("In conflict\n  ✗ a.txt");
  expect(attempts.look()).toEqual(before);
  const taken = await repository.run(["fork", "take", "again", "--yes", "--conflicts", "markers"]);
  expect(taken.code).toBe(0);
  expect(taken.stdout).toContain('note: Look for "<<<<<<< now" and resolve the conflicts in a.txt.');
  expect(taken.stdout).toContain("note: In conflict, and left unchanged because markers can't show it: b.bin.");
  expect(repository.read("a.txt")).toBe("<<<<<<< now\n2\n=======\nother\n>>>>>>> fork-again\n");
  expect(repository.read("b.bin")).toBe("\0two\n");
  expect(repository.read("new.txt")).toBe("new\n");
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(attempts.look()).toEqual(before);
});

test("a branch alone holds the files as a commit", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  await agent.turn("Second", [write("a.txt", "2\n")]);
  const { fork } = await attempts.fork("1", "--branch-only", "--branch", "odd/näme");
  expect(fork).toMatchObject({ kind: "branch", directory: null, branch: "odd/näme" });
  expect(fork.chat?.command).toBe(`git switch 'odd/näme' && claude --resume ${fork.chat?.session}`);
  expect(repository.git("show", "odd/näme:a.txt")).toBe("1");
  expect(repository.git("rev-parse", "odd/näme^")).toBe(repository.git("rev-parse", "main"));
  expect((await repository.run(["fork", "diff", fork.name])).stdout).toContain("< a.txt");
  const dropped = await repository.run(["fork", "drop", fork.name]);
  expect(dropped.stdout).toContain("Its commits are kept");
  expect(repository.git("branch", "--list")).toBe("* main");
  const [, branch, ref] = /git branch (\S+) (\S+)/.exec(dropped.stdout) ?? [];
  repository.git("branch", branch ?? "", ref ?? "");
  expect(repository.git("show", "odd/näme:a.txt")).toBe("1");
});

test("commits that were made in a fork on no branch are kept when it is dropped", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const { fork } = await attempts.fork("1");
  const inFork = (...args: string[]) => repository.git("-C", fork.directory, ...args);
  inFork("checkout", "--quiet", "--detach");
  inFork("commit", "--quiet", "--allow-empty", "-m", "On no branch");
  const commit = inFork("rev-parse", "HEAD");
  const dropped = await repository.run(["fork", "drop", fork.name]);
  expect(dropped.stdout).toContain("Commits without a branch are kept");
  repository.git("gc", "--quiet", "--prune=now");
  const [, branch, ref] = /git branch (\S+) (\S+)/.exec(dropped.stdout) ?? [];
  repository.git("branch", branch ?? "", ref ?? "");
  expect(repository.git("rev-parse", branch ?? "")).toBe(commit);
});

test("changes that are only staged in a fork are kept when the fork is dropped", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const { fork } = await attempts.fork("last", "--branch", "again");
  writeFileSync(join(fork.directory, "a.txt"), "staged\n");
  repository.git("-C", fork.directory, "add", "a.txt");
  writeFileSync(join(fork.directory, "a.txt"), "1\n");
  const dropped = await repository.run(["fork", "drop", "again"]);
  const step = /step ([k-z]{12})/.exec(dropped.stdout)?.[1] ?? "none";
  expect((await repository.run(["rewind", step, "--yes"])).code).toBe(0);
  expect(repository.git("show", ":a.txt")).toBe("staged");
});

test("a folder without git: a plain directory that shares the store", async () => {
  using attempts = await Attempts.begin(temporaryFolder());
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  await agent.turn("Second", [write("a.txt", "2\n"), write("b.txt", "2\n")]);
  const { fork } = await attempts.fork("1");
  expect(fork).toMatchObject({ kind: "directory", branch: null });
  expect(readFileSync(join(fork.directory, "a.txt"), "utf8")).toBe("1\n");
  expect(existsSync(join(fork.directory, "b.txt"))).toBe(false);
  await attempts.turnIn(fork, "Another way", "a.txt", "other\n");
  expect((await repository.json<{ forks: unknown[] }>(["fork", "list"])).forks).toMatchObject([{ turns: 1 }]);
  expect((await repository.run(["fork", "take", fork.name, "--yes"])).code).toBe(4);
  expect((await repository.run(["fork", "--branch-only", "1"])).code).toBe(2);
  expect((await repository.run(["fork", "drop", fork.name, "--yes"])).code).toBe(0);
  expect(existsSync(fork.directory)).toBe(false);
  expect(repository.read("a.txt")).toBe("2\n");
});

test("a handoff to another agent: the fork begins with the conversation", async () => {
  using attempts = await Attempts.begin();
  const { agent } = attempts;
  await agent.turn("Write the parser", [write("parser.ts", "1\n")], "The parser is there.");
  await agent.turn("Make it faster", [write("parser.ts", "2\n")], "It is faster.");
  expect((await attempts.fork("1", "--agent", "claude")).fork.chat?.session).not.toBeNull();
  const { fork } = await attempts.fork("1", "--agent", "codex");
  const file = fork.chat?.file ?? "";
  expect(fork.chat).toMatchObject({ agent: "codex", session: null });
  expect(fork.chat?.command).toBe(`cd ${fork.directory} && codex "$(cat ${file})"`);
  const text = readFileSync(file, "utf8");
  expect(text).toContain("Write the parser");
  expect(text).toContain("The parser is there.");
  expect(text).not.toContain("Make it faster");
});

test("what would be lost is named, and asked about", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  repository.write(".gitignore", "*.log\n");
  repository.commit("ignore");
  await agent.turn("First", [write("a.txt", "1\n")]);
  repository.write("own.log", "log\n");
  const { fork, notes } = await attempts.fork("last", "--branch", "again");
  expect(notes).toEqual(["Ignored files are not in it: own.log."]);
  writeFileSync(join(fork.directory, "build.log"), "log\n");
  const asked = await repository.run(["fork", "drop", "again"]);
  expect(asked.code).toBe(4);
  expect(asked.stderr).toContain("! build.log: git ignores it, so no step holds it");
  expect(asked.stderr).toContain("Give --yes");
  expect(existsSync(join(fork.directory, "build.log"))).toBe(true);
  expect((await repository.run(["fork", "drop", "aga", "--yes"])).code).toBe(3);
  expect((await repository.run(["fork", "drop", "again", "--yes"])).code).toBe(0);
});

test("a fork in which an agent is open is not dropped without a question", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const { fork } = await attempts.fork("last", "--branch", "again");
  await attempts.turnIn(fork, "Second", "b.txt", "2\n");
  const asked = await repository.run(["fork", "drop", "again"]);
  expect([asked.code, existsSync(fork.directory)]).toEqual([4, true]);
  expect(asked.stderr).toContain("A session of claude-code: the agent is still open there");
  expect(asked.stderr).toContain("Give --yes");
});

test("a fork whose directory was removed is shown as gone, and can be dropped", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const { fork } = await attempts.fork("last", "--branch", "again");
  rmSync(fork.directory, { recursive: true });
  expect((await repository.run(["fork", "list"])).stdout).toContain("gone");
  expect((await repository.run(["fork", "diff", "again"])).code).toBe(3);
  expect((await repository.run(["fork", "take", "again", "--yes"])).code).toBe(3);
  expect((await repository.run(["fork", "drop", "again"])).code).toBe(0);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(repository.git("branch", "--list")).toBe("* main");
});

test("a fork that was moved with git is still known", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const { fork } = await attempts.fork("last", "--branch", "again");
  const moved = `${repository.path}-elsewhere`;
  repository.git("worktree", "move", fork.directory, moved);
  const { forks } = await repository.json<{ forks: Fork[] }>(["fork", "list"]);
  expect(forks).toMatchObject([{ directory: moved, state: "ready" }]);
  expect((await repository.run(["fork", "drop", "again"])).code).toBe(0);
  expect(existsSync(moved)).toBe(false);
});

test("the step behind a fork is kept as long as the fork is", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  await agent.turn("Second", [write("a.txt", "2\n")]);
  const { fork } = await attempts.fork("1", "--branch", "again");
  const late = { minute: 400 * 24 * 60, env: { BACKTRAIL_WORKER: "off" } };
  expect((await repository.run(["clean", "--yes"], late)).code).toBe(0);
  const left = await repository.json<{ steps: { id: string }[] }>(["log", "--limit", "0"]);
  expect(left.steps.map(({ id }) => id)).toEqual([fork.step ?? ""]);
  expect((await repository.run(["fork", "diff", "again"])).code).toBe(0);
});
