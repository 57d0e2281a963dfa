/**
 * Measures what redaction misses and what it redacts by mistake. Reports only: no result makes it fail.
 *
 *     npm run redaction                             leaks by form; false positives in this project and its packages
 *     npm run redaction -- <directory>…             the same for other directories of real code and transcripts
 *     npm run redaction -- --against <checkout> …   with another checkout of this project beside it, speed included
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeRedaction } from "../src/checkpoints/write/redaction.ts";
import { PlaceholderTable } from "../src/transcripts/redact/placeholders.ts";
import { createRedactor, type Redactor } from "../src/transcripts/redact/redactor.ts";
import { FILE_NAMES, FORMS, type Form, isChosen, leaks, type Written, writtenSamples } from "../test/redact/forms.ts";
import { SAMPLES, type Sample } from "../test/redact/samples.ts";
import { transcript } from "./redact.ts";

const SEEDS = 10;
const ROUNDS = 5;
const MAX_FILE = 4_000_000;
const TEXT =
  /\.(?:[cm]?[jt]sx?|json|jsonl|md|py|pl|pm|h|c|txt|vim|ya?ml|toml|sh|cfg|ini|html|css|rst|out|err|cmd|log)$/i;
const root = join(import.meta.dirname, "..");

interface Build {
  name: string;
  redactor: Redactor;
}

const { other, directories } = argumentsOf(process.argv.slice(2));
const builds: Build[] = [
  ...(other === undefined ? [] : [{ name: "before", redactor: await redactorIn(other) }]),
  { name: other === undefined ? "now" : "after", redactor: await createRedactor() },
];
leakTable();
falsePositiveTable();
if (other !== undefined) speedTable();

function argumentsOf(args: readonly string[]): { other: string | undefined; directories: string[] } {
  const at = args.indexOf("--against");
  const named = args.filter((_, i) => at < 0 || (i !== at && i !== at + 1));
  const own = ["src", "docs", "test/agents", "node_modules"].map((name) => join(root, name));
  const next = at < 0 ? undefined : args[at + 1];
  return { other: next === undefined ? undefined : resolve(next), directories: named.length > 0 ? named : own };
}

async function redactorIn(checkout: string): Promise<Redactor> {
  const module = (await import(join(checkout, "src/transcripts/redact/redactor.ts"))) as {
    createRedactor: typeof createRedactor;
  };
  return module.createRedactor();
}

function row(...cells: (string | number)[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

function head(...cells: string[]): void {
  row(...cells);
  row(...cells.map(() => "---"));
}

function leakTable(): void {
  const kinds = new Set(SAMPLES.map(({ kind }) => kind)).size;
  console.log(`\n${SAMPLES.length} samples of ${kinds} kinds, each with ${SEEDS} values. Leaked, in percent:\n`);
  head("form", "samples", ...builds.map(({ name }) => name));
  for (const form of FORMS) leakRow(form.name, form, (redactor, { text }) => redacted(redactor, text));
  const made = SAMPLES.filter((sample) => !isChosen(sample));
  const chosen = SAMPLES.filter(isChosen);
  const alone = (redactor: Redactor, { text }: Written) => nameAlone(redactor, text);
  for (const form of FILE_NAMES) {
    leakRow(`${form.name}: made by a program`, form, alone, made);
    leakRow(`${form.name}: chosen by a person`, form, alone, chosen);
  }
  leakRow("file name, said in the conversation too", FILE_NAMES[0] as Form, nameInSession);
}

function leakRow(
  name: string,
  form: Form,
  redact: (redactor: Redactor, written: Written) => string,
  samples: readonly Sample[] = SAMPLES,
): void {
  const counts = builds.map(() => 0);
  let count = 0;
  for (const [, text] of writtenSamples(form, samples, SEEDS)) {
    count++;
    for (const [i, { redactor }] of builds.entries()) {
      if (leaks(redact(redactor, text), text)) counts[i] = (counts[i] ?? 0) + 1;
    }
  }
  row(name, Math.round(count / SEEDS), ...counts.map((leaked) => ((100 * leaked) / count).toFixed(1)));
}

function redacted(redactor: Redactor, text: string): string {
  return redactor.redact(text, { placeholders: new PlaceholderTable() }).bytes.toString();
}

/** Builds that do not redact names leave them as they are. */
function nameAlone(redactor: Redactor, name: string): string {
  return redactor.redactPath ? redactor.redactPath(name, { placeholders: new PlaceholderTable() }) : name;
}

function nameInSession(redactor: Redactor, { text, plain }: Written): string {
  if (!redactor.redactPath) return text;
  const redaction = makeRedaction(redactor, new PlaceholderTable(), "");
  redaction.text(plain);
  return redaction.name(text);
}

/** Nothing in these directories is a secret of anybody's, so that every finding counts as false. */
function falsePositiveTable(): void {
  console.log("\nFindings for each MB of real files:\n");
  head("directory", "files", "MB", ...builds.map(({ name }) => name));
  for (const directory of directories) {
    const counts = builds.map(() => 0);
    let [files, bytes] = [0, 0];
    for (const file of filesIn(directory)) {
      const data = readFileSync(file);
      if (data.includes(0)) continue;
      files++;
      bytes += data.length;
      for (const [i, { redactor }] of builds.entries()) {
        const { found } = redactor.redact(data, { placeholders: new PlaceholderTable() });
        counts[i] = (counts[i] ?? 0) + found.filter(({ rule }) => rule !== "literal").length;
      }
    }
    const megabytes = bytes / 1e6;
    const shown = directory.startsWith(root) ? directory.slice(root.length + 1) : directory;
    row(shown, files, megabytes.toFixed(1), ...counts.map((count) => `${(count / megabytes).toFixed(2)} (${count})`));
  }
}

function* filesIn(directory: string): Generator<string> {
  if (!existsSync(directory)) return;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    // The rules' own folder is full of examples.
    if (entry.isDirectory() && entry.name !== ".git" && entry.name !== "redact") yield* filesIn(path);
    else if (entry.isFile() && TEXT.test(entry.name) && statSync(path).size <= MAX_FILE) yield path;
  }
}

/** Time of the processor, one build after the other in each round, so that a busy machine slows both. */
function speedTable(): void {
  const input = transcript(32 * 1024 * 1024);
  const speeds = builds.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, { redactor }] of builds.entries()) {
      const began = process.cpuUsage();
      redactor.redact(input, { placeholders: new PlaceholderTable(), format: "jsonl" });
      const { user, system } = process.cpuUsage(began);
      // The first round is for the compiler.
      if (round > 0) speeds[i]?.push(input.length / (user + system));
    }
  }
  console.log("\nSpeed on one core, MB/s, median:\n");
  head(...builds.map(({ name }) => name));
  row(...speeds.map((all) => (all.sort((a, b) => a - b)[all.length >> 1] ?? 0).toFixed(0)));
}
