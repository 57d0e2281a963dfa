import { expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { finishMove, moveAside, place } from "./move.ts";

/** Another file system than the one of temporary directories, where there is one. */
const ELSEWHERE = "/dev/shm";
const hasElsewhere = existsSync(ELSEWHERE) && statSync(ELSEWHERE).dev !== statSync(process.env["TMPDIR"] ?? "/tmp").dev;
if (!hasElsewhere) console.log("SKIPPED: moves between file systems: there is only one here");

const elsewhere = () => temporaryDirectory(ELSEWHERE);

const PLACES = hasElsewhere ? ["the same file system", "another file system"] : ["the same file system"];

for (const where of PLACES) {
  const other = () => (where === PLACES[0] ? temporaryDirectory() : elsewhere());

  test(`to ${where}: nothing that is there is ever replaced`, () => {
    using here = temporaryDirectory();
    using there = other();
    const [from, to] = [there.write("staged", "ours"), here.write("file", "theirs")];
    expect(place(from, to, here.at("temporary"))).toBe(false);
    expect([there.read("staged"), here.read("file")]).toEqual(["ours", "theirs"]);
    rmSync(to);
    here.link("file", "nowhere");
    expect(place(from, to, here.at("temporary"))).toBe(false);
    expect(readlinkSync(to)).toBe("nowhere");
    rmSync(to);
    expect(place(from, to, here.at("temporary"))).toBe(true);
    expect(here.read("file")).toBe("ours");
    expect([readdirSync(here.path), readdirSync(there.path)]).toEqual([["file"], []]);
  });

  test(`to ${where}: what is moved aside is the file itself, link or not`, () => {
    using here = temporaryDirectory();
    using there = other();
    const [file, link] = [here.write("file", "content"), here.link("link", "file")];
    chmodSync(file, 0o640);
    expect(moveAside(link, there.at("0"), here.at("beside"))).toBe(true);
    expect(moveAside(file, there.at("1"), here.at("beside"))).toBe(true);
    expect(moveAside(file, there.at("2"), here.at("beside"))).toBe(false);
    expect(readlinkSync(there.at("0"))).toBe("file");
    expect(there.read("1")).toBe("content");
    expect(lstatSync(there.at("1")).mode & 0o777).toBe(0o640);
    expect(readdirSync(here.path)).toEqual([]);
  });
}

test.skipIf(!hasElsewhere)("a move to another file system that was cut off is finished", () => {
  using here = temporaryDirectory();
  using there = elsewhere();
  const [beside, to] = [here.write("beside", "the only copy"), there.at("0")];
  there.write("0.part", "the on");
  expect(finishMove(to, beside)).toBe(true);
  expect(there.read("0")).toBe("the only copy");
  expect([readdirSync(here.path), readdirSync(there.path)]).toEqual([[], ["0"]]);
  expect(finishMove(to, beside)).toBe(false);
});
