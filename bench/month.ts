/**
 * How much room a month of work takes: days of turns and commits in one repository. It reports and never fails because
 * of what it measured.
 *
 *     npm run bench:month                             22 days of 40 turns each
 *     npm run bench:month -- --days 5 --turns 10
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { sizeOnDisk } from "../src/base/fs/tree-size.ts";
import { createWorkspace, type Workspace, writeStore } from "../src/git/workspace.ts";
import { planExpiry } from "../src/maintenance/expiry.ts";
import { runWorker } from "../src/maintenance/worker.ts";
import { stepsIn } from "../src/steps/log.ts";
import { sizeOfSteps } from "../src/steps/upkeep/retention.ts";
import { Random } from "../test/fuzz/random.ts";
import { ScriptedSession } from "../test/support/dispatching.ts";
import { type TemporaryRepository, temporaryRepository } from "../test/support/index.ts";

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "22" },
    turns: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
  },
});
const days = Number(values.days);
const turns = Number(values.turns);
const random = new Random(Number(values.seed));
const START = Date.parse("2026-01-05T09:00:00Z");
const DAY = 24 * 60 * 60 * 1000;
const FILES = 1_500;
const WORDS =
  "const return await function import export type interface string number value result error step tree the a of to if else for while new class public private test expect describe it should not and or with from in".split(
    " ",
  );
const LIMITS = { days: 30, maxSize: 2 ** 30, conversations: 5 * 2 ** 30 };

const repository = temporaryRepository({ empty: true });
for (const name of ["HOME", "BACKTRAIL_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "BACKTRAIL_WORKER"])
  process.env[name] = repository.environment({ BACKTRAIL_WORKER: "off" })[name];
try {
  await month(repository);
} finally {
  repository.remove();
}

async function month(repository: TemporaryRepository): Promise<void> {
  for (let i = 0; i < FILES; i++) repository.write(fileName(i), code(60 + random.below(240)));
  repository.commit("first");
  repository.git("gc", "--quiet");
  const workspace = await createWorkspace(repository.path);
  writeStore(workspace, { v: 1, enabledAt: new Date(START).toISOString(), agents: {} });
  const rows: [what: string, value: string][] = [];
  const bare = sizeOnDisk(repository.at(".git"));
  rows.push([`the repository before: ${FILES} files`, megabytes(bare)]);
  let said = 0;
  for (let day = 0; day < days; day++) said += await workDay(repository, workspace, day);
  const steps = stepsIn(workspace).list();
  rows.push([`after ${days} days with ${turns} turns each: steps`, String(steps.length)]);
  rows.push(["conversations, as the agent wrote them", megabytes(said)]);
  rows.push([".git, with commits and steps", megabytes(sizeOnDisk(repository.at(".git")))]);
  rows.push(["of that, what nothing but steps hold", megabytes(await sizeOfSteps(workspace))]);
  repository.git("gc", "--quiet");
  rows.push(["the same after git's own gc", megabytes(await sizeOfSteps(workspace))]);
  rows.push([".git after it", megabytes(sizeOnDisk(repository.at(".git")))]);
  rows.push(["files beside git's objects", megabytes(sizeOnDisk(workspace.storeDir))]);
  for (let day = days; day < days + 18; day++) await endOfDay(repository, day);
  const middle = await planExpiry(workspace, LIMITS);
  rows.push(["18 days later: steps that are left", String(stepsIn(workspace).list().length)]);
  rows.push(["what they hold", megabytes(middle.sizeBefore)]);
  for (let day = days + 18; day < days + 36; day++) await endOfDay(repository, day);
  rows.push(["36 days later: steps that are left", String(stepsIn(workspace).list().length)]);
  rows.push(["what they hold", megabytes(await sizeOfSteps(workspace))]);
  repository.git("gc", "--quiet", "--prune=now");
  rows.push([".git after git's gc with --prune=now", megabytes(sizeOnDisk(repository.at(".git")))]);
  rows.push(["files beside git's objects", megabytes(sizeOnDisk(workspace.storeDir))]);
  repository.git("fsck", "--strict", "--no-dangling");
  console.log("| what | |\n| --- | --- |");
  for (const [what, value] of rows) console.log(`| ${what} | ${value} |`);
}

/** Two sessions; a commit at noon and in the evening; now and then something large that git does not know. */
async function workDay(repository: TemporaryRepository, workspace: Workspace, day: number): Promise<number> {
  let said = 0;
  for (let half = 0; half < 2; half++) {
    const session = new ScriptedSession(repository, workspace);
    at(day, half * 4 * 60);
    await session.send("SessionStart");
    for (let turn = 0; turn < turns / 2; turn++) {
      at(day, half * 4 * 60 + turn * 10);
      await session.begin(`Turn ${turn} of day ${day}: ${prose(12)}`);
      for (let edits = 1 + random.below(5); edits > 0; edits--) edit(repository);
      if (random.once(6)) repository.write(`src/new/${day}-${half}-${turn}.ts`, code(80));
      if (random.once(40)) writeFileSync(repository.at("capture.bin"), noise(2_000_000));
      const work = conversation();
      appendFileSync(session.transcript.path, work);
      said += work.length;
      at(day, half * 4 * 60 + turn * 10 + 6);
      await session.end(prose(60));
    }
    await session.send("SessionEnd");
    repository.git("add", "src");
    repository.git("commit", "--quiet", "--allow-empty", "--message", `Day ${day}`);
  }
  await endOfDay(repository, day);
  return said;
}

async function endOfDay(repository: TemporaryRepository, day: number): Promise<void> {
  at(day, 10 * 60);
  await runWorker(repository.path);
}

function at(day: number, minutes: number): void {
  process.env["BACKTRAIL_CLOCK"] = new Date(START + day * DAY + minutes * 60_000).toISOString();
}

/** A few lines of one file, as an edit changes them. */
function edit(repository: TemporaryRepository): void {
  const name = fileName(random.below(FILES));
  const lines = readFileSync(repository.at(name), "utf8").split("\n");
  lines.splice(random.below(lines.length), 1 + random.below(8), ...code(1 + random.below(10)).split("\n"));
  repository.write(name, lines.join("\n"));
}

/** Bytes that a turn adds to a transcript: about 60 KB of files read and tool output. */
function conversation(): string {
  let lines = "";
  for (let i = 0; i < 8; i++) {
    const content = [
      { type: "tool_result", tool_use_id: `toolu_${random.below(1e9)}`, content: code(60 + random.below(180)) },
    ];
    lines += `${JSON.stringify({ type: "user", isSidechain: false, uuid: crypto.randomUUID(), message: { role: "user", content } })}\n`;
  }
  return lines;
}

function code(lines: number): string {
  return Array.from({ length: lines }, () => `  ${prose(3 + random.below(8))};`).join("\n");
}

function prose(words: number): string {
  return Array.from({ length: words }, () => (random.once(4) ? `name${random.below(5_000)}` : random.pick(WORDS))).join(
    " ",
  );
}

function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i += 4) bytes.writeUInt32LE(random.below(2 ** 32), i);
  return bytes;
}

function fileName(i: number): string {
  const name = join("src", `part${i % 40}`, `file${i}.ts`);
  mkdirSync(dirname(repository.at(name)), { recursive: true });
  return name;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
