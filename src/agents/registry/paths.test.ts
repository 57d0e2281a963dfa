import { expect, test } from "bun:test";
import fc from "fast-check";
import { firstAt, isPath, leafAt, sameName, textAt, valueAt } from "./paths.ts";

test("walks names", () => {
  expect(valueAt({ a: { b: [1] } }, "$.a.b")).toEqual([1]);
  expect(valueAt({ a: 1 }, "$")).toEqual({ a: 1 });
  expect(valueAt({ a: 1 }, "$.a.b")).toBeUndefined();
  expect(valueAt(null, "$.a")).toBeUndefined();
  expect(valueAt({ a: 1 }, "a")).toBeUndefined();
});

test("reads a name in every spelling", () => {
  for (const payload of [{ session_id: "x" }, { sessionId: "x" }, { "session-id": "x" }]) {
    for (const path of ["$.session_id", "$.sessionId", "$.session-id"]) {
      expect(textAt(payload, [path])).toBe("x");
    }
  }
});

test("a name as it is written counts before its other spellings", () => {
  expect(valueAt({ sessionId: "other", session_id: "own" }, "$.session_id")).toBe("own");
});

test("falls back, past null and past empty text", () => {
  const payload = { a: null, b: "", c: "found" };
  expect(firstAt(payload, ["$.a", "$.b"])).toBe("");
  expect(textAt(payload, ["$.a", "$.b", "$.c"])).toBe("found");
  expect(textAt({ a: 5 }, ["$.a"])).toBeNull();
  expect(textAt(payload, undefined)).toBeNull();
});

test("never reaches a prototype", () => {
  for (const path of ["$.__proto__", "$.constructor", "$.a.constructor.name", "$.toString", "$.a.length"]) {
    expect(valueAt({ a: {} }, path)).toBeUndefined();
  }
  expect(valueAt(JSON.parse('{"__proto__":{"x":1}}'), "$.__proto__.x")).toBe(1);
});

test("any value and any path give an answer", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, path) => {
      valueAt(value, path);
      valueAt(value, `$.${path}`);
    }),
  );
});

test("distinguishes a path from other text", () => {
  expect(["$", "$.a", "$.a_b.c-d.E"].every(isPath)).toBe(true);
  expect(["", "a", "$.", "$..a", "$.a[0]", "$.a.*", "$.a b"].some(isPath)).toBe(false);
});

test("event names are the same in every spelling", () => {
  expect(sameName("UserPromptSubmit", "user-prompt-submit")).toBe(true);
  expect(sameName("UserPromptSubmit", "user_prompt_submit")).toBe(true);
  expect(sameName("Stop", "StopFailure")).toBe(false);
});

test("an invalid path finds nothing", () => {
  const paths = [null, 3, {}, "a", "$.a"] as unknown as string[];
  expect(firstAt({ a: "found" }, paths)).toBe("found");
  expect(textAt({ a: "found" }, paths)).toBe("found");
});

test("a text that is JSON is looked into, and never replaced", () => {
  const line = {
    call: { arguments: '{"filePath":"/a.ts","deep":{"__proto__":{"x":1}}}' },
    text: "{no json",
    list: "[1]",
  };
  expect(valueAt(line, "$.call.arguments.file_path")).toBe("/a.ts");
  expect(valueAt(line, "$.call.arguments")).toBeString();
  expect(valueAt(line, "$.text.a")).toBeUndefined();
  expect(valueAt(line, "$.list.0")).toBeUndefined();
  expect(valueAt(line, "$.call.arguments.toString")).toBeUndefined();
  expect(leafAt(line, "$.call.arguments.filePath")).toBeUndefined();
});
