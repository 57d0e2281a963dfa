import { expect, test } from "bun:test";
import { gitFailure } from "./run.ts";

test("a failure says what went wrong before what git advises", () => {
  const stderr = `warning: x\nfatal: detected dubious ownership in repository at '/r'
To add an exception for this directory, call:

\tgit config --global --add safe.directory /r\n`;
  expect(gitFailure(["status"], 128, stderr).message).toBe(
    "git status failed: fatal: detected dubious ownership in repository at '/r' " +
      "To add an exception for this directory, call: git config --global --add safe.directory /r",
  );
  expect(gitFailure(["status"], 1, "one\ntwo\nthree\nfour\n").message).toBe("git status failed: two three four");
  expect(gitFailure(["status"], 9, "").message).toBe("git status failed: exit status 9");
});
