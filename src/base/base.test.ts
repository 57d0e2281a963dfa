import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { temporaryDirectory } from "../../test/support/index.ts";
import { runs } from "../../test/support/own-process.ts";
import { digest, hexDigest } from "./digest.ts";
import { appendLine, readJson, readText, removeFile, writeFileAtomic, writeJson } from "./fs/files.ts";
import { pathMatcher } from "./fs/glob.ts";
import { decodePath, encodePath, onDisk } from "./fs/path-bytes.ts";
import { looksLikeStepId, newStepId, sessionKey } from "./ids.ts";
import { isInside } from "./paths.ts";
import { crc32, deflate, inflate } from "./runtime.ts";
import { closest, escapeHidden, oneLine, printable, shorten, shownPath } from "./text.ts";

const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: hostilePiece() }));

/** Pieces of terminal escapes and of what hides text, mixed with plain letters. */
function hostilePiece(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "\u001b",
    "[",
    "]",
    "0;",
    "31m",
    "\u0007",
    "\\",
    "P",
    "\u009b",
    "\u202e",
    "\u2028",
    "\r",
    "\n",
    "\t",
    "a",
    "\u061c",
    "\u007f",
    "\u200b",
    "\u200d",
    "\ufe0f",
    "\u{1f469}",
    "\u{e0041}",
  );
}

/** Everything that moves, hides or colors instead of being seen. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function letters(text: string, wanted: string): string[] {
  return [...text].filter((letter) => wanted.includes(letter));
}

test("any bytes survive as a path, and any path that was made of bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const path = decodePath(bytes);
      expect(encodePath(path).equals(Buffer.from(bytes))).toBe(true);
      expect(decodePath(encodePath(path))).toBe(path);
      expect(JSON.parse(JSON.stringify(path))).toBe(path);
    }),
    runs(500),
  );
});

test("any valid text decodes to the same path", () => {
  for (const text of ["plain", "ü€😀", "\ufffd", "\ufffd\ufffd and more", "\u0000"]) {
    expect(decodePath(Buffer.from(text))).toBe(text);
    expect(encodePath(text)).toEqual(Buffer.from(text));
  }
  expect(decodePath(Buffer.from([0x61, 0xff]))).toBe("a\udcff");
  // An encoded surrogate and an overlong slash are no UTF-8, so no byte of them may pass for something else.
  expect(decodePath(Buffer.from([0xed, 0xa0, 0x80]))).toBe("\udced\udca0\udc80");
  expect(decodePath(Buffer.from([0xc0, 0xaf]))).toBe("\udcc0\udcaf");
  expect(onDisk("/root", "a\udcff")).toEqual(Buffer.from([...Buffer.from("/root/a"), 0xff]));
});

test("printed text has no control character but tabs and newlines", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = printable(text);
      expect([...shown].filter((letter) => CONTROL.test(letter))).toEqual(letters(shown, "\t\n"));
      expect(printable(shown)).toBe(shown);
      expect(oneLine(text)).not.toMatch(/[\n\t]/);
    }),
    runs(500),
  );
});

test("escapes go whole, text stays", () => {
  expect(printable("a\u001b[31mred\u001b[0m b")).toBe("ared b");
  expect(printable("\u001b]0;title\u0007after")).toBe("after");
  expect(printable("\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\")).toBe("link");
  expect(printable("\u001bPdata\u001b\\x\u009b31mx")).toBe("x31mx");
  expect(printable("one\r\ntwo\rthree")).toBe("one\ntwo\nthree");
  expect(oneLine("  a\n\tb  ")).toBe("a b");
});

test("characters without a shape go, but for those inside an emoji", () => {
  expect(printable("pass\u200b\u2060word\u{e0061}\u{e0062}\ufeff\u00ad\u{e0101}")).toBe("password");
  expect(printable("a\u200db c\ufe0fd \u3164")).toBe("ab cd ");
  const family = "\u{1f468}\u200d\u{1f469}\u{1f3fd}\u200d\u{1f467} \u2764\ufe0f\u200d\u{1f525}";
  expect(printable(family)).toBe(family);
  expect(printable("\u{1f468}\u200d\u200d\u{1f469}\ufe0f\ufe0f")).toBe("\u{1f468}\u{1f469}\ufe0f");
});

test("Unicode control and invisible characters are escaped in JSON, and the value stays", () => {
  const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;
  for (let code = 0; code <= 0x10ffff; code += code === 0xd7ff ? 0x801 : 1) {
    const character = String.fromCodePoint(code);
    const json = JSON.stringify(character);
    const isPlain = escapeHidden(json) === json && json === `"${character}"`;
    if (isPlain === hidden.test(character) && !'"\\'.includes(character)) throw new Error(code.toString(16));
  }
  const value = { "k\u202e": ["\u{e0041}", "a\u009b\u007f\n"] };
  expect(escapeHidden(JSON.stringify(value, null, 2))).toBe(
    '{\n  "k\\u202e": [\n    "\\udb40\\udc41",\n    "a\\u009b\\u007f\\n"\n  ]\n}',
  );
  expect(JSON.parse(escapeHidden(JSON.stringify(value)))).toEqual(value);
});

test("hostile text takes no longer than its length deserves", () => {
  const began = performance.now();
  for (const piece of ["\u001b[", "\u001b]", "\u001bP", "\u001b", "\u001b[0"]) printable(piece.repeat(100_000));
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a shown path is the path itself, or can be read back to it", () => {
  fc.assert(
    fc.property(anyText, (path) => {
      const shown = shownPath(path);
      expect([...shown].filter((letter) => CONTROL.test(letter))).toEqual([]);
      if (shown !== path) expect(JSON.parse(shown)).toBe(path);
    }),
    runs(300),
  );
});

test("shortened text is never longer, and never ends in half a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, length) => {
      const short = shorten(text, length);
      expect(short.length).toBeLessThanOrEqual(Math.max(length, 1));
      expect(short.isWellFormed()).toBe(text.isWellFormed() || short.isWellFormed());
      if (text.length <= length) expect(short).toBe(text);
    }),
    runs(300),
  );
});

test("the closest name is suggested only if it is close", () => {
  expect(closest("rewnid", ["rewind", "redo", "log"])).toBe("rewind");
  expect(closest("retyr", ["rely", "retry", "pretty"])).toBe("retry");
  expect(closest("xyzzy", ["rewind", "redo", "log"])).toBeUndefined();
});

test("a step id is no number, no commit, and begins like itself", () => {
  const ids = Array.from({ length: 200 }, newStepId);
  expect(new Set(ids).size).toBe(200);
  for (const id of ids) expect(id).toMatch(/^[k-z]{12}$/);
  for (const text of ["klmn", "klmnopqrstuv"]) expect(looksLikeStepId(text)).toBe(true);
  for (const text of ["klm", "abcd", "1234", "klmnopqrstuvw", "last", "KLMN", "klmn\n"])
    expect(looksLikeStepId(text)).toBe(false);
});

test("a session's key is made of safe letters and differs where agent or session does", () => {
  expect(sessionKey("../../etc", "a\0b/../c")).toMatch(/^[0-9a-f]{20}$/);
  expect(sessionKey("a", "b\0c")).not.toBe(sessionKey("a\0b", "c/"));
  expect(sessionKey("a", "bc")).not.toBe(sessionKey("ab", "c"));
});

test("patterns match as in .gitignore", () => {
  const table: [pattern: string, path: string, matches: boolean][] = [
    ["*.log", "a.log", true],
    ["*.log", ".hidden/deep/a.log", true],
    ["*.log", "a.log.txt", false],
    ["build", "x/build/deep/file", true],
    ["build/", "build/file", true],
    ["/build", "x/build/file", false],
    ["./build", "build/file", true],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/deep/a.ts", false],
    ["src/**", "src/deep/a.ts", true],
    ["src", "src", true],
    [".", "anything", true],
    ["!src/a", "other", false],
    ["!src", "src", false],
  ];
  for (const [pattern, path, matches] of table)
    expect([pattern, path, pathMatcher([pattern])(path)]).toEqual([pattern, path, matches]);
  expect(pathMatcher([])("a")).toBe(false);
});

test("inside means below, also for names that begin with dots", () => {
  for (const path of ["/a/b", "/a/b/c", "/a/b/..c", "/a/b/..c/d", "/a/b/c/../d"])
    expect(isInside("/a/b", path)).toBe(true);
  for (const path of ["/a", "/a/bc", "/", "/a/b/..", "/a/b/../c"]) expect(isInside("/a/b", path)).toBe(false);
});

test("a file is replaced whole, private to its owner, its directory made", () => {
  using place = temporaryDirectory();
  const path = place.at("new", "deep", "file");
  writeFileAtomic(path, "one");
  writeFileAtomic(path, "two", { sync: true });
  expect(readText(path)).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(place.at("new")).mode & 0o777).toBe(0o700);
  expect(readdirSync(place.at("new", "deep"))).toEqual(["file"]);
});

test("a write that cannot happen leaves the old file and no other", () => {
  using place = temporaryDirectory();
  mkdirSync(place.at("taken"));
  place.write("taken/inside", "x");
  expect(() => writeFileAtomic(place.at("taken"), "content")).toThrow();
  expect(readdirSync(place.path)).toEqual(["taken"]);
});

test("what a killed process with the same id left behind is no obstacle", () => {
  using place = temporaryDirectory();
  for (let i = 0; i < 100; i++) writeFileSync(place.at(`file.${process.pid}.${i}.tmp`), "torn");
  writeFileAtomic(place.at("file"), "whole");
  expect(readText(place.at("file"))).toBe("whole");
});

test("JSON is written on one line and read back; nothing there is undefined", () => {
  using place = temporaryDirectory();
  writeJson(place.at("a.json"), { name: "bad\udcff", list: [1] });
  expect(readFileSync(place.at("a.json"), "utf8")).toEndWith("}\n");
  expect(readJson(place.at("a.json"))).toEqual({ name: "bad\udcff", list: [1] });
  expect(readJson(place.at("none.json"))).toBeUndefined();
  expect(readJson(place.at("a.json", "below"))).toBeUndefined();
  appendLine(place.at("deep", "lines"), "one");
  appendLine(place.at("deep", "lines"), "two");
  expect(place.read("deep/lines")).toBe("one\ntwo\n");
  removeFile(place.at("a.json"));
  removeFile(place.at("a.json"));
  expect(place.exists("a.json")).toBe(false);
});

test("hashes and compression are those of every other program", async () => {
  const { createHash } = await import("node:crypto");
  const zlib = await import("node:zlib");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.constantFrom(0, 1, 6, 9), (data, level) => {
      for (const hash of ["sha1", "sha256"] as const) {
        expect(hexDigest(hash, "x", data)).toBe(createHash(hash).update("x").update(data).digest("hex"));
        expect(digest(hash, data)).toEqual(createHash(hash).update(data).digest());
      }
      expect(crc32(data)).toBe(zlib.crc32(data));
      expect(zlib.inflateSync(deflate(data, level === 0 ? 0 : 1))).toEqual(Buffer.from(data));
      expect(inflate(zlib.deflateSync(data, { level }))).toEqual(Buffer.from(data));
    }),
    runs(100),
  );
});
