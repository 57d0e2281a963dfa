/** The two runtimes give the same: what Bun does itself, and what the library does with Node's modules. */
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import fc from "fast-check";
import { temporaryDirectory } from "../../test/support/index.ts";
import "../../test/support/seed.ts";
import * as node from "./runtime.node.ts";
import * as bun from "./runtime.ts";

const same: typeof bun = node;
const bytes = fc.uint8Array({ maxLength: 2_000 });
const silent = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;

test("both export the same", () => {
  expect(Object.keys(same).sort()).toEqual(Object.keys(bun).sort());
});

test("digests, checksums and compressed data can be exchanged", () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom(0 as const, 1 as const), (data, level) => {
      for (const hash of ["sha1", "sha256"] as const)
        expect(node.createHasher(hash).update("x").update(data).digest("hex")).toBe(
          bun.createHasher(hash).update("x").update(data).digest("hex"),
        );
      expect(node.crc32(data)).toBe(bun.crc32(data));
      expect(node.inflate(bun.deflate(data, level)).equals(data)).toBe(true);
      expect(bun.inflate(node.deflate(data, level)).equals(data)).toBe(true);
    }),
  );
});

test("patterns match the same paths", () => {
  const part = fc.constantFrom("a", "b", ".", "*", "?", "**", "/", "[ab]", "[!a]", "{a,b}", "{a/b,*}", "\\*");
  const pattern = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
  const path = fc
    .array(fc.constantFrom("a", "b", ".", "*"), { minLength: 1, maxLength: 4 })
    .map((names) => names.join(""));
  const paths = fc.array(path, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(pattern, paths, (some, one) => {
      // The two differ only in what `***` means.
      fc.pre(!some.includes("***") && !some.startsWith("!"));
      expect([some, one, node.globMatcher(some)(one)]).toEqual([some, one, bun.globMatcher(some)(one)]);
    }),
  );
});

test("a pattern made to be slow is not", () => {
  const matches = node.globMatcher(`${"**/*a".repeat(20)}${"*a".repeat(30)}${"{a,b}".repeat(8)}/**/**/x`);
  expect(matches(`${"a".repeat(500)}/${"a/".repeat(100)}b`)).toBe(false);
});

for (const [name, runtime] of Object.entries({ bun, node: same })) {
  describe(name, () => {
    test("a child gets its input and gives its output and exit status", async () => {
      const child = runtime.spawn("sh", ["-c", "cat; echo problem >&2; exit 3"], {
        stdin: Buffer.from("input"),
        stdout: "pipe",
        stderr: "pipe",
      });
      const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()];
      expect([...(await Promise.all(texts)), await child.exited]).toEqual(["input", "problem\n", 3]);
    });

    test("a child can be talked to while it runs", async () => {
      const child = runtime.spawn("cat", [], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
      const reader = child.stdout.getReader();
      child.stdin.write("question\n");
      child.stdin.flush();
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("question\n");
      child.stdin.end();
      expect([(await reader.read()).done, await child.exited]).toEqual([true, 0]);
    });

    test("a signal counts as a shell counts it", async () => {
      const child = runtime.spawn("sh", ["-c", "kill -TERM $$"], silent);
      expect(await child.exited).toBe(143);
    });

    test("a program that is not there is an error at once", () => {
      expect(() => runtime.spawn("no-such-program-here", [], silent)).toThrow(
        expect.objectContaining({ code: "ENOENT" }),
      );
      expect(() => runtime.spawnSync("no-such-program-here", [])).toThrow(expect.objectContaining({ code: "ENOENT" }));
    });

    test("finds only executables", () => {
      using place = temporaryDirectory();
      place.write("first/tool", "not executable");
      chmodSync(place.write("second/tool", "#!/bin/sh\n"), 0o755);
      const path = `${place.at("first")}:${place.at("second")}`;
      expect(runtime.which("tool", path)).toBe(place.at("second/tool"));
      expect(runtime.which("other", path)).toBe(null);
    });

    test("spawnSync gives output and exit status", () => {
      const { exitCode, stdout } = runtime.spawnSync("sh", ["-c", "pwd; exit 4"], { cwd: "/" });
      expect([exitCode, stdout.toString()]).toEqual([4, "/\n"]);
    });
  });
}
