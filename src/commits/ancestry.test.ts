import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { ancestorsOf, argumentsOf } from "./ancestry.ts";

test("a process is known by its parents and by what it was called with", async () => {
  const child = spawn("sh", ["-c", "read line", "sh", "--amend"], { stdio: ["pipe", "ignore", "ignore"] });
  const pid = child.pid ?? 0;
  await new Promise((resolve) => child.once("spawn", resolve));
  expect(ancestorsOf(pid)).toContain(process.pid);
  expect(argumentsOf(pid)).toContain("--amend");
  child.stdin?.end();
  await new Promise((resolve) => child.once("close", resolve));
});

test("a process that has ended has no ancestors", () => {
  expect([...ancestorsOf(2 ** 30)]).toEqual([2 ** 30]);
  expect(ancestorsOf(Number.NaN).size).toBe(0);
  expect(argumentsOf(2 ** 30)).not.toContain("--amend");
});
