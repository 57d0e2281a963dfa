/**
 * Measures how fast transcripts are redacted on one core. Reports only: no result makes it fail.
 *
 *     npm run bench:redact              64 MB made from the recorded transcripts, with secrets strewn in
 *     npm run bench:redact -- <file>    a transcript of your own
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PlaceholderTable } from "../src/transcripts/redact/placeholders.ts";
import { createRedactor, type Redactor } from "../src/transcripts/redact/redactor.ts";
import { filled } from "../test/redact/fill.ts";

const GOAL = 65;
const SIZE = 64 * 1024 * 1024;
const ROUNDS = 7;
const TURN = 50 * 1024;

if (import.meta.main) await measure(process.argv[2]);

async function measure(file: string | undefined): Promise<void> {
  const bytes = file === undefined ? transcript(SIZE) : readFileSync(file);
  const redactor = await createRedactor();
  console.log("| what | MB/s, median (slowest–fastest) | goal | |\n| --- | --- | --- | --- |");
  const found = row(redactor, `a transcript of ${Math.round(bytes.length / 2 ** 20)} MB`, bytes, 1);
  const tail = bytes.subarray(bytes.indexOf(10, bytes.length - TURN) + 1);
  row(redactor, "a turn's tail of 50 KB", tail, 200);
  console.log(`\n${found} secrets found in it.`);
}

function row(redactor: Redactor, what: string, input: Buffer, repeat: number): number {
  let count = 0;
  const speeds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < repeat; i++) {
      count = redactor.redact(input, { placeholders: new PlaceholderTable(), format: "jsonl" }).found.length;
    }
    const { user, system } = process.cpuUsage(before);
    // The first round is for the compiler. Time of the processor, so that a busy machine tells the same.
    if (round > 0) speeds.push((input.length * repeat) / (user + system));
  }
  speeds.sort((a, b) => a - b);
  const median = speeds[speeds.length >> 1] ?? 0;
  const spread = `${median.toFixed(0)} (${speeds[0]?.toFixed(0)}–${speeds.at(-1)?.toFixed(0)})`;
  console.log(`| ${what} | ${spread} | ≥ ${GOAL} | ${median >= GOAL ? "pass" : "**fail**"} |`);
  return count;
}

/** The recorded transcripts of all agents, over and over, and a secret every 200 lines. */
export function transcript(bytes: number): Buffer {
  const agents = join(import.meta.dirname, "..", "test", "agents");
  const lines = readdirSync(agents, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .flatMap((name) => readFileSync(join(agents, name), "utf8").split("\n"))
    .filter((line) => line !== "");
  const parts: string[] = [];
  for (let size = 0, i = 0; size < bytes; i++) {
    const secret = JSON.stringify({ text: filled(`export GITHUB_TOKEN=ghp_{A36}\ncd proj`, i) });
    const line = i % 200 === 0 ? secret : (lines[i % lines.length] ?? "");
    parts.push(line);
    size += line.length + 1;
  }
  return Buffer.from(`${parts.join("\n")}\n`);
}
