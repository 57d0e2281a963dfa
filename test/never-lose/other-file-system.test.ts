/** With git's directory on another file system files are copied: still nothing is replaced that nobody has looked at. */
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryFolder } from "../support/index.ts";
import { pauseAt } from "./paused.ts";

const ELSEWHERE = "/dev/shm";
const hasElsewhere = existsSync(ELSEWHERE) && statSync(ELSEWHERE).dev !== statSync(process.env["TMPDIR"] ?? "/tmp").dev;
if (!hasElsewhere) console.log("SKIPPED: git's directory on another file system: there is only one here");

async function apart(): Promise<{ repository: TemporaryRepository } & Disposable> {
  const repository = temporaryFolder();
  const place = mkdtempSync(join(ELSEWHERE, "backtrail-git-"));
  repository.git("init", "--quiet", "--initial-branch=main", "--separate-git-dir", join(place, "git"));
  repository.write("base.txt", "base\n");
  repository.commit("base");
  await repository.run(["enable", "--agent", "claude-code"]);
  const dispose = () => {
    repository.remove();
    rmSync(place, { recursive: true, force: true });
  };
  return { repository, [Symbol.dispose]: dispose };
}

/** Two files are deleted, then three written; of the last two, another one was there. */
const POINTS = [
  "move:beside",
  "move:copied",
  "move:placing",
  "restore:file:0",
  "restore:file:1",
  "restore:file:2",
  "restore:aside:3",
  "restore:file:3",
  "restore:aside:4",
  "restore:file:4",
];

interface Restored {
  receipt: { kept: { path: string; place: string }[]; notes: string[] };
}

async function whileCopying(): Promise<void> {
  using one = await apart();
  const { repository } = one;
  repository.write("file.txt", "then\n");
  await repository.run(["save", "before"]);
  rmSync(repository.at("file.txt"));
  const paused = await pauseAt(repository, "move:placing", ["rewind", "before", "--yes", "--json"]);
  repository.write("file.txt", "by another program\n");
  const result = await paused?.goOn();
  const { receipt } = JSON.parse(result?.stdout ?? "{}") as Restored;
  expect(repository.read("file.txt")).toBe("then\n");
  expect(receipt.kept.map(({ path }) => path)).toEqual(["file.txt"]);
  expect(readFileSync(receipt.kept[0]?.place ?? "", "utf8")).toBe("by another program\n");
  expect(receipt.notes.join("\n")).toContain("file.txt) is not in the safety step; it is kept in ");
}

async function killedAnywhere(): Promise<void> {
  for (const point of POINTS) {
    using one = await apart();
    const { repository } = one;
    for (const name of ["a", "b", "c"]) repository.write(name, `${name} then\n`);
    await repository.run(["save", "before"]);
    for (const name of ["b", "c", "d", "e"]) repository.write(name, `${name} now\n`);
    rmSync(repository.at("a"));
    const { signal } = await repository.run(["rewind", "before", "--yes"], { env: { BACKTRAIL_FAULT: point } });
    expect([point, signal]).toEqual([point, "SIGKILL"]);
    await repository.run(["log"]);
    const files = readdirSync(repository.path).filter((name) => name !== ".git");
    expect([point, ...files.sort()]).toEqual([point, ".claude", "a", "b", "base.txt", "c"]);
    expect(["a", "b", "c"].map((name) => repository.read(name))).toEqual(["a then\n", "b then\n", "c then\n"]);
    await repository.run(["redo", "--yes"]);
    const now = ["b", "c", "d", "e"].map((name) => repository.read(name));
    expect(now).toEqual(["b now\n", "c now\n", "d now\n", "e now\n"]);
  }
}

const apartTest = test.skipIf(!hasElsewhere);
apartTest("a file that another program writes while ours is copied to its place", whileCopying, 60_000);
apartTest("a rewind that is killed anywhere between two file systems is finished", killedAnywhere, 120_000);
