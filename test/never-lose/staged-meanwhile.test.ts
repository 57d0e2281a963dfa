/** What the user stages while a rewind was left half done stays staged when the next command finishes it. */
import { expect, test } from "bun:test";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const POINTS = [
  "restore:journal",
  "restore:file:0",
  "restore:files",
  "restore:head",
  "restore:index",
  "restore:chat",
  "restore:recorded",
  "restore:settled",
];

/** At the step `before`, f.txt was staged in one form and lay there in another. */
async function staged(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  repository.write("f.txt", "committed\n");
  repository.write("g.txt", "committed\n");
  repository.commit("files");
  for (const name of ["f.txt", "g.txt"]) repository.write(name, "staged then\n");
  repository.git("add", "--all");
  repository.write("f.txt", "work then\n");
  await repository.run(["save", "before"]);
  repository.git("reset", "--quiet");
  for (const name of ["f.txt", "g.txt"]) repository.write(name, "later\n");
  return repository;
}

test("killed anywhere, only what was staged meanwhile is left", async () => {
  for (const point of POINTS) {
    using repository = await staged();
    const { signal } = await repository.run(["rewind", "before", "--yes"], { env: { BACKTRAIL_FAULT: point } });
    expect([point, signal]).toEqual([point, "SIGKILL"]);
    repository.write("f.txt", "my staged hunk\n");
    repository.git("add", "f.txt");
    repository.write("f.txt", "work then\n");
    const { stderr } = await repository.run(["log"]);
    expect([point, repository.git("show", ":f.txt"), repository.git("show", ":g.txt")]).toEqual([
      point,
      "my staged hunk",
      "staged then",
    ]);
    expect(stderr).toContain("Staged changes of f.txt were left as they are: they have changed since.");
  }
}, 60_000);

test("after a commit, the index is left alone: the earlier staged changes belong to another HEAD", async () => {
  using repository = await staged();
  await repository.run(["rewind", "before", "--yes"], { env: { BACKTRAIL_FAULT: "restore:head" } });
  repository.write("other.txt", "other\n");
  repository.git("add", "other.txt");
  repository.git("commit", "--quiet", "--message", "meanwhile");
  const { stderr } = await repository.run(["log"]);
  expect(stderr).toContain("Staged changes were left as they are: HEAD has moved since.");
  expect(repository.git("diff", "--cached", "--name-only")).toBe("");
});
