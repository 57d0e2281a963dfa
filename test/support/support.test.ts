import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { runProgram, Story, temporaryDirectory, temporaryFolder, temporaryRepository } from "./index.ts";

test("a temporary repository has one commit, and goes away with its block", () => {
  let path = "";
  {
    using repository = temporaryRepository();
    path = repository.path;
    expect(repository.git("log", "--format=%an %s")).toBe("Ada first");
    expect(repository.git("status", "--porcelain")).toBe("");
  }
  expect(existsSync(path)).toBe(false);
});

test("a temporary folder is in no repository", () => {
  using folder = temporaryFolder();
  expect(() => folder.git("rev-parse", "--show-toplevel")).toThrow();
});

test("a program sees only the environment that it was given", async () => {
  using place = temporaryDirectory();
  const options = { cwd: place.path, env: { PATH: process.env["PATH"] ?? "", ONLY: "this" }, input: "told" };
  const result = await runProgram("sh", ["-c", 'printf "%s/%s/" "$ONLY" "$HOME"; cat; exit 3'], options);
  expect(result).toEqual({ stdout: "this//told", stderr: "", code: 3, signal: null });
});

test("a program that hangs is killed", async () => {
  using place = temporaryDirectory();
  const env = { PATH: process.env["PATH"] ?? "" };
  const result = await runProgram("sleep", ["60"], { cwd: place.path, env, timeout: 50 });
  expect(result.signal).toBe("SIGKILL");
});

test("a story names ids and places, the same thing by the same name", () => {
  using repository = temporaryRepository();
  const story = new Story(repository);
  const text = `${repository.path}/a klmnopqrstuv zyxwvutsrqpo klmnopqrstuv 2026-01-05T09:00:00.000Z`;
  expect(story.normalize(text)).toBe("<repository>/a <step-1> <step-2> <step-1> <time-1>");
});
