/**
 * How fast transcripts are indexed on one core, how much memory that takes, how large the index is, whether every planted
 * needle is found, and how long a search takes from a cold start. It never fails because of what it measured.
 *
 *     npm run bench:search                       300 MB, printed only
 *     npm run bench:search -- 1000               size in megabytes
 *     npm run bench:search -- --write            also to docs/performance.md
 *     npm run bench:search -- --beside <program> also compares with agentsview, at this path
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeApart } from "./apart.ts";
import { writeCorpus } from "./corpus.ts";
import { compare, timed } from "./measure.ts";
import { noiseAt } from "./quiet.ts";
import { cellsOf, type Goal, HEADINGS } from "./row.ts";
import { besideAgentsview } from "./search/agentsview.ts";
import { longTranscript, manyFiles } from "./search/following.ts";
import { needlesFound } from "./search/needles.ts";
import { program, started, type Taken } from "./search/program.ts";
import { spreadOf } from "./statistics.ts";

const SPEED = 30;
const MEMORY = 200;
const SIZE = 50;
const SEARCH_MEMORY = 40;
const PAIRS = 15;
const MANY_FILES = 10_000;
/** Words that many files of code have. */
const COMMON = ["return", "function", "type"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, beside: { type: "string" } },
});
const home = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-bench-search-")));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));

const lines: string[] = [];
const print = (text: string) => {
  lines.push(text);
  console.log(text);
};
const noise = noiseAt(home);
if (noise !== null) print(`${noise} Ratios hold roughly, times do not.\n`);
const corpus = writeCorpus(home, Number(positionals[0] ?? 300));
const indexed = await indexing();
searching();
await following();
if (values.beside !== undefined) await besideAgentsview(values.beside, home, corpus, indexed, print);
if (values.write) writeApart("Search: `npm run bench:search`", lines.join("\n"));

async function indexing(): Promise<Taken> {
  const { bytes, sessions, needles } = corpus;
  const indexed = await started(home, "--rebuild");
  const { seconds, cpu, memory } = indexed;
  const folder = join(home, "backtrail", "state", "search");
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const found = await needlesFound(home, needles);
  const shown = `${sessions} sessions of Claude Code, ${(bytes / 1e6).toFixed(0)} MB: the code and prose of real packages.`;
  print(`${shown} All of it is indexed in ${seconds.toFixed(1)} s from start to end.\n`);
  print("| what | measured | goal |  |\n| --- | --- | --- | --- |");
  figure(
    "indexing, by processor time",
    `${(bytes / 1e6 / cpu).toFixed(1)} MB/s`,
    `≥ ${SPEED} MB/s`,
    bytes / 1e6 / cpu >= SPEED,
  );
  figure("peak memory of indexing", `${memory.toFixed(0)} MB`, `≤ ${MEMORY} MB`, memory <= MEMORY);
  figure("size of the index, of the transcripts", percent(size / bytes), `≤ ${SIZE} %`, size / bytes <= SIZE / 100);
  const all = needles.length;
  figure("planted needles found in their field, and nowhere else", `${found} of ${all}`, "all", found === all);
  await memoryOfSearch();
  return indexed;
}

/** Measured several times: how much of the executable's file is read depends on the system's cache. */
async function memoryOfSearch(): Promise<void> {
  const [bare, rare] = [[] as number[], [] as number[]];
  const own: number[] = [];
  for (let i = 0; i < PAIRS; i++) {
    bare.push((await started(home)).memory);
    const search = await started(home, "--json", rareWord());
    rare.push(search.memory);
    own.push(search.own);
  }
  const [start, memory, without] = [bare, rare, own].map((all) => spreadOf(all).median) as [number, number, number];
  const what = `peak memory of a search for a rare word (without the pages of the executable's file: ${without.toFixed(0)} MB; bare start: ${start.toFixed(0)} MB)`;
  figure(what, `${memory.toFixed(1)} MB`, `≤ ${SEARCH_MEMORY} MB`, memory <= SEARCH_MEMORY);
}

function searching(): void {
  const start = () => timed(program(home, ["--version"]));
  const search = (...words: string[]) => timed(program(home, ["search", "--json", ...words]));
  headings("From a cold start, with 20 snippets");
  against("a rare word", "bare start", start, () => search(rareWord()), { kind: "ratio", most: 3 });
  const ranked = { kind: "ratio", most: 12 } as const;
  against("three common words, by relevance", "bare start", start, () => search("--best", ...COMMON), ranked);
  against("three common words, the newest", "bare start", start, () => search(...COMMON), ranked);
}

/** What must not matter: how many files there are, and how long a transcript is already. */
async function following(): Promise<void> {
  headings("A search that follows what is new");
  const [few, many] = [await manyFiles(home, 10), await manyFiles(home, MANY_FILES)];
  const search = (place: string) => timed(program(place, ["search", "--json", "nowhere"]));
  const beside = { kind: "beside", milliseconds: 10 } as const;
  const [inFew, inMany] = [() => search(few), () => search(many)];
  against(`nothing new in ${MANY_FILES} files`, "in 10", inFew, inMany, beside);
  const [short, long] = [await longTranscript(home, 1), await longTranscript(home, 40)];
  const [inShort, inLong] = [() => search(short()), () => search(long())];
  against("a line more in a transcript of 40 MB", "of 1 MB", inShort, inLong, { kind: "flat" });
}

function rareWord(): string {
  return corpus.needles[Math.floor(corpus.needles.length / 2)]?.word ?? "";
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function figure(what: string, found: string, goal: string, holds: boolean): void {
  print(`| ${what} | ${found} | ${goal} | ${holds ? "pass" : "**fail**"} |`);
}

function headings(group: string): void {
  print(`\n#### ${group}\n\n| ${HEADINGS.join(" | ")} |\n|${" --- |".repeat(HEADINGS.length)}`);
}

function against(what: string, base: string, baseRun: () => number, run: () => number, goal: Goal): void {
  const times = compare({ run: baseRun }, { run }, PAIRS);
  print(`| ${cellsOf({ group: "", what, base, goal, times }).join(" | ")} |`);
}
