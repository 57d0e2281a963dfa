/** A BACKTRAIL_HOME of its own for the tests of one file: failures are logged there. */
import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TemporaryDirectory } from "./directory.ts";

export function ownHome(): string {
  const home = mkdtempSync(join(tmpdir(), "backtrail-home-"));
  const before = process.env["BACKTRAIL_HOME"];
  beforeAll(() => {
    process.env["BACKTRAIL_HOME"] = home;
  });
  afterAll(() => {
    putBack(before);
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

/** Gives each test of a file a directory of its own, with BACKTRAIL_HOME in it. */
export function eachInDirectory(take: (directory: TemporaryDirectory) => void): void {
  const before = process.env["BACKTRAIL_HOME"];
  let directory: TemporaryDirectory;
  beforeEach(() => {
    directory = new TemporaryDirectory();
    process.env["BACKTRAIL_HOME"] = directory.at("backtrail");
    take(directory);
  });
  afterEach(() => {
    putBack(before);
    directory.remove();
  });
}

function putBack(home: string | undefined): void {
  if (home === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = home;
}
