/**
 * How fast transcripts are indexed on one core, how much memory that takes, and how large the index is. It reports and
 * never fails because of what it measured.
 *
 *     npm run bench:search           300 MB
 *     npm run bench:search -- 1000   so many megabytes
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable } from "../test/support/binary.ts";
import { cleanEnvironment } from "../test/support/environment.ts";
import { writeCorpus } from "./corpus.ts";

const SPEED = 30;
const MEMORY = 200;
const SIZE = 50;

const home = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-bench-search-")));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

const { sessions, bytes } = writeCorpus(home, Number(process.argv[2] ?? 300));
const env = cleanEnvironment(home, { BACKTRAIL_WORKER: "off" });
const began = performance.now();
const child = Bun.spawnSync([executable(), "search", "--rebuild"], { cwd: home, env });
const seconds = (performance.now() - began) / 1_000;
if (child.exitCode !== 0) throw new Error(child.stderr.toString());
// Time of the processor, so that a busy machine tells nearly the same.
const cpu = Number(child.resourceUsage.cpuTime.total) / 1e6;
const folder = join(home, "backtrail", "state", "search");
const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

const row = (what: string, found: number, unit: string, goal: string, holds: boolean) =>
  console.log(`| ${what} | ${found.toFixed(1)} ${unit} | ${goal} | ${holds ? "pass" : "**fail**"} |`);
console.log(`${sessions} sessions, ${(bytes / 1e6).toFixed(0)} MB, ${seconds.toFixed(1)} s from start to end\n`);
console.log("| indexing | | goal | |\n| --- | --- | --- | --- |");
row("speed, by processor time", bytes / 1e6 / cpu, "MB/s", `≥ ${SPEED}`, bytes / 1e6 / cpu >= SPEED);
const memory = child.resourceUsage.maxRSS / 1e6;
row("peak memory", memory, "MB", `≤ ${MEMORY}`, memory <= MEMORY);
row("size, of the transcripts", (size / bytes) * 100, "%", `≤ ${SIZE}`, size / bytes <= SIZE / 100);
