/** A person does not like what the agent did, goes back, and changes their mind. */
import { expect, test } from "bun:test";
import { bash, edit, ScriptedClaude, Story, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";

const env = { BACKTRAIL_WORKER: "off" };

async function worked(repository: TemporaryRepository): Promise<ScriptedClaude> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  claude.minute = 1;
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello\n")]);
  claude.minute = 5;
  await claude.turn("Clean up", [
    edit("greeting.txt", "hello", "bye"),
    bash("mkdir deep && echo x > deep/x && rm README.md"),
  ]);
  return claude;
}

test("back and forth, as a person sees it", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const story = new Story(repository);
  const at = { minute: 7, env };
  await story.run(["rewind"], at);
  await story.run(["rewind", "1"], at);
  await story.run(["rewind", "1", "--dry-run"], at);
  expect(repository.read("greeting.txt")).toBe("bye\n");
  await story.run(["rewind", "1", "--yes"], at);
  expect(repository.read("greeting.txt")).toBe("hello\n");
  expect(repository.read("README.md")).toBe("# Example\n");
  expect(repository.exists("deep")).toBe(false);
  await story.run(["log"], at);
  await story.run(["redo", "--dry-run"], at);
  await story.run(["redo", "--yes"], at);
  expect(repository.read("greeting.txt")).toBe("bye\n");
  expect(repository.exists("README.md")).toBe(false);
  await story.run(["redo", "--yes"], at);
  await story.run(["jump", "1", "--yes", "--code-only", "--paths", "deep"], at);
  expect(repository.exists("deep/x")).toBe(false);
  expect(repository.exists("README.md")).toBe(false);
  await story.run(["rewind", "nowhere", "--yes"], at);
  await story.run(["rewind", "7", "--yes"], at);
  expect(story.toString()).toMatchSnapshot();
});

test("the shapes that scripts rely on", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const dry = await repository.json<Record<string, unknown>>(["rewind", "prev", "--dry-run"], { env });
  expect(dry).toMatchObject({
    plan: { write: ["README.md", "greeting.txt"], delete: ["deep/x"], chmod: [], conflicts: [] },
    receipt: null,
  });
  const done = await repository.json<{ plan: object; receipt: Record<string, unknown> }>(["rewind", "prev", "--yes"], {
    env,
  });
  expect(Object.keys(done.plan)).toEqual([
    "write",
    "delete",
    "chmod",
    "notUndone",
    "conflicts",
    "create",
    "turns",
    "yours",
  ]);
  expect(done.receipt).toMatchObject({ written: 2, deleted: 1, chat: { agent: "claude-code" } });
  expect(Object.keys(done.receipt["chat"] as object)).toEqual(["agent", "session", "transcript", "command", "start"]);
  expect(done.receipt["safetyStep"]).toMatch(/^[k-z]{12}$/);
  const back = await repository.json<{ receipt: Record<string, unknown> }>(["redo", "--yes"], { env });
  expect(back.receipt).toMatchObject({ deleted: 1 });
});

test("going where one already is has nothing to do", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const result = await repository.run(["rewind", "last", "--yes", "--code-only"], { env });
  expect(result).toMatchObject({
    code: 3,
    stdout: "",
    stderr: "Nothing to do: the files are already in this state.\n",
  });
});

test("a folder without git goes back as well", async () => {
  using folder = temporaryFolder();
  folder.write("README.md", "# Example\n");
  await worked(folder);
  expect((await folder.run(["rewind", "1", "--yes"], { env })).code).toBe(0);
  expect(folder.read("greeting.txt")).toBe("hello\n");
  expect(folder.read("README.md")).toBe("# Example\n");
  const { store } = await folder.json<{ store: { kind: string } }>(["status"], { env });
  expect(store.kind).toBe("private");
});

test("a plan says that staged changes go back, too", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Stage it", [write("new.txt", "x\n"), bash("git add new.txt")]);
  expect((await repository.run(["rewind", "1", "--dry-run"])).stdout).toMatch(/^ {2}staged as it was at this step/m);
  await repository.run(["rewind", "1", "--yes"]);
  expect(repository.git("status", "--porcelain")).toBe("");
});
