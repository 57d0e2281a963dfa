/** A restore that can't be finished is rolled back, and what the user wrote meanwhile stays where it is. */
import { expect, test } from "bun:test";
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { whereIs } from "./found.ts";
import { pauseAt } from "./paused.ts";

async function recorded(files: Record<string, string>): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  for (const [path, content] of Object.entries(files)) repository.write(path, content);
  repository.commit("base");
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "start"]);
  return repository;
}

test("a file that a killed rewind had put back and the user has edited since", async () => {
  using repository = await recorded({ "a.txt": "a0\n", "sub/b.txt": "b0\n" });
  repository.write("a.txt", "a1\n");
  repository.write("sub/b.txt", "b1\n");
  await repository.run(["rewind", "start", "--yes"], { env: { BACKTRAIL_FAULT: "restore:file:0" } });
  expect([repository.read("a.txt"), repository.read("sub/b.txt")]).toEqual(["a0\n", "b1\n"]);
  repository.write("a.txt", "an hour of work\n");
  rmSync(repository.at("sub"), { recursive: true });
  symlinkSync("/nonexistent", repository.at("sub"));
  const next = await repository.run(["log"]);
  expect(next.stderr).toContain("sub is not a directory anymore");
  expect(next.stderr).toContain("a.txt has changed since, and was left as it is.");
  expect(next.stderr).not.toContain("All files are as they were before");
  expect(repository.read("a.txt")).toBe("an hour of work\n");
  expect(whereIs(repository, "a1\n", next.stderr)).toBe("in a step");
  expect(whereIs(repository, "b1\n", next.stderr)).toBe("in a step");
  // It is over: nothing is tried again.
  expect((await repository.run(["log"])).stderr).toBe("");
});

test("a file that is saved while a rewind runs that can't be finished", async () => {
  using repository = await recorded({ "a.txt": "a0\n", "b.txt": "b0\n", "zz/last": "z0\n" });
  for (const path of ["a.txt", "b.txt", "zz/last"]) repository.write(path, `${path} now\n`);
  const paused = await pauseAt(repository, "restore:file:1", ["rewind", "start", "--yes"]);
  expect(repository.read("a.txt")).toBe("a0\n");
  repository.write("a.txt", "saved by an editor\n");
  renameSync(repository.at("zz"), repository.at("moved"));
  symlinkSync("/nonexistent", repository.at("zz"));
  const result = await paused?.goOn();
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("zz is not a directory anymore") });
  expect(repository.read("a.txt")).toBe("saved by an editor\n");
  expect([repository.read("b.txt"), repository.read("moved/last")]).toEqual(["b.txt now\n", "zz/last now\n"]);
});

const POINTS = [
  "rollback:file:1",
  "rollback:aside:2",
  "rollback:file:2",
  "rollback:file:3",
  "rollback:files",
  "rollback:settled",
];

test("a rollback that is killed is finished as a rollback", async () => {
  for (const point of POINTS) {
    using repository = await recorded({ "a.txt": "a0\n", "b.txt": "b0\n", "sub/c.txt": "c0\n" });
    for (const path of ["a.txt", "b.txt", "sub/c.txt"]) repository.write(path, `${path} now\n`);
    repository.write("new.txt", "new\n");
    await repository.run(["rewind", "start", "--yes"], { env: { BACKTRAIL_FAULT: "restore:file:2" } });
    expect([repository.read("a.txt"), repository.read("b.txt"), repository.exists("new.txt")]).toEqual([
      "a0\n",
      "b0\n",
      false,
    ]);
    repository.write("b.txt", "mine\n");
    rmSync(repository.at("sub"), { recursive: true });
    symlinkSync("/nonexistent", repository.at("sub"));
    const killed = await repository.run(["log"], { env: { BACKTRAIL_FAULT: point } });
    expect([point, killed.signal]).toEqual([point, "SIGKILL"]);
    const next = await repository.run(["log"]);
    expect([point, repository.read("a.txt"), repository.read("b.txt"), repository.read("new.txt")]).toEqual([
      point,
      "a.txt now\n",
      "mine\n",
      "new\n",
    ]);
    expect(whereIs(repository, "b.txt now\n", next.stderr)).toBe("in a step");
    expect(whereIs(repository, "sub/c.txt now\n", next.stderr)).toBe("in a step");
  }
}, 60_000);
