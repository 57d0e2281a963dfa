/**
 * The terminal, as commands see it: stdout takes data, stderr takes talk. A command is handed an `Io` and never
 * touches `process` itself, so that it can be run in a test with two strings in place of the streams.
 */
import { writeSync } from "node:fs";
import { styleText } from "node:util";
import { codeOf } from "../base/errors.ts";
import { EXIT } from "./exit.ts";

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

export interface Channel {
  isTerminal: boolean;
  columns: number;
  rows: number;
  paint: Paint;
  write(text: string): void;
  /** The same, but false where nobody reads any more: for what must go on all the same. */
  offer?(text: string): boolean;
}

export interface Io {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  out: Channel;
  err: Channel;
  /** Somebody is there to answer: stdin and stderr are terminals. */
  interactive: boolean;
  /** A terminal that cannot move its cursor. */
  dumb: boolean;
  /** Lines of data on stdout. */
  print(text: string): void;
  json(value: unknown): void;
  /** A line of talk on stderr. */
  say(text: string): void;
}

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** How long to wait for a reader whose pipe is full. */
const FULL_PIPE_MS = 5;

export function terminalIo(cwd: string): Io {
  const environment = process.env;
  return makeIo({
    cwd,
    environment,
    out: channel(process.stdout, 1, environment),
    err: channel(process.stderr, 2, environment),
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  });
}

export function makeIo(parts: Pick<Io, "cwd" | "environment" | "out" | "err" | "interactive">): Io {
  return {
    ...parts,
    dumb: parts.environment["TERM"] === "dumb",
    print: (text) => parts.out.write(`${text}\n`),
    json: (value) => parts.out.write(`${JSON.stringify(value, null, 2)}\n`),
    say: (text) => parts.err.write(`${text}\n`),
  };
}

function channel(stream: NodeJS.WriteStream, fd: number, environment: Io["environment"]): Channel {
  const isTerminal = stream.isTTY === true;
  const coloured = wantsColour(isTerminal, environment);
  return {
    isTerminal,
    columns: isTerminal ? stream.columns || DEFAULT_COLUMNS : DEFAULT_COLUMNS,
    rows: isTerminal ? stream.rows || DEFAULT_ROWS : DEFAULT_ROWS,
    paint: coloured ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text,
    write: (text) => {
      // `backtrail log | head` closes the pipe when it has enough: that is no error of anybody's.
      if (!writeOut(fd, text)) process.exit(EXIT.done);
    },
    offer: (text) => writeOut(fd, text),
  };
}

/** NO_COLOR (no-color.org) and FORCE_COLOR speak for themselves; otherwise a terminal that is not dumb has it. */
export function wantsColour(isTerminal: boolean, environment: Io["environment"]): boolean {
  if (environment["NO_COLOR"]) return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && environment["TERM"] !== "dumb";
}

/**
 * Written at once and whole: the process may end right after, and a stream would lose what a slow reader has not
 * taken yet. False where there is no reader.
 */
function writeOut(fd: number, text: string): boolean {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
      else if (code === "EPIPE") return false;
      else throw error;
    }
  }
  return true;
}
