import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { shellText } from "./command.ts";

test("a command reads as the user would type it", () => {
  const steps = [
    { program: "opencode", args: ["import", "/a b.json"] },
    { program: "opencode", args: ["-s", "ses_1"] },
  ];
  expect(shellText({ cwd: "/it's", steps })).toBe("cd '/it'\\''s' && opencode import '/a b.json' && opencode -s ses_1");
  expect(shellText({ cwd: null, steps: [{ program: "codex", args: [{ file: "/p q.md" }] }] })).toBe(
    `codex "$(cat '/p q.md')"`,
  );
  expect(shellText({ cwd: "/a", steps: [] })).toBe("");
});

test("a shell reads every word as it was", () => {
  const word = fc
    .string({ unit: "grapheme", minLength: 1 })
    .filter((text) => !text.includes("\0") && !/[\n]$/.test(text));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
      const text = shellText({ cwd: null, steps: [{ program: "printf", args: ["%s\\0", ...words] }] });
      expect(execFileSync("sh", ["-c", text], { encoding: "utf8" }).split("\0").slice(0, -1)).toEqual(words);
    }),
    { numRuns: 30 },
  );
});
