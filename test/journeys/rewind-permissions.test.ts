/** git knows one bit of a file's mode. Who may read a file must not change because it was taken back. */
import { expect, test } from "bun:test";
import { chmodSync, statSync } from "node:fs";
import { temporaryRepository } from "../support/index.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("a file that only its owner may read stays so, there and back", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  repository.write("notes.txt", "first\n");
  repository.write("tool.sh", "#!/bin/sh\n");
  chmodSync(repository.at("notes.txt"), 0o600);
  chmodSync(repository.at("tool.sh"), 0o700);
  await repository.run(["save", "before"]);
  repository.write("notes.txt", "second\n");
  repository.write("tool.sh", "#!/bin/sh\necho\n");

  expect((await repository.run(["rewind", "before", "--yes"])).code).toBe(0);
  expect(repository.read("notes.txt")).toBe("first\n");
  expect([modeOf(repository.at("notes.txt")), modeOf(repository.at("tool.sh"))]).toEqual([0o600, 0o700]);

  expect((await repository.run(["redo", "--yes"])).code).toBe(0);
  expect(repository.read("notes.txt")).toBe("second\n");
  expect([modeOf(repository.at("notes.txt")), modeOf(repository.at("tool.sh"))]).toEqual([0o600, 0o700]);
});
