import { expect, test } from "bun:test";
import { age, count, dollars, duration, plural, size } from "./format.ts";

test("ages are those of the command line", () => {
  const now = Date.parse("2026-11-18T12:00:00Z");
  const before = (seconds: number) => age(now - seconds * 1000, now);
  expect([10, 120, 7200, 3 * 86_400].map(before)).toEqual(["just now", "2 min ago", "2 h ago", "3 days ago"]);
  expect(before(40 * 86_400)).toBe("2026-10-09");
  expect(age("no time", now)).toBe("");
});

test("numbers stay short", () => {
  expect([0, 950, 12_400, 99_990, 999_900, 3_100_000].map(count)).toEqual(["0", "950", "12.4k", "100k", "1M", "3.1M"]);
  expect([512, 12_400, 3_000_000].map(size)).toEqual(["512 B", "12.4 kB", "3 MB"]);
  expect([350, 12_000, 200_000, 3_900_000].map(duration)).toEqual(["350 ms", "12 s", "3 min 20 s", "1 h 5 min"]);
  expect([0, 0.0034, 1.2].map(dollars)).toEqual(["$0", "$0.0034", "$1.20"]);
  expect([plural(1, "file"), plural(5000, "file")]).toEqual(["1 file", "5,000 files"]);
});
