/** What other programs write while a restore runs, at each of its points, is never lost. */
import { expect, test } from "bun:test";
import { appendFileSync, closeSync, openSync, renameSync, writeSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { whereIs } from "./found.ts";
import { pauseAt } from "./paused.ts";

const REWIND = ["rewind", "before", "--yes"];
const POINTS = [
  "restore:safety",
  "restore:staged",
  "restore:journal",
  "restore:file:0",
  "restore:deleted",
  "restore:aside:1",
  "restore:file:1",
  "restore:file:2",
  "restore:files",
  "restore:head",
  "restore:index",
  "restore:chat",
  "restore:recorded",
];

/** The rewind deletes new.txt, writes changed.txt over another, and gone.txt. */
async function recorded(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  for (const name of ["changed.txt", "gone.txt"]) repository.write(name, `${name} then\n`);
  repository.commit("then");
  await repository.run(["save", "before"]);
  repository.git("rm", "--quiet", "gone.txt");
  for (const name of ["changed.txt", "new.txt"]) repository.write(name, `${name} now\n`);
  return repository;
}

test("into files that are open, in place and by rename", async () => {
  for (const point of POINTS) {
    using repository = await recorded();
    const files = ["changed.txt", "new.txt"].map((name) => ({ name, open: openSync(repository.at(name), "a") }));
    const paused = await pauseAt(repository, point, REWIND);
    for (const { name, open } of files) {
      writeSync(open, `${name}, by who had it open\n`);
      closeSync(open);
    }
    appendFileSync(repository.at("gone.txt"), "appended to gone.txt\n");
    renameSync(repository.write("saving.tmp", "saved as new.txt\n"), repository.at("new.txt"));
    const result = await paused?.goOn();
    expect([point, result?.code]).toEqual([point, 0]);
    const texts = [
      "changed.txt, by who had it open\n",
      "appended to gone.txt\n",
      "saved as new.txt\n",
      // The user's own rename has replaced the file, unless it was moved aside before.
      ...(POINTS.indexOf(point) >= POINTS.indexOf("restore:file:0") ? ["new.txt, by who had it open\n"] : []),
    ];
    const said = `${result?.stdout}\n${result?.stderr}`;
    for (const text of texts)
      expect([point, text, whereIs(repository, text, said), said]).not.toEqual([point, text, "lost", said]);
  }
}, 120_000);

test("into the safety step, as long as nothing has been touched", async () => {
  using repository = await recorded();
  const paused = await pauseAt(repository, "restore:looked", REWIND);
  repository.write("changed.txt", "saved at the last moment\n");
  const result = await paused?.goOn();
  expect(result?.code).toBe(0);
  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("changed.txt")).toBe("saved at the last moment\n");
});

test("what a finishing process kept before it was killed, too, is named by the next command", async () => {
  using repository = await recorded();
  const open = openSync(repository.at("new.txt"), "a");
  const killed = async (point: string, args: string[]) =>
    (await repository.run(args, { env: { BACKTRAIL_FAULT: point } })).signal;
  expect(await killed("restore:recorded", REWIND)).toBe("SIGKILL");
  writeSync(open, "by who had it open\n");
  closeSync(open);
  expect(await killed("restore:settled", ["log"])).toBe("SIGKILL");
  const { stdout, stderr } = await repository.run(["log"]);
  expect(whereIs(repository, "new.txt now\nby who had it open\n", `${stdout}\n${stderr}`)).toBe("kept");
});
