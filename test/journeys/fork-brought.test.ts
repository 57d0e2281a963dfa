/** A fork that can run at once: ignored directories linked or copied into it, and only some files taken back. */
import { expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { write } from "../support/index.ts";
import { Attempts, type Fork } from "./forks.ts";

/** `node_modules/` matches only directories, so git would show a link of that name. */
async function world(): Promise<Attempts> {
  const attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  repository.write(".gitignore", "node_modules/\n.env\n");
  repository.commit("ignore");
  repository.write("node_modules/left-pad/index.js", "module.exports = 1;\n");
  repository.write(".env", "KEY=1\n");
  await agent.turn("First", [write("a.txt", "1\n"), write("b.txt", "1\n")]);
  return attempts;
}

test("ignored paths are linked and copied, stay out of git's sight, and a drop loses nothing", async () => {
  using attempts = await world();
  const { repository } = attempts;
  const exclude = repository.read(".git/info/exclude");
  const { fork, notes } = await attempts.fork("last", "--link", "node_modules", "--copy", ".env");
  const there = (path: string) => join(fork.directory, path);
  expect(readlinkSync(there("node_modules"))).toBe(repository.at("node_modules"));
  expect(readFileSync(there(".env"), "utf8")).toBe("KEY=1\n");
  expect(lstatSync(there(".env")).isSymbolicLink()).toBe(false);
  expect(repository.git("-C", fork.directory, "status", "--porcelain", "--", "node_modules", ".env")).toBe("");
  expect(notes.join("\n")).not.toContain("What git ignores");

  const compared = await repository.json<{ there: { files: { added: string[] } } }>(["fork", "diff", fork.name]);
  expect(compared.there.files.added).toEqual([]);
  // A copy that is as the original, and a link to it: nothing has to be asked.
  const dropped = await repository.run(["fork", "drop", fork.name]);
  expect([dropped.code, dropped.stderr]).toEqual([0, ""]);
  expect(existsSync(fork.directory)).toBe(false);
  expect(repository.read("node_modules/left-pad/index.js")).toBe("module.exports = 1;\n");
  expect(repository.read(".git/info/exclude")).toBe(exclude);
});

test("the line that hides a link stays while another fork has the same one", async () => {
  using attempts = await world();
  const { repository } = attempts;
  const one = await attempts.fork("last", "--branch", "one", "--link", "node_modules");
  const two = await attempts.fork("last", "--branch", "two", "--link", "node_modules");
  await repository.run(["fork", "drop", one.fork.name]);
  expect(repository.git("-C", two.fork.directory, "status", "--porcelain", "--", "node_modules")).toBe("");
});

test("a changed copy is asked about, and files that git does not ignore are not copied", async () => {
  using attempts = await world();
  const { repository } = attempts;
  const { fork } = await attempts.fork("last", "--copy", ".env");
  writeFileSync(join(fork.directory, ".env"), "KEY=2\n");
  const refused = await repository.run(["fork", "drop", fork.name]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain(".env: git ignores it, so no step holds it");
  for (const [path, message] of [
    ["a.txt", "is not ignored by git"],
    ["nowhere", "is not in this work tree"],
    ["../else", "is not a path below"],
  ] as const) {
    const result = await repository.run(["fork", "last", "--link", path]);
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain(message);
  }
  const { forks } = await repository.json<{ forks: Fork[] }>(["fork", "list"]);
  expect(forks.map(({ name }) => name)).toEqual([fork.name]);
});

test("a copy into a fork of a step without the rule that ignores it stays out of git's sight", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  repository.write(".gitignore", ".env\nbuild/\n");
  repository.write(".env", "KEY=1\n");
  repository.write("build/out.js", "1\n");
  const exclude = repository.read(".git/info/exclude");
  const { fork } = await attempts.fork("last", "--copy", ".env", "--copy", "build");
  expect(readFileSync(join(fork.directory, ".env"), "utf8")).toBe("KEY=1\n");
  expect(existsSync(join(fork.directory, ".gitignore"))).toBe(false);
  expect(repository.git("-C", fork.directory, "status", "--porcelain", "--", ".env", "build")).toBe("");
  const dropped = await repository.run(["fork", "drop", fork.name]);
  expect([dropped.code, dropped.stderr]).toEqual([0, ""]);
  expect(repository.read(".git/info/exclude")).toBe(exclude);
});

test("fork take --paths takes only some of the files", async () => {
  using attempts = await world();
  const { repository } = attempts;
  const { fork } = await attempts.fork("last");
  mkdirSync(join(fork.directory, "src"));
  writeFileSync(join(fork.directory, "src/new.ts"), "new\n");
  writeFileSync(join(fork.directory, "a.txt"), "2\n");
  writeFileSync(join(fork.directory, "b.txt"), "2\n");
  const taken = await repository.run(["fork", "take", fork.name, "--paths", "src", "b.*", "--yes"]);
  expect(taken.code).toBe(0);
  expect([repository.read("a.txt"), repository.read("b.txt"), repository.read("src/new.ts")]).toEqual([
    "1\n",
    "2\n",
    "new\n",
  ]);
  await repository.run(["redo", "--yes"]);
  expect([repository.read("b.txt"), repository.exists("src/new.ts")]).toEqual(["1\n", false]);
  expect((await repository.run(["fork", "take", fork.name, "--paths", "*.md", "--yes"])).code).toBe(3);
});
