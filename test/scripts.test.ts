import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mainManifest } from "../npm/manifests.ts";
import { countsOf, failuresOf, line } from "../scripts/counts.ts";
import { sourcesIn } from "../scripts/layers.ts";
import { withSettings } from "../scripts/settings-table.ts";
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

test("a report says which tests failed, where and why", () => {
  const report = `<testsuites name="bun test" tests="3" failures="1">
    <testcase name="passes" classname="a &amp; b" file="test/x.test.ts" />
    <testcase name="prints &lt;b&gt;" classname="a &amp; b" file="test/x.test.ts" line="2">
      <failure type="AssertionError" message="short">Expected: 2&#10;Received: 1</failure>
    </testcase>
    <testcase name="is skipped" classname="" file="test/x.test.ts"><skipped /></testcase>
  </testsuites>`;
  expect(failuresOf(report)).toEqual([
    { file: "test/x.test.ts", test: "a & b > prints <b>", message: "Expected: 2\nReceived: 1" },
  ]);
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

test("node: the documented version is the declared one, and all that node itself runs works with it", () => {
  const root = join(import.meta.dirname, "..");
  const text = (file: string) => readFileSync(join(root, file), "utf8");
  const { engines, scripts } = JSON.parse(text("package.json"));
  const oldest = /^>=(\d+)$/.exec(engines.node)?.[1];
  expect(text("README.md")).toContain(`node ${oldest} or newer to build`);
  expect(text("CONTRIBUTING.md")).toContain(`node ${oldest} or later`);
  expect(mainManifest("0.0.0")["engines"]).toEqual(engines);
  // The library needs more, and says so.
  expect(text("README.md")).toContain("in Node 22+ and in Bun");
  expect(text("docs/library.md")).toContain("Node 22 or later");

  // Everything else runs in Bun, so what its packages declare about node does not matter.
  const started = Object.values<string>(scripts).flatMap((command) =>
    command
      .replace("npm run --silent build && ", "")
      .split(" ", 2)
      .join(" ")
      .replace(/ --?.*| check$/, ""),
  );
  expect(new Set(started)).toEqual(new Set(["node scripts/bun.mjs", "tsc", "biome"]));
  const imported = [...text("scripts/bun.mjs").matchAll(/from "(.*)"/g)].map(([, name]) => name);
  for (const name of imported) expect(name).toStartWith("node:");
  for (const name of ["typescript", "@biomejs/biome"]) {
    const declared = JSON.parse(text(`node_modules/${name}/package.json`)).engines.node;
    expect({ name, runs: Bun.semver.satisfies(`${oldest}.0.0`, declared) }).toEqual({ name, runs: true });
  }
});

test("the table of settings is up to date (scripts/settings-table.ts writes it)", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "docs", "formats", "config.md"), "utf8");
  expect(withSettings(page)).toBe(page);
});

/** Runs bun's own test runner over small files, and reads its report. */
function run(names: (keyof typeof CASES)[]): string {
  using place = temporaryDirectory();
  for (const name of names) place.write(`${name}.test.ts`, CASES[name]);
  const args = ["test", "--reporter=junit", `--reporter-outfile=${place.at("report.xml")}`, "--parallel"];
  const { status } = spawnSync(process.execPath, args, { cwd: place.path, stdio: "ignore" });
  return line(countsOf(place.exists("report.xml") ? place.read("report.xml") : undefined, status));
}
