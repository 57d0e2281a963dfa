/**
 * Runs the project's checks: `check` is types, linter, unit tests and journeys; `all` adds packaging, faults and
 * the real agents. Its last line is the sum over all of them; a step that is no test (types, linter, build) is
 * counted only when it fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { add, type Counts, countsOf, line, nothing } from "./counts.ts";
import { quickSuites, type Suite, slowSuites } from "./suites.ts";

const root = join(import.meta.dirname, "..");
const reports = mkdtempSync(join(tmpdir(), "backtrail-reports-"));
process.on("exit", () => rmSync(reports, { recursive: true, force: true }));

process.exitCode = main(process.argv[2]);

function main(which: string | undefined): number {
  if (which !== "check" && which !== "all") {
    console.error("usage: scripts/test.ts check|all");
    return 2;
  }
  let counts = nothing;
  counts = add(counts, step("build", process.execPath, ["scripts/build.ts"]));
  const built = counts.failed === 0;
  counts = add(counts, step("types", process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"]));
  counts = add(counts, step("lint", process.execPath, ["node_modules/@biomejs/biome/bin/biome", "check"]));
  for (const suite of which === "all" ? [...quickSuites, ...slowSuites] : quickSuites) {
    // Only the unit tests mean anything without an executable of this very source.
    if (built || suite.name === "unit") counts = add(counts, tests(suite));
    else console.log(`\n${suite.name}: not run, because the build failed`);
  }
  console.log(`\n${line(counts)}`);
  return counts.failed === 0 ? 0 : 1;
}

function step(name: string, program: string, args: string[]): Counts {
  const began = performance.now();
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (status === 0) {
    console.log(`${name}: done in ${seconds} s`);
    return nothing;
  }
  console.log(`${name}: FAILED after ${seconds} s${error ? ` (${error.message})` : ""}`);
  return { ...nothing, failed: 1 };
}

function tests(suite: Suite): Counts {
  const places = suite.places.filter((place) => existsSync(join(root, place)));
  const report = join(reports, `${suite.name.replaceAll(" ", "-")}.xml`);
  const args = ["test", `--timeout=${suite.timeout}`, "--reporter=junit", `--reporter-outfile=${report}`];
  // Files that run beside each other would print their tests in one muddle.
  if (suite.parallel) args.push("--parallel", "--only-failures");
  console.log(`\n── ${suite.name} ──`);
  if (places.length === 0) {
    console.log("No tests are there.");
    return { ...nothing, failed: 1 };
  }
  const { status } = spawnSync(process.execPath, [...args, ...places.map((place) => `./${place}`)], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const counts = countsOf(existsSync(report) ? readFileSync(report, "utf8") : undefined, status);
  console.log(`${suite.name}: ${line(counts)}`);
  return counts;
}
