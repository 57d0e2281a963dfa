/**
 * Performs a single run for the command line: prints the three lines or only the text, and returns the agent's exit
 * status.
 */
import { oneLine, plural, printable, shorten } from "../../../base/text.ts";
import { signalNumber } from "../../../run/child.ts";
import { HeadlessRun, type Listener, type Outcome, type RunRequest } from "../../../run/headless.ts";
import { countedTokens, overBudget } from "../../../run/limits.ts";
import { cannotWrite } from "../../../run/log/layout.ts";
import { recordedRun } from "../../../run/unhooked.ts";
import { costWords, thousands } from "../../render/layout/amounts.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { jsonLine } from "../../terminal/json.ts";
import type { RunOptions } from "./request.ts";

export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const MAX_REASON = 500;

export async function runOne(request: RunRequest, options: RunOptions, io: Io): Promise<number> {
  const listener: Listener = {
    ...listenerFor(request, options, io),
    ...(options.verbose && { output: (chunk: Buffer) => io.err.offer?.(printable(chunk.toString("utf8"))) }),
  };
  let signal: NodeJS.Signals | null = null;
  let running: HeadlessRun | undefined;
  const stop = (caught: NodeJS.Signals) => {
    signal ??= caught;
    running?.stop(caught);
  };
  for (const each of SIGNALS) process.on(each, stop);
  const recorded = await recordedRun(request);
  running = HeadlessRun.start(recorded.request, listener);
  if (signal !== null) running.stop(signal);
  const outcome = await running.finished;
  await recorded.ended(outcome);
  printResult(outcome, request, options, io);
  report(outcome, request, signal, io);
  if (signal !== null) return 128 + signalNumber(signal);
  if (outcome.status === "timed-out" || outcome.status === "over-budget") return EXIT.failed;
  // Some agents exit with 0 although their model server failed.
  return outcome.code === 0 && outcome.status === "failed" ? EXIT.failed : outcome.code;
}

/** The reader may close the pipe after the first line: the run continues, and its log stays complete. */
function offerTo(io: Io): (text: string) => void {
  return (text) => void (io.out.offer ?? io.out.write)(text);
}

function listenerFor(request: RunRequest, options: RunOptions, io: Io): Listener {
  const offer = offerTo(io);
  const shown = options.output ?? "json";
  const silent: Listener = { started() {}, identified() {} };
  if (shown === "stream") return { ...silent, ...asItComes(offer) };
  if (shown === "text" || options.quiet) return silent;
  const tell = (value: object) => offer(jsonLine(value));
  return { started: tell, identified: (id) => tell({ session_id: id, agent: request.runner.name }) };
}

/** Prints pieces one after another, and whole messages on separate lines. */
function asItComes(offer: (text: string) => void): Pick<Listener, "moment"> {
  let open = false;
  return {
    moment({ kind, ...rest }) {
      const text = "text" in rest ? (rest.text ?? "") : "";
      if (kind === "delta") offer(printable(text));
      else {
        if (open) offer("\n");
        if (kind === "message") offer(`${printable(text)}\n`);
      }
      open = kind === "delta" && !text.endsWith("\n");
    },
  };
}

function printResult({ result }: Outcome, { runner }: RunRequest, { output = "json" }: RunOptions, io: Io): void {
  const offer = offerTo(io);
  if (output === "json") offer(jsonLine({ result, agent: runner.name }));
  if (output === "text" && result !== "") offer(`${printable(result).trimEnd()}\n`);
}

/** Reports failures on stderr; a successful run prints nothing. */
function report(outcome: Outcome, request: RunRequest, signal: NodeJS.Signals | null, io: Io): void {
  const { name } = request.runner;
  const warn = (text: string) => io.err.offer?.(`${io.err.paint("yellow", "warning:")} ${printable(text)}\n`);
  if (outcome.logFailure !== null) {
    const { message, hint } = cannotWrite(request.logs, outcome.logFailure);
    warn(`${message}: the log is incomplete. ${hint ?? ""}`);
  }
  if (outcome.dropped > 0)
    warn(`${plural(outcome.dropped, "line")} of ${name}, longer than 16 MiB, is not in the log.`);
  const { budget, timeoutMs } = request.limits;
  const { usage } = outcome;
  const tokens = usage === null ? 0 : countedTokens(usage);
  const used = budget?.cost != null ? costWords(usage?.cost ?? null) : `${thousands(tokens)} tokens`;
  if (signal !== null) return;
  if (outcome.status === "timed-out" || outcome.status === "over-budget") {
    const why = outcome.status === "timed-out" ? `after ${(timeoutMs ?? 0) / 1000} s` : `at ${used}, over its budget`;
    io.err.offer?.(`${io.err.paint("red", "error:")} ${name} was stopped ${why}.\n`);
    return;
  }
  if (overBudget(usage, budget)) warn(`${name} exceeded its budget, but reported this only at the end: ${used}.`);
  if (outcome.status === "completed") return;
  const reason = shorten(oneLine(outcome.failure ?? lastLine(outcome.stderr)), MAX_REASON);
  const ended = outcome.code === 0 ? "without its final record" : `with status ${outcome.code}`;
  const what = outcome.status === "failed" && outcome.code === 0 ? "failed" : `ended ${ended}`;
  io.err.offer?.(
    `${io.err.paint("red", "error:")} ${printable(`${name} ${what}${reason === "" ? "." : `: ${reason}`}`)}\n`,
  );
  if (outcome.nameless) warn(`${name} reported no session id; the log is kept as ${outcome.sessionId}.`);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
