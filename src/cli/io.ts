/**
 * The terminal, as commands see it: stdout takes data, stderr takes talk. A command is handed an `Io` and never
 * touches `process` itself, so that it can be run in a test with two strings in place of the streams.
 */
import { fstatSync, writeSync } from "node:fs";
import type { styleText } from "node:util";
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
  /** A terminal that cannot move its cursor, or somebody who is better served without: plain lines, nothing drawn again. */
  dumb: boolean;
  /** For a screen reader (`ACCESSIBLE=1`): words in place of signs and lines. */
  accessible: boolean;
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
    out: channel(() => process.stdout, 1, environment),
    err: channel(() => process.stderr, 2, environment),
    interactive: isTerminalAt(0) && isTerminalAt(2),
  });
}

export function makeIo(parts: Pick<Io, "cwd" | "environment" | "out" | "err" | "interactive">): Io {
  return {
    ...parts,
    dumb: isDumb(parts.environment) || isAccessible(parts.environment),
    accessible: isAccessible(parts.environment),
    print: (text) => parts.out.write(`${text}\n`),
    json: (value) => parts.out.write(`${JSON.stringify(value, null, 2)}\n`),
    say: (text) => parts.err.write(`${text}\n`),
  };
}

/** Unix tells what a terminal can do by its name: one without a name can do nothing. */
function isDumb({ TERM }: Io["environment"]): boolean {
  return TERM === "dumb" || (!TERM && process.platform !== "win32");
}

function isAccessible({ ACCESSIBLE }: Io["environment"]): boolean {
  return ACCESSIBLE !== undefined && ACCESSIBLE !== "" && ACCESSIBLE !== "0" && ACCESSIBLE !== "false";
}

/** Only a terminal's stream is ever made: the runtime takes longer for one than a small command for its work. */
function channel(stream: () => NodeJS.WriteStream, fd: number, environment: Io["environment"]): Channel {
  const isTerminal = isTerminalAt(fd);
  const coloured = wantsColour(isTerminal, environment);
  return {
    isTerminal,
    get columns() {
      return isTerminal ? stream().columns || DEFAULT_COLUMNS : DEFAULT_COLUMNS;
    },
    get rows() {
      return isTerminal ? stream().rows || DEFAULT_ROWS : DEFAULT_ROWS;
    },
    paint: coloured
      ? (style, text) => process.getBuiltinModule("node:util").styleText(style, text, { validateStream: false })
      : (_style, text) => text,
    write: (text) => {
      // `backtrail log | head` closes the pipe when it has enough: that is no error of anybody's.
      if (!writeOut(fd, text)) process.exit(EXIT.done);
    },
    offer: (text) => writeOut(fd, text),
  };
}

/** What is known without loading anything first: pipes and files are no terminals. */
function isTerminalAt(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(fd);
  } catch {
    // It was closed before we began.
    return false;
  }
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
