/**
 * `run --prompts`: performs one run per prompt, a limited number at a time, and prints a line of JSON as each run ends.
 */
import { resolve } from "node:path";
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural, printable, shorten } from "../../../base/text.ts";
import { Batch, type Ended } from "../../../run/batch/batch.ts";
import { readPrompts, requirePrompts } from "../../../run/batch/prompts.ts";
import { signalNumber } from "../../../run/child.ts";
import type { RunRequest } from "../../../run/headless.ts";
import { countedTokens } from "../../../run/limits.ts";
import { END_STATUSES } from "../../../run/log/records.ts";
import { sumOfCosts } from "../../../transcripts/prices.ts";
import { costWords, duration, thousands } from "../../render/layout/amounts.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { jsonLine } from "../../terminal/json.ts";
import { BatchProgress } from "./progress.ts";
import { type RunOptions, requestOf } from "./request.ts";
import { SIGNALS } from "./single.ts";
import { readStandardInput, STANDARD_INPUT } from "./standard-input.ts";

const MAX_AT_ONCE = 64;
const MAX_REASON = 200;

export async function runBatch(options: RunOptions, logs: string, io: Io): Promise<number> {
  const prompts = await promptsOf(options, io);
  const atOnce = countOf(options.parallel ?? "1");
  const request = await requestOf({ ...options, prompt: prompts[0] ?? "" }, logs, io);
  const batch = new Batch();
  let signal: NodeJS.Signals | null = null;
  for (const each of SIGNALS) {
    process.on(each, (caught: NodeJS.Signals) => {
      signal ??= caught;
      batch.stop(caught);
    });
  }
  const runs = prompts.map((prompt, i) => ({ index: i + 1, request: { ...request, prompt } }));
  const progress = new BatchProgress(prompts, io);
  const printer = printerFor(options, request, io);
  const ended = await batch.perform(runs, atOnce, await preparing(options, io), {
    started: (index) => progress.started(index),
    identified() {},
    ended(done) {
      progress.ended(done.index, lineOf(done, request.runner.name));
      printer(done);
    },
  });
  progress.close();
  io.err.offer?.(`${summaryOf(ended, prompts.length)}\n`);
  if (signal !== null) return 128 + signalNumber(signal);
  return ended.length === prompts.length && ended.every(({ status }) => status === "completed")
    ? EXIT.done
    : EXIT.failed;
}

async function promptsOf({ prompts, prompt, session, output }: RunOptions, io: Io): Promise<string[]> {
  if (prompts === undefined) {
    throw new UserError("usage", "--parallel needs --prompts.", "Give a file of prompts with --prompts.");
  }
  const other = prompt !== undefined ? "a prompt" : session !== undefined ? "--session" : undefined;
  if (other !== undefined)
    throw new UserError("usage", `--prompts can't be combined with ${other}.`, "Leave one of them out.");
  if (output === "stream") {
    throw new UserError("usage", "Several runs can't be streamed.", "Use --output text or json.");
  }
  if (prompts === STANDARD_INPUT) return requirePrompts(await readStandardInput(io), "standard input");
  return readPrompts(resolve(io.cwd, prompts));
}

function countOf(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_AT_ONCE) return count;
  throw new UserError(
    "usage",
    `"${text}" is not a number of parallel runs.`,
    `Give a number from 1 to ${MAX_AT_ONCE}.`,
  );
}

async function preparing(options: RunOptions, io: Io): Promise<(request: RunRequest) => Promise<RunRequest>> {
  if (!options.worktree) return (request) => Promise.resolve(request);
  const { inWorktree } = await import("./worktree.ts");
  // The result of each run names its directory.
  const quiet: Io = { ...io, err: { ...io.err, offer: () => true } };
  return (request) => inWorktree(request, quiet);
}

/** Prints JSON as each run ends, but texts in the order of the prompts. */
function printerFor(options: RunOptions, { cwd, runner }: RunRequest, io: Io): (done: Ended) => void {
  const offer = (text: string) => void (io.out.offer ?? io.out.write)(text);
  if (options.output !== "text") {
    return (done) => offer(jsonLine(asJson(done, runner.name, done.cwd === cwd ? null : done.cwd)));
  }
  const waiting = new Map<number, Ended>();
  let next = 1;
  return (done) => {
    waiting.set(done.index, done);
    for (let ready = waiting.get(next); ready; ready = waiting.get(++next)) {
      waiting.delete(next);
      offer(`${next === 1 ? "" : "---\n"}${printable(ready.outcome?.result ?? "").trimEnd()}\n`);
    }
  };
}

function asJson({ index, prompt, status, outcome, error, ms }: Ended, agent: string, worktree: string | null) {
  return {
    index,
    prompt,
    agent,
    session_id: outcome?.sessionId ?? null,
    status,
    result: outcome?.result ?? "",
    error: error ?? outcome?.failure ?? null,
    tokens: outcome?.usage?.tokens ?? null,
    cost: outcome?.usage?.cost ?? null,
    ms,
    worktree,
  };
}

function lineOf({ status, prompt, ms, error, outcome }: Ended, agent: string): string {
  const reason =
    status === "completed" ? "" : (error ?? outcome?.failure ?? outcome?.stderr.trim().split("\n").at(-1) ?? "");
  const why = reason === "" ? "" : `: ${shorten(oneLine(reason), MAX_REASON)}`;
  return `${agent} ${status} in ${duration(ms)}  "${shorten(oneLine(prompt), 60)}"${why}`;
}

function summaryOf(ended: readonly Ended[], asked: number): string {
  const counts = END_STATUSES.map((status) => [status, ended.filter((each) => each.status === status).length] as const)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`);
  if (ended.length < asked) counts.push(`${asked - ended.length} not started`);
  const tokens = ended.reduce((sum, { outcome }) => sum + (outcome?.usage ? countedTokens(outcome.usage) : 0), 0);
  const cost = sumOfCosts(ended.flatMap(({ outcome }) => outcome?.usage ?? []));
  const money = cost ? `, ${costWords(cost)}` : "";
  return `${plural(asked, "run")}: ${counts.join(", ")}${tokens > 0 ? `; ${thousands(tokens)} tokens${money}` : ""}.`;
}
