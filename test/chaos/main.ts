/**
 * The random tester: `npm run chaos -- [--seconds <n>] [--seed <n>] [--jobs <n>] [--length <n>] [--replay <file>]`. It runs one
 * program after the other, each made from its seed, until the time is over. A program that fails is made small; its list of operations
 * and a shell script of it are written below `test/chaos/found/`. Ends with 1 if anything failed.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { executable } from "../support/binary.ts";
import type { Figures, Outcome } from "./execute.ts";
import { Execution } from "./execute.ts";
import { finish } from "./finish.ts";
import { makeProgram, type Program } from "./program.ts";
import { Shrinker } from "./shrink.ts";

const FOUND = join(import.meta.dirname, "found");
const SHRINK_SECONDS = 240;

/** What a job tells of one program. */
interface Told {
  seed: number;
  figures: Figures;
  violations: string[];
  file: string | null;
}

async function runProgram(program: Program, toTheEnd = true): Promise<Outcome> {
  using execution = new Execution(program, executable());
  return await execution.run(program, toTheEnd ? finish : async () => []);
}

async function runSeed(seed: number, length: number, shrinkSeconds: number): Promise<Told> {
  const program = makeProgram(seed, length);
  const outcome = await runProgram(program);
  const violations = outcome.violations.map(({ kind, message }) => `${kind}: ${message}`);
  if (violations.length === 0) return { seed, figures: outcome.figures, violations, file: null };
  const [first] = outcome.violations;
  const name = `${first?.kind}-${first?.command ?? "end"}`;
  // One of a kind is made small; more of it is most likely the same fault.
  if (existsSync(FOUND) && readdirSync(FOUND).some((file) => file.startsWith(name))) shrinkSeconds = 0;
  // What fails before the end has no need of it.
  const isLate = outcome.at === program.operations.length;
  const small = await new Shrinker((smaller) => runProgram(smaller, isLate), program, outcome, shrinkSeconds).shrink();
  mkdirSync(FOUND, { recursive: true });
  const file = join(FOUND, `${name}-${seed}`);
  const said = small.outcome.violations.map(({ kind, message }) => `${kind}: ${message}`);
  writeFileSync(`${file}.json`, `${JSON.stringify(small.program, null, 2)}\n`);
  writeFileSync(`${file}.sh`, `${small.outcome.script}# Found:\n${said.join("\n").replace(/^/gm, "# ")}\n`);
  return { seed, figures: outcome.figures, violations: said, file: `${file}.sh` };
}

/** One job: every `step`th seed, until the time is over. */
async function work(
  first: number,
  step: number,
  seconds: number,
  length: number,
  shrinkSeconds: number,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (let seed = first; performance.now() < end; seed += step) {
    console.log(JSON.stringify(await runSeed(seed, length, shrinkSeconds)));
  }
}

async function lead(values: {
  seed: string;
  seconds: string;
  jobs: string;
  length: string;
  shrink: string;
}): Promise<number> {
  const jobs = Number(values.jobs);
  const all: Figures = { operations: 0, commands: 0, kills: 0, contents: 0, steps: 0 };
  let seeds = 0;
  let failed = 0;
  const hear = ({ seed, figures, violations, file }: Told): void => {
    seeds += 1;
    for (const key of Object.keys(all) as (keyof Figures)[]) all[key] += figures[key];
    if (violations.length === 0) return;
    failed += 1;
    console.log(`seed ${seed}: ${violations.join("\n  ")}\n  ${file}`);
  };
  const job = (number: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = ["--job", String(number), "--seed", values.seed, "--seconds", values.seconds, "--jobs", values.jobs];
    const args = [import.meta.filename, ...own, "--length", values.length, "--shrink", values.shrink];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    process.on("exit", () => child.kill());
    createInterface({ input: child.stdout }).on("line", (line) => hear(JSON.parse(line) as Told));
    child.on("close", (code, signal) => {
      if (code !== 0) {
        failed += 1;
        console.log(`A job ended with ${code ?? signal}.`);
      }
      resolve();
    });
    return promise;
  };
  await Promise.all(Array.from({ length: jobs }, (_, number) => job(number)));
  console.log(
    `\n| seeds | operations | commands of Backtrail's | killed | contents | steps | lost |\n${"| --- ".repeat(7)}|`,
  );
  console.log(
    `| ${seeds} | ${all.operations} | ${all.commands} | ${all.kills} | ${all.contents} | ${all.steps} | ${failed} |`,
  );
  return failed === 0 ? 0 : 1;
}

async function replay(file: string): Promise<number> {
  const program = JSON.parse(readFileSync(file, "utf8")) as Program;
  const outcome = await runProgram(program);
  console.log(outcome.script);
  for (const { kind, message } of outcome.violations) console.log(`${kind}: ${message}`);
  return outcome.violations.length === 0 ? 0 : 1;
}

// Worlds are removed at the exit.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Math.floor(Date.now() / 1000) % 1_000_000) },
    jobs: { type: "string", default: "2" },
    length: { type: "string", default: "60" },
    shrink: { type: "string", default: String(SHRINK_SECONDS) },
    job: { type: "string" },
    replay: { type: "string" },
  },
});
const numbers = [values.seconds, values.seed, values.jobs, values.length, values.shrink].map(Number);
const [seconds = 0, seed = 0, jobs = 0, length = 0, shrink = 0] = numbers;
if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0) || jobs < 1) {
  console.error("usage: npm run chaos -- [--seconds <n>] [--seed <n>] [--jobs <n>] [--length <n>] [--replay <file>]");
  process.exitCode = 2;
} else if (values.replay) process.exitCode = await replay(values.replay);
else if (values.job) await work(seed + Number(values.job), jobs, seconds, length, shrink);
else process.exitCode = await lead(values);
