/**
 * Measures what a user feels, as ratios in one run. It reports and never fails because of what it measured.
 *
 *     npm run bench                  everything, written to docs/performance.md
 *     npm run bench -- --quick       small repositories and few repetitions, printed only
 *     npm run bench -- --print       everything, printed only
 *     npm run bench -- --only turns  one part (start, turns, turns-1000, commits, …: the names below), printed only
 *     npm run bench -- --pairs 5     so many repetitions everywhere; printed only
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executable } from "../test/support/binary.ts";
import { apart, PAGE } from "./apart.ts";
import { noiseAt } from "./quiet.ts";
import { page, summary, tables } from "./report.ts";
import type { Row } from "./row.ts";
import { backRows, logRows } from "./rows/back.ts";
import { checkpointRows } from "./rows/checkpoints.ts";
import { commitRows } from "./rows/commits.ts";
import { describedRows } from "./rows/described.ts";
import { flatRows } from "./rows/flat.ts";
import { mcpRows } from "./rows/mcp.ts";
import { runRows } from "./rows/run.ts";
import { searchRows } from "./rows/search.ts";
import { startRows } from "./rows/start.ts";
import { turnRows, wideRows } from "./rows/turns.ts";
import { undoRows } from "./rows/undo.ts";

const FULL = {
  start: 200,
  turns: { 1000: 40, 10000: 30, 100000: 20 },
  wide: { files: 10_000, changes: [5], pairs: 30 },
  commits: 40,
  undo: { files: 10_000, changed: 500, pairs: 20 },
  flat: 40,
  sessions: 500,
  megabytes: 100,
  described: 40,
  run: 40,
  mcp: 40,
  logs: 10_000,
  stream: 1_000,
  history: 20,
  checkpoints: 10_000,
  conversation: { megabytes: 50, commits: 100 },
  back: 12,
  log: 60,
  files: 10_000,
  changed: 500,
  transcripts: 300,
  search: 30,
  steps: 10_000,
};
const QUICK = {
  start: 30,
  turns: { 1000: 8, 10000: 6 },
  wide: { files: 10_000, changes: [5], pairs: 6 },
  commits: 8,
  undo: { files: 2_000, changed: 100, pairs: 6 },
  flat: 8,
  sessions: 20,
  megabytes: 20,
  described: 10,
  run: 10,
  mcp: 10,
  logs: 10_000,
  stream: 100,
  history: 6,
  checkpoints: 500,
  conversation: { megabytes: 5, commits: 10 },
  back: 4,
  log: 15,
  files: 10_000,
  changed: 500,
  transcripts: 20,
  search: 8,
  steps: 10_000,
};
const CHANGES = [0, 5, 500];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    print: { type: "boolean" },
    only: { type: "string" },
    pairs: { type: "string" },
  },
});
const place = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-bench-")));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));

const noise = noiseAt(place);
if (noise !== null) console.log(`${noise} Ratios hold roughly, times do not.\n`);
const rows = measure();
console.log(`\n${summary(rows)}`);
if (Object.keys(values).length > 0) console.log("docs/performance.md is left as it is.");
else if (noise !== null) console.log("The machine was not quiet, so docs/performance.md is left as it is.");
else {
  writeFileSync(PAGE, `${page(rows)}\n${apart()}`);
  console.log("docs/performance.md is written.");
}

function measure(): Row[] {
  const program = executable();
  const sizes = values.quick ? QUICK : FULL;
  const all: Row[] = [];
  const part = (name: string, measured: () => Row[]) => {
    if (values.only !== undefined && name !== values.only && name.split("-")[0] !== values.only) return;
    const some = measured();
    console.log(tables(some));
    all.push(...some);
  };
  const pairs = (usual: number) => Number(values.pairs ?? usual);
  part("start", () => startRows(program, place, pairs(sizes.start)));
  for (const [files, usual] of Object.entries(sizes.turns)) {
    part(`turns-${files}`, () => turnRows(program, place, Number(files), CHANGES, pairs(usual)));
  }
  part("wide", () => wideRows(program, place, sizes.wide.files, sizes.wide.changes, pairs(sizes.wide.pairs)));
  part("commits", () => commitRows(program, place, pairs(sizes.commits)));
  part("checkpoints", () => checkpointRows(program, place, sizes, pairs(sizes.history)));
  part("undo", () => undoRows(program, place, sizes.undo.files, sizes.undo.changed, pairs(sizes.undo.pairs)));
  part("back", () => backRows(program, place, sizes, pairs(sizes.back)));
  part("log", () => logRows(program, place, sizes, pairs(sizes.log)));
  part("flat", () => flatRows(program, place, sizes, pairs(sizes.flat)));
  part("described", () => describedRows(program, place, pairs(sizes.described)));
  const runs = { logs: sizes.logs, megabytes: sizes.stream };
  part("search", () => searchRows(program, place, sizes.transcripts, pairs(sizes.search)));
  part("mcp", () => mcpRows(program, place, pairs(sizes.mcp)));
  part("run", () => runRows(program, place, runs, pairs(sizes.run)));
  return all;
}
