/**
 * How long the MCP server takes for a `recall` in a large record, and how much memory it has at most. It reports and
 * never fails because of what it measured.
 *
 *     npm run bench:recall             300 MB of transcripts of one repository, printed only
 *     npm run bench:recall -- 1000     size in megabytes
 *     npm run bench:recall -- --write  into docs/performance.md, too
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { executable } from "../test/support/binary.ts";
import { cleanEnvironment } from "../test/support/environment.ts";
import { writeApart } from "./apart.ts";
import { writeCorpus } from "./corpus.ts";
import { Repository } from "./repository.ts";
import { BenchSession, enable, settle } from "./session.ts";
import { type Spread, spreadOf } from "./statistics.ts";

const MAX_MILLISECONDS = 30;
const MAX_MEGABYTES = 70;
const TIMES = 50;

const { values, positionals } = parseArgs({ options: { write: { type: "boolean" } }, allowPositionals: true });
const place = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-bench-recall-")));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));

const program = executable();
const repository = new Repository(join(place, "repository"), 100);
enable(program, repository);
const session = new BenchSession(program, repository);
for (let turn = 0; turn < 5; turn++) session.turn();
settle(program, repository);
const corpus = writeCorpus(repository.home, Number(positionals[0] ?? 300), repository.path);
const env = cleanEnvironment(repository.home, { BACKTRAIL_WORKER: "off" });
spawnSync(program, ["search", "--rebuild"], { cwd: repository.path, env });

/** One server for all requests, as an agent starts it. */
class Server {
  readonly #child = spawn(program, ["mcp"], { cwd: repository.path, env, stdio: ["pipe", "pipe", "inherit"] });
  readonly #lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  #id = 0;
  #isOpen = false;

  /** Milliseconds until the answer. An answer without hits measures nothing, so it ends the run. */
  async recall(query: string): Promise<number> {
    if (!this.#isOpen) await this.#open();
    const began = performance.now();
    const answer = await this.#ask("tools/call", { name: "recall", arguments: { query } });
    const took = performance.now() - began;
    if (!/^\d+ hits?\./.test(answer.result?.content?.[0]?.text ?? "")) throw new Error(JSON.stringify(answer));
    return took;
  }

  peakMemory(): number {
    const [, kilobytes = "NaN"] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8")) ?? [];
    return (Number(kilobytes) * 1024) / 1e6;
  }

  end(): void {
    this.#child.stdin.end();
  }

  async #open(): Promise<void> {
    this.#isOpen = true;
    const clientInfo = { name: "bench", version: "1" };
    await this.#ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
  }

  async #ask(method: string, params: object): Promise<{ result?: { content?: { text?: string }[] } }> {
    this.#send({ id: ++this.#id, method, params });
    const { value } = await this.#lines.next();
    return JSON.parse(String(value));
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

await measure();

async function measure(): Promise<void> {
  const server = new Server();
  const rare = corpus.needles[Math.floor(corpus.needles.length / 2)]?.word ?? "";
  const rows: string[] = [];
  for (const [what, query] of [
    ["a rare word", rare],
    ["three common words", "return const function"],
    ["three common words in answers", "return const function field:answer"],
  ] as const) {
    const times: number[] = [];
    // The first one warms up.
    for (let time = -1; time < TIMES; time++) {
      const took = await server.recall(query);
      if (time >= 0) times.push(took);
    }
    const spread = spreadOf(times);
    rows.push(row(what, shown(spread), `≤ ${MAX_MILLISECONDS} ms`, spread.median <= MAX_MILLISECONDS));
  }
  const memory = server.peakMemory();
  rows.push(row("peak memory", `${memory.toFixed(1)} MB`, `≤ ${MAX_MEGABYTES} MB`, memory <= MAX_MEGABYTES));
  server.end();

  const text = [
    `\`npm run bench:recall\`: ${corpus.sessions} sessions of one repository, ${(corpus.bytes / 1e6).toFixed(0)} MB. Each`,
    `query ${TIMES} times in one server, from the request to the whole answer.`,
    "",
    "| what | takes | goal |  |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
  console.log(text);
  if (values.write) writeApart("`recall` in the MCP server", text);
}

function row(what: string, found: string, goal: string, holds: boolean): string {
  return `| ${what} | ${found} | ${goal} | ${holds ? "pass" : "**fail**"} |`;
}

function shown({ median, p10, p90 }: Spread): string {
  return `${median.toFixed(1)} ms (${p10.toFixed(1)}–${p90.toFixed(1)})`;
}
