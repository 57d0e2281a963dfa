import { expect, test } from "bun:test";
import fc from "fast-check";
import { slug } from "./create.ts";

test("a name is made of the first words of any text", () => {
  expect(slug("Make it faster, please, and soon", "fork")).toBe("make-it-faster-please");
  expect(slug("../../etc/passwd", "fork")).toBe("etc-passwd");
  expect(slug("Füge Tests hinzu", "fork")).toBe("fuge-tests-hinzu");
  expect(slug("你好", "fork")).toBe("fork");
  expect(slug("main", "fork")).toBe("fork");
  expect(slug("-- --force", "fork")).toBe("force");
});

test("it always does as a name of a directory, a branch and a worktree", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(slug(text, "fork")).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/);
    }),
  );
});
