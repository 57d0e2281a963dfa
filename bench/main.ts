/**
 * Measures the times that a user notices, as ratios within one run. Reports only: no result makes it fail.
 *
 *     npm run bench                  everything, written to docs/performance.md
 *     npm run bench -- --quick       small repositories and few repetitions, printed only
 *     npm run bench -- --print       everything, printed only
 *     npm run bench -- --only turns  one part, or some (start, turns, turns-1000,commits, …: the names below); prints only
 *     npm run bench -- --pairs 5     this many repetitions everywhere; prints only
 *     npm run bench -- --rows FILE   adds what is measured to FILE, too: for parts that are measured one by one
 *     npm run bench -- --page FILE   measures nothing: writes docs/performance.md from the rows of that file
 */
import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executable } from "../test/support/binary.ts";
import { apart, PAGE } from "./apart.ts";
import { noiseAt } from "./quiet.ts";
import { page, summary, tables } from "./report.ts";
import type { KeptRow, Row } from "./row.ts";
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

const CHANGES = [0, 5, 500];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    print: { type: "boolean" },
    only: { type: "string" },
    pairs: { type: "string" },
    rows: { type: "string" },
    page: { type: "string" },
  },
});
/** Of a full and of a quick run. */
const size = <T>(full: T, quick: T): T => (values.quick ? quick : full);
const sizes = {
  start: size(200, 30),
  turns: size<Record<string, number>>({ 1000: 40, 10000: 30, 100000: 20 }, { 1000: 8, 10000: 6 }),
  wide: { files: 10_000, changes: [5], pairs: size(30, 6) },
  commits: size(40, 8),
  undo: { files: size(10_000, 2_000), changed: size(500, 100), pairs: size(20, 6) },
  flat: { sessions: size(500, 20), megabytes: size(100, 20), pairs: size(40, 8) },
  described: size(40, 10),
  run: size(40, 10),
  mcp: size(40, 10),
  logs: 10_000,
  stream: size(1_000, 100),
  history: size(20, 6),
  checkpoints: size(10_000, 500),
  conversation: { megabytes: size(50, 5), commits: size(100, 10) },
  back: size(12, 4),
  log: size(60, 15),
  files: 10_000,
  changed: 500,
  transcripts: size(300, 20),
  search: size(30, 8),
  steps: 10_000,
};
const place = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-bench-")));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));

if (values.page !== undefined) {
  writeFileSync(PAGE, `${page(keptRows(values.page), "part by part")}\n${apart()}`);
  console.log("docs/performance.md is written.");
  process.exit();
}
const noise = noiseAt(place);
if (noise !== null) console.log(`${noise} Ratios hold roughly, times do not.\n`);
const rows = measure();
console.log(`\n${summary(rows)}`);
if (Object.keys(values).length > 0) console.log("docs/performance.md is left as it is.");
else if (noise !== null) console.log("The machine was not quiet, so docs/performance.md is left as it is.");
else {
  writeFileSync(PAGE, `${page(rows, "in one run")}\n${apart()}`);
  console.log("docs/performance.md is written.");
}

/** What was measured last of each row, in the order in which they were measured first. */
function keptRows(file: string): KeptRow[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const kept = lines.map((line) => JSON.parse(line) as KeptRow);
  return [...new Map(kept.map((row) => [`${row.group}\0${row.what}`, row])).values()];
}

function measure(): Row[] {
  const program = executable();
  const all: Row[] = [];
  const part = (name: string, measured: () => Row[]) => {
    const only = values.only?.split(",");
    if (only && !only.includes(name) && !only.includes(name.split("-")[0] ?? name)) return;
    const some = measured();
    console.log(tables(some));
    if (values.rows !== undefined)
      appendFileSync(values.rows, some.map((row) => `${JSON.stringify({ ...row, noise })}\n`).join(""));
    all.push(...some);
  };
  const pairs = (usual: number) => Number(values.pairs ?? usual);
  part("start", () => startRows(program, place, pairs(sizes.start)));
  for (const [files, usual] of Object.entries(sizes.turns)) {
    part(`turns-${files}`, () => turnRows(program, place, Number(files), CHANGES, pairs(usual)));
  }
  part("wide", () => wideRows(program, place, sizes.wide.files, sizes.wide.changes, pairs(sizes.wide.pairs)));
  part("commits", () => commitRows(program, place, pairs(sizes.commits)));
  const repository = { ...sizes, sessions: sizes.flat.sessions };
  part("checkpoints", () => checkpointRows(program, place, repository, pairs(sizes.history)));
  part("undo", () => undoRows(program, place, sizes.undo.files, sizes.undo.changed, pairs(sizes.undo.pairs)));
  part("back", () => backRows(program, place, sizes, pairs(sizes.back)));
  part("log", () => logRows(program, place, sizes, pairs(sizes.log)));
  part("flat", () => flatRows(program, place, sizes.flat, pairs(sizes.flat.pairs)));
  part("described", () => describedRows(program, place, pairs(sizes.described)));
  const runs = { logs: sizes.logs, megabytes: sizes.stream };
  part("search", () => searchRows(program, place, sizes.transcripts, pairs(sizes.search)));
  part("mcp", () => mcpRows(program, place, pairs(sizes.mcp)));
  part("run", () => runRows(program, place, runs, pairs(sizes.run)));
  return all;
}
