import { expect, test } from "bun:test";
import { parseRoute, to } from "./router.ts";

test("an address parses back to its parts, for any file name", () => {
  const path = "a b/ü#?&%/…\u202E.txt";
  expect(parseRoute(to("blame", [path], { line: "3" }))).toEqual({
    screen: "blame",
    parts: [path],
    query: { line: "3" },
  });
});

test("the empty address is the timeline, and a broken one does not throw", () => {
  for (const hash of ["", "#", "#/"]) expect(parseRoute(hash).screen).toBe("");
  expect(parseRoute("#/turn/%E0%A4%A").parts).toEqual(["%E0%A4%A"]);
});
