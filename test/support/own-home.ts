/** A BACKTRAIL_HOME of its own for the tests of one file: failures are logged there. */
import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function ownHome(): string {
  const home = mkdtempSync(join(tmpdir(), "backtrail-home-"));
  const before = process.env["BACKTRAIL_HOME"];
  beforeAll(() => {
    process.env["BACKTRAIL_HOME"] = home;
  });
  afterAll(() => {
    if (before === undefined) delete process.env["BACKTRAIL_HOME"];
    else process.env["BACKTRAIL_HOME"] = before;
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}
