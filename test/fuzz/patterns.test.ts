import { expect, test } from "bun:test";
import { cost, literals, patterns, pumps } from "./patterns.ts";

/** A pattern that goes back over what it has read needs many times as long for texts of this length. */
const LONG = 32_768;
const MAX_MS = 100;
/** Doubling from here on, a pattern that explodes is seen before it keeps the test. */
const LENGTHS = [8, 12, 16, 20, 24, 28, 32, 64, 256, 2_048, LONG];

test("regular expressions are found in a source text", () => {
  const text = 'a = /x[/]y\\//g; // /no/\nb = "/no/" + c / d / e; f(/z/i) /* /no/ */';
  expect(literals(text).map(String)).toEqual(["/x[/]y\\//", "/z/i"]);
});

test("an exponential pattern is reported", () => {
  expect(slowest(/^(a+)+$/)).toBeGreaterThan(0);
  expect(slowest(/\s+x$/)).toBeGreaterThan(0);
  expect(slowest(/^[a-z]+$/)).toBe(0);
});

test("no regular expression takes longer than its text is long", () => {
  const all = patterns();
  expect(all.length).toBeGreaterThan(150);
  const slow = all.flatMap(({ where, regex }) => {
    // What a profile's are tried on is at most 4,096 characters long.
    const length = slowest(regex, where.endsWith(".json") ? 4_096 : LONG);
    return length > 0 ? [`${where}: ${regex} with ${length} characters`] : [];
  });
  expect(slow).toEqual([]);
}, 120_000);

/** The length of text at which it takes far too long; 0 where none does. */
function slowest(regex: RegExp, longest = LONG): number {
  for (const length of [...LENGTHS.filter((each) => each < longest), longest]) {
    for (const pump of pumps(regex)) {
      const text = pump.repeat(Math.ceil(length / pump.length));
      for (const tail of ["\u0001", `\n\u0001${pump}`]) if (cost(regex, text + tail) > MAX_MS) return length;
    }
  }
  return 0;
}
