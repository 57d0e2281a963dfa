/**
 * Runs the project's checks: `check` is types, linter, unit tests and journeys; `all` adds packaging, faults and
 * the real agents. It ends with why tests failed, and the sum over all suites as the last line; a step that is no test
 * (build, types, linter) is counted only when it fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { add, type Counts, countsOf, type Failure, failuresOf, line, nothing } from "./counts.ts";
import { quickSuites, type Suite, slowSuites } from "./suites.ts";

const root = join(import.meta.dirname, "..");
const MAX_MESSAGE_LENGTH = 3_000;
const failures: (Failure & { outcome: "failed" | "unstable" })[] = [];
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
  const page = ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "src/view/page"];
  counts = add(counts, step("types of the page", process.execPath, page));
  counts = add(counts, step("lint", process.execPath, ["node_modules/@biomejs/biome/bin/biome", "check"]));
  for (const suite of which === "all" ? [...quickSuites, ...slowSuites] : quickSuites) {
    // Only the unit tests mean anything without an executable of this very source.
    if (built || suite.name === "unit") counts = add(counts, tests(suite));
    else console.log(`\n${suite.name}: not run, because the build failed`);
  }
  for (const { outcome, file, test, message } of failures)
    console.log(`\n${outcome}: ${file}\n  ${test}\n${message.slice(0, MAX_MESSAGE_LENGTH).trimEnd()}`);
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
  console.log(`\n── ${suite.name} ──`);
  if (places.length === 0) {
    console.log("No tests are there.");
    return { ...nothing, failed: 1 };
  }
  const first = run(suite, places);
  const files = [...new Set(first.failures.map(({ file }) => file))];
  // Other projects' programs can fail for their own reasons. The failure is printed either way.
  const again = suite.retry && files.length > 0 && first.counts.failed === first.failures.length;
  const isUnstable = again && run(suite, files).counts.failed === 0;
  failures.push(
    ...first.failures.map((failure) => ({ ...failure, outcome: isUnstable ? "unstable" : "failed" }) as const),
  );
  const { passed, failed, skipped } = first.counts;
  const counts = isUnstable ? { passed: passed + failed, failed: 0, skipped } : first.counts;
  console.log(`${suite.name}: ${line(counts)}`);
  return counts;
}

function run(suite: Suite, places: readonly string[]): { counts: Counts; failures: Failure[] } {
  const path = join(reports, `${suite.name.replaceAll(" ", "-")}.xml`);
  rmSync(path, { force: true });
  const args = ["test", `--timeout=${suite.timeout}`, "--reporter=junit", `--reporter-outfile=${path}`];
  // Files that run beside each other would print their tests in one muddle.
  if (suite.parallel) args.push("--parallel", "--only-failures");
  const { status } = spawnSync(process.execPath, [...args, ...places.map((place) => `./${place}`)], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const report = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  return { counts: countsOf(report, status), failures: failuresOf(report ?? "") };
}
