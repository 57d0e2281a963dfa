import { expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { finishMove, moveAside, place } from "./move.ts";

/** Another file system than the one of temporary directories, where there is one. */
const ELSEWHERE = "/dev/shm";
const hasElsewhere = existsSync(ELSEWHERE) && statSync(ELSEWHERE).dev !== statSync(process.env["TMPDIR"] ?? "/tmp").dev;
if (!hasElsewhere) console.log("SKIPPED: moves between file systems: there is only one here");

function elsewhere(): { path: string } & Disposable {
  const path = mkdtempSync(join(ELSEWHERE, "backtrail-move-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const PLACES = hasElsewhere ? ["the same file system", "another file system"] : ["the same file system"];

for (const where of PLACES) {
  const other = () => (where === PLACES[0] ? temporaryDirectory() : elsewhere());

  test(`to ${where}: nothing that is there is ever replaced`, () => {
    using here = temporaryDirectory();
    using there = other();
    const [from, to] = [join(there.path, "staged"), join(here.path, "file")];
    writeFileSync(from, "ours");
    writeFileSync(to, "theirs");
    expect(place(from, to, join(here.path, "temporary"))).toBe(false);
    expect([readFileSync(from, "utf8"), readFileSync(to, "utf8")]).toEqual(["ours", "theirs"]);
    rmSync(to);
    symlinkSync("nowhere", to);
    expect(place(from, to, join(here.path, "temporary"))).toBe(false);
    expect(readlinkSync(to)).toBe("nowhere");
    rmSync(to);
    expect(place(from, to, join(here.path, "temporary"))).toBe(true);
    expect(readFileSync(to, "utf8")).toBe("ours");
    expect([readdirSync(here.path), readdirSync(there.path)]).toEqual([["file"], []]);
  });

  test(`to ${where}: what is moved aside is the file itself, link or not`, () => {
    using here = temporaryDirectory();
    using there = other();
    const [file, link] = [join(here.path, "file"), join(here.path, "link")];
    writeFileSync(file, "content", { mode: 0o640 });
    symlinkSync("file", link);
    expect(moveAside(link, join(there.path, "0"), join(here.path, "beside"))).toBe(true);
    expect(moveAside(file, join(there.path, "1"), join(here.path, "beside"))).toBe(true);
    expect(moveAside(file, join(there.path, "2"), join(here.path, "beside"))).toBe(false);
    expect(readlinkSync(join(there.path, "0"))).toBe("file");
    expect(readFileSync(join(there.path, "1"), "utf8")).toBe("content");
    expect(lstatSync(join(there.path, "1")).mode & 0o777).toBe(0o640);
    expect(readdirSync(here.path)).toEqual([]);
  });
}

test.skipIf(!hasElsewhere)("a move to another file system that was cut off is finished", () => {
  using here = temporaryDirectory();
  using there = elsewhere();
  const [beside, to] = [join(here.path, "beside"), join(there.path, "0")];
  writeFileSync(beside, "the only copy");
  writeFileSync(`${to}.part`, "the on");
  expect(finishMove(to, beside)).toBe(true);
  expect(readFileSync(to, "utf8")).toBe("the only copy");
  expect([readdirSync(here.path), readdirSync(there.path)]).toEqual([[], ["0"]]);
  expect(finishMove(to, beside)).toBe(false);
});
