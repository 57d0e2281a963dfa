/** A file that the user names as output is not replaced unless they say so. */
import { expect, test } from "bun:test";
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

const NOTES = "MY PRECIOUS NOTES\n";

async function withSession(): Promise<{ repository: TemporaryRepository; session: string }> {
  const repository = temporaryRepository();
  expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  await agent.turn("write it", [write("n.txt", "x\n")]);
  return { repository, session: agent.session };
}

/** The commands that take a file, each with `notes.md` as that file. */
const COMMANDS: readonly ((session: string) => string[])[] = [
  (session) => ["resume", session, "--agent", "codex", "-o", "notes.md"],
  (session) => ["export", session, "-o", "notes.md"],
  () => ["doctor", "bundle", "notes.md"],
];

test("a file that exists is refused, and kept as it was", async () => {
  const { repository, session } = await withSession();
  using _ = repository;
  for (const command of COMMANDS) {
    repository.write("notes.md", NOTES);
    const refused = await repository.run(command(session));
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toContain("notes.md already exists.");
    expect(repository.read("notes.md")).toBe(NOTES);
    expect((await repository.run([...command(session), "--yes"])).code).toBe(0);
    expect(repository.read("notes.md")).not.toContain("PRECIOUS");
  }
});

test("links: what a dangling one leads to is not made; with --yes the file behind one is replaced, not the link", async () => {
  const { repository, session } = await withSession();
  using _ = repository;
  const elsewhere = join(repository.home, "elsewhere.md");
  symlinkSync(elsewhere, repository.at("notes.md"));
  for (const command of COMMANDS) expect((await repository.run(command(session))).code).toBe(4);
  expect(existsSync(elsewhere)).toBe(false);
  const target = repository.write("target.md", NOTES);
  symlinkSync(target, repository.at("linked.md"));
  const args = ["export", session, "-o", "linked.md"];
  expect((await repository.run(args)).code).toBe(4);
  expect((await repository.run([...args, "--yes"])).code).toBe(0);
  expect(lstatSync(repository.at("linked.md")).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, "utf8")).not.toContain("PRECIOUS");
});

test("a device is written to, and stays one", async () => {
  const { repository, session } = await withSession();
  using _ = repository;
  for (const more of [[], ["--yes"]])
    expect((await repository.run(["export", session, "-o", "/dev/null", ...more])).code).toBe(0);
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
});

test("what it makes is the user's alone", async () => {
  const { repository, session } = await withSession();
  using _ = repository;
  expect((await repository.run(["export", session, "-o", "new.md"])).code).toBe(0);
  expect(statSync(repository.at("new.md")).mode & 0o777).toBe(0o600);
});
