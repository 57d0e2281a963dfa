/**
 * How fast transcripts are indexed on one core, how much memory that takes, how large the index is, and how long a search
 * takes from a cold start. It reports and never fails because of what it measured.
 *
 *     npm run bench:search           300 MB
 *     npm run bench:search -- 1000   so many megabytes
 */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable } from "../test/support/binary.ts";
import { cleanEnvironment } from "../test/support/environment.ts";
import { writeCorpus } from "./corpus.ts";
import { compare, timed } from "./measure.ts";
import { cellsOf, type Goal, HEADINGS } from "./row.ts";

const SPEED = 30;
const MEMORY = 200;
const SIZE = 50;
const PAIRS = 15;
const MANY_FILES = 10_000;
/** Words that many files of code have. */
const COMMON = ["return", "function", "type"];

const home = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-bench-search-")));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

const row = (what: string, found: number, unit: string, goal: string, holds: boolean) =>
  console.log(`| ${what} | ${found.toFixed(1)} ${unit} | ${goal} | ${holds ? "pass" : "**fail**"} |`);

const { sessions, bytes, needles } = writeCorpus(home, Number(process.argv[2] ?? 300));
indexing();
searching();
following();

function indexing(): void {
  const began = performance.now();
  const { exitCode, stderr, resourceUsage } = started(home, "--rebuild");
  const seconds = (performance.now() - began) / 1_000;
  if (exitCode !== 0) throw new Error(stderr.toString());
  // Time of the processor, so that a busy machine tells nearly the same.
  const cpu = Number(resourceUsage.cpuTime.total) / 1e6;
  const folder = join(home, "backtrail", "state", "search");
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const memory = resourceUsage.maxRSS / 1e6;
  console.log(`${sessions} sessions, ${(bytes / 1e6).toFixed(0)} MB, ${seconds.toFixed(1)} s from start to end\n`);
  console.log("| indexing | | goal | |\n| --- | --- | --- | --- |");
  row("speed, by processor time", bytes / 1e6 / cpu, "MB/s", `≥ ${SPEED} MB/s`, bytes / 1e6 / cpu >= SPEED);
  row("peak memory", memory, "MB", `≤ ${MEMORY} MB`, memory <= MEMORY);
  row("size, of the transcripts", (size / bytes) * 100, "%", `≤ ${SIZE} %`, size / bytes <= SIZE / 100);
}

function searching(): void {
  const start = () => timed(program(home, ["--version"]));
  const search = (...words: string[]) => timed(program(home, ["search", "--json", ...words]));
  const { word = "needle" } = needles[Math.floor(needles.length / 2)] ?? {};
  headings("A search from a cold start, with 20 snippets");
  against("a rare word", "bare start", start, () => search(word), { kind: "ratio", most: 3 });
  const ranked = { kind: "ratio", most: 12 } as const;
  against("three common words, by relevance", "bare start", start, () => search("--best", ...COMMON), ranked);
  against("three common words, the newest", "bare start", start, () => search(...COMMON), ranked);
}

/** What must not matter: how many files there are, and how long a transcript is already. */
function following(): void {
  const [few, many] = [10, MANY_FILES].map((files) => {
    const place = join(home, `files-${files}`);
    for (let file = 0; file < files; file++) writeTranscript(place, file, 1);
    started(place, "--rebuild");
    return place;
  }) as [string, string];
  const [short, long] = [1, 40].map((megabytes) => {
    const place = join(home, `long-${megabytes}`);
    writeTranscript(place, 0, megabytes * 4_000);
    started(place, "--rebuild");
    return place;
  }) as [string, string];
  const search = (place: string) => timed(program(place, ["search", "--json", "nowhere"]));
  headings("A search that follows what is new");
  const beside = { kind: "beside", milliseconds: 10 } as const;
  against(
    `nothing new in ${MANY_FILES} files`,
    "in 10",
    () => search(few),
    () => search(many),
    beside,
  );
  const grown = (place: string) => {
    appendFileSync(pathOf(place, 0), line(0, "one more answer"));
    return search(place);
  };
  against(
    "a line more in a transcript of 40 MB",
    "of 1 MB",
    () => grown(short),
    () => grown(long),
    { kind: "flat" },
  );
}

function headings(group: string): void {
  console.log(`\n### ${group}\n\n| ${HEADINGS.join(" | ")} |\n|${" --- |".repeat(HEADINGS.length)}`);
}

function against(what: string, base: string, baseRun: () => number, run: () => number, goal: Goal): void {
  const times = compare({ run: baseRun }, { run }, PAIRS);
  console.log(`| ${cellsOf({ group: "", what, base, goal, times }).join(" | ")} |`);
}

function started(place: string, ...args: string[]) {
  const { program: name, env } = program(place, []);
  return Bun.spawnSync([name, "search", ...args], { cwd: place, env });
}

function program(place: string, args: string[]) {
  return { program: executable(), args, cwd: place, env: cleanEnvironment(place, { BACKTRAIL_WORKER: "off" }) };
}

function pathOf(place: string, file: number): string {
  return join(place, ".claude", "projects", `-work-${file % 100}`, `${idOf(file)}.jsonl`);
}

function idOf(file: number): string {
  return `${file.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
}

function writeTranscript(place: string, file: number, lines: number): void {
  mkdirSync(join(pathOf(place, file), ".."), { recursive: true });
  const text = Array.from({ length: lines }, (_, number) => line(file, `line ${number} of the transcript`));
  writeFileSync(pathOf(place, file), text.join(""));
}

function line(file: number, text: string): string {
  const common = { type: "user", uuid: `${file}-${text}`, parentUuid: null, isSidechain: false, sessionId: idOf(file) };
  const message = { role: "user", content: text };
  return `${JSON.stringify({ ...common, cwd: "/work", timestamp: "2026-01-01T00:00:00.000Z", message })}\n`;
}
