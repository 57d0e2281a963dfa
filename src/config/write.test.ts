import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { UserError } from "../base/errors.ts";
import { suggestKey } from "./suggest.ts";
import { fileOf, setValue, unsetValue } from "./write.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "backtrail-config-"));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function kindOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return error instanceof UserError ? error.kind : String(error);
  }
  return undefined;
}

test("a setting is added and removed, and nothing else changes", () => {
  const file = fileOf("project", { root, storeDir: join(root, "store") });
  mkdirSync(join(root, ".backtrail"));
  writeFileSync(file, '{"unknown": [1], "capture": {"exclude": ["x"]}}', { mode: 0o640 });
  expect(setValue(file, "project", "capture.max_file_size", "1 GB")).toBe(true);
  expect(setValue(file, "project", "capture.max_file_size", "1 GB")).toBe(false);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    unknown: [1],
    capture: { exclude: ["x"], max_file_size: "1 GB" },
  });
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(unsetValue(file, "project", "capture.max_file_size")).toBe(true);
  expect(unsetValue(file, "project", "capture.max_file_size")).toBe(false);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ unknown: [1], capture: { exclude: ["x"] } });
});

test("setting and unsetting also remove the other spelling of the key", () => {
  const file = fileOf("local", { root, storeDir: root });
  writeFileSync(file, '{"summarise": {"agent": "claude"}, "summarize": {"agent": "codex"}}');
  expect(setValue(file, "local", "summarise.agent", "claude")).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ summarise: { agent: "claude" } });
  writeFileSync(file, '{"summarize": {"agent": "codex"}}');
  expect(unsetValue(file, "local", "summarise.agent")).toBe(true);
  expect(existsSync(file)).toBe(false);
});

test("setting and unsetting in a file that was not there leaves no file", () => {
  const file = fileOf("local", { root, storeDir: join(root, "store") });
  setValue(file, "local", "run.agents.claude.model", "m");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  unsetValue(file, "local", "run.agents.claude.model");
  expect(existsSync(file)).toBe(false);
});

test("get returns the value that was set, for any name and value", () => {
  const file = fileOf("local", { root, storeDir: join(root, "store") });
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.jsonValue(), (parts, value) => {
      setValue(file, "local", parts.join("."), value);
      let found: unknown = JSON.parse(readFileSync(file, "utf8"));
      for (const part of parts) found = (found as Record<string, unknown>)[part];
      expect(JSON.stringify(found)).toBe(JSON.stringify(value));
      unsetValue(file, "local", parts.join("."));
    }),
    { numRuns: 60 },
  );
});

test("a broken file is left as it is", () => {
  const file = fileOf("local", { root, storeDir: join(root, "store") });
  mkdirSync(join(root, "store"));
  for (const content of ["{ broken", "[1]"]) {
    writeFileSync(file, content);
    expect(kindOf(() => setValue(file, "local", "tier", "minimal"))).toBe("failed");
    expect(readFileSync(file, "utf8")).toBe(content);
  }
});

test("nothing is written through a link that leaves the folder", () => {
  mkdirSync(join(root, "elsewhere"));
  symlinkSync(join(root, "elsewhere"), join(root, ".backtrail"));
  expect(kindOf(() => fileOf("project", { root, storeDir: join(root, "store") }))).toBe("refused");
  expect(kindOf(() => fileOf("project", null))).toBe("usage");
});

test("slips are recognized", () => {
  expect(suggestKey("teir")).toBe("tier");
  expect(suggestKey("retention.dayss")).toBe("retention.days");
  expect(suggestKey("max_file_size")).toBe("capture.max_file_size");
  expect(suggestKey("something-else-entirely")).toBeUndefined();
});
