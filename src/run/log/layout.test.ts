import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { runs } from "../../../test/support/own-process.ts";
import {
  dayDirectory,
  fileIn,
  findLog,
  flatten,
  folderOf,
  logsDirectory,
  moveLog,
  nameOf,
  walkLogs,
} from "./layout.ts";

const DAY = "2024-12-22";

test("for any session id, the log stays in its directory, and no two sessions share one", () => {
  const ids = fc.oneof(
    fc.string(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("latin1")),
    fc.constantFrom("..", "../../x", "a/b", ".hidden", ""),
  );
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      const name = nameOf(a);
      expect(basename(name)).toBe(name);
      expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/);
      expect(dirname(join("/logs", `${name}.jsonl`))).toBe("/logs");
      expect(name.length).toBeLessThanOrEqual(120);
      // Given back by a person, it is found again.
      expect(nameOf(name)).toBe(name);
      if (a !== b) expect(nameOf(b) === name && nameOf(b) !== a && name !== b).toBe(false);
    }),
    runs(100),
  );
  expect(nameOf("a1b2c3d4")).toBe("a1b2c3d4");
  expect(nameOf("2f0fa518-f7db-4098-affa-4bda40438198")).toBe("2f0fa518-f7db-4098-affa-4bda40438198");
});

test("a session's log moves into a separate folder with the first child, and both are found", () => {
  using place = temporaryDirectory();
  place.write(`${DAY}/a1b2c3d4.jsonl`, "{}\n");
  const parent = findLog(place.path, "a1b2c3d4");
  if (!parent) throw new Error("The log is missing.");
  const folder = folderOf(place.path, parent);
  expect(folder).toBe(place.at(DAY, "a1b2c3d4"));
  // A second child, started at the same instant, has seen it at its old place.
  expect(folderOf(place.path, parent)).toBe(folder);
  place.write(`${DAY}/a1b2c3d4/e5f6.jsonl`, "{}\n");
  const again = findLog(place.path, "a1b2");
  expect(again?.path).toBe(place.at(DAY, "a1b2c3d4", "a1b2c3d4.jsonl"));
  expect(again && folderOf(place.path, again)).toBe(folder);
  expect(again?.children.map((child) => child.name)).toEqual(["e5f6"]);
});

test("a folder without a log is not a session", () => {
  using place = temporaryDirectory();
  place.write(`${DAY}/a1b2c3d4.jsonl`, "{}\n");
  mkdirSync(place.at(DAY, "a1b2c3d4"));
  expect(flatten(walkLogs(place.path)).map((log) => log.name)).toEqual(["a1b2c3d4"]);
  // Children without their parent's log are still there.
  place.write(`${DAY}/gone/child.jsonl`, "{}\n");
  expect(flatten(walkLogs(place.path)).map((log) => log.name)).toEqual(["a1b2c3d4", "child"]);
});

test("the beginning of an id is enough where it is one session's alone", () => {
  using place = temporaryDirectory();
  for (const name of ["abcd-1", "abcd-2", "xyz"]) place.write(`${DAY}/${name}.jsonl`, "{}\n");
  expect(findLog(place.path, "abcd-2")?.name).toBe("abcd-2");
  expect(() => findLog(place.path, "abcd")).toThrow("Several sessions begin with abcd");
  expect(findLog(place.path, "xy")).toBeUndefined();
});

test("a log is never written over", () => {
  using place = temporaryDirectory();
  const from = place.write("run-x.jsonl", "new\n");
  const to = place.write("a1.jsonl", "old\n");
  expect(moveLog(from, to)).toBe(false);
  expect(readFileSync(to, "utf8")).toBe("old\n");
  renameSync(to, `${to}.away`);
  expect(moveLog(from, to)).toBe(true);
  expect(existsSync(from)).toBe(false);
  expect(readdirSync(place.path).sort()).toEqual(["a1.jsonl", "a1.jsonl.away"]);
  expect(fileIn(place.path, "a1")).toBe(to);
});

test("nothing is written through a link that a repository came with", () => {
  using place = temporaryDirectory();
  mkdirSync(place.at("elsewhere"));
  symlinkSync(place.at("elsewhere"), place.at(".aiwr"));
  expect(() => dayDirectory(place.at(".aiwr", "logs"), new Date())).toThrow("is a link to somewhere else");
  mkdirSync(place.at("other", ".aiwr"), { recursive: true });
  symlinkSync(place.at("elsewhere"), place.at("other", ".aiwr", "logs"));
  expect(() => dayDirectory(place.at("other", ".aiwr", "logs"), new Date())).toThrow("is a link to somewhere else");
  expect(readdirSync(place.at("elsewhere"))).toEqual([]);
});

test("the logs' directory: what AIWR_LOG_DIR says, else the work tree's root", () => {
  using place = temporaryDirectory();
  mkdirSync(place.at("deep", "er"), { recursive: true });
  expect(logsDirectory(place.at("deep"), { AIWR_LOG_DIR: "here" })).toBe(place.at("deep", "here"));
  expect(logsDirectory(place.at("deep"), {})).toBe(place.at("deep", ".aiwr", "logs"));
  place.write(".git/HEAD", "ref: refs/heads/main\n");
  mkdirSync(place.at(".git", "objects"));
  mkdirSync(place.at(".git", "refs"));
  expect(logsDirectory(place.at("deep", "er"), {})).toBe(place.at(".aiwr", "logs"));
});
