import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { countsOf, line } from "../scripts/counts.ts";
import { sourcesIn } from "../scripts/layers.ts";
import { quickSuites, slowSuites } from "../scripts/suites.ts";
import { temporaryDirectory } from "./support/index.ts";

const CASES = {
  pass: 'import { test } from "bun:test"; test("a", () => {}); test("b", () => {});',
  fail: 'import { expect, test } from "bun:test"; test("a", () => {}); test("b", () => expect(1).toBe(2));',
  skip: 'import { test } from "bun:test"; test("a", () => {}); test.skip("b", () => {}); test.todo("c");',
  broken: 'import "./absent.ts"; import { test } from "bun:test"; test("a", () => {});',
};

test("the closing line is true to what the runner saw", () => {
  expect(run(["pass"])).toBe("2 passed, 0 failed");
  expect(run(["pass", "fail", "skip"])).toBe("4 passed, 1 failed, 2 skipped");
});

test("a file that cannot be loaded is a failure", () => {
  expect(run(["pass", "broken"])).toMatch(/^2 passed, [1-9]\d* failed$/);
});

test("a run without a report, or without tests, is a failure", () => {
  expect(line(countsOf(undefined, 0))).toBe("0 passed, 1 failed");
  expect(line(countsOf('<testsuites name="x" tests="0" failures="0">', 0))).toBe("0 passed, 1 failed");
});

test("every file of tests belongs to one suite", () => {
  const root = join(import.meta.dirname, "..");
  const files = ["src", "test", "bench", "npm", "scripts"]
    .filter((place) => existsSync(join(root, place)))
    .flatMap((place) => sourcesIn(join(root, place)).map((file) => `${place}/${file}`))
    .filter((file) => file.endsWith(".test.ts"));
  const homes = [...quickSuites, ...slowSuites].flatMap((suite) => suite.places);
  const homesOf = (file: string) => homes.filter((home) => file === home || file.startsWith(`${home}/`));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => homesOf(file).length !== 1)).toEqual([]);
});

/** Runs bun's own test runner over small files, and reads its report. */
function run(names: (keyof typeof CASES)[]): string {
  using place = temporaryDirectory();
  for (const name of names) place.write(`${name}.test.ts`, CASES[name]);
  const args = ["test", "--reporter=junit", `--reporter-outfile=${place.at("report.xml")}`, "--parallel"];
  const { status } = spawnSync(process.execPath, args, { cwd: place.path, stdio: "ignore" });
  return line(countsOf(place.exists("report.xml") ? place.read("report.xml") : undefined, status));
}
