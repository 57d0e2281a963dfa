import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonLine, jsonText } from "./json.ts";

test("hidden characters are escapes, and the value is the same", () => {
  const value = { "a\u202e": "\u009b\u{e0041}\n" };
  expect(jsonLine(value)).toBe('{"a\\u202e":"\\u009b\\udb40\\udc41\\n"}\n');
  expect(jsonText(value)).toBe('{\n  "a\\u202e": "\\u009b\\udb40\\udc41\\n"\n}\n');
  expect(JSON.parse(jsonText(value))).toEqual(value);
});

const cli = join(import.meta.dirname, "..");

test("no other code of the command line prints JSON lines", () => {
  const files = readdirSync(cli, { recursive: true, encoding: "utf8" });
  const others = files.filter(
    (file) =>
      /(?<!\.test)\.ts$/.test(file) &&
      file !== join("terminal", "json.ts") &&
      /\{JSON\.stringify\(.*\)\}\\n|JSON\.stringify\(.*, null, 2\)/.test(readFileSync(join(cli, file), "utf8")),
  );
  expect(others).toEqual([]);
});
