/**
 * The terminal as commands see it: data goes to stdout, messages go to stderr. A command receives an `Io` and never
 * touches `process` itself, so that tests can replace the streams with two strings.
 */
import { fstatSync, writeSync } from "node:fs";
import type { styleText } from "node:util";
import { codeOf } from "../../base/errors.ts";
import { wrapMessage } from "../render/layout/text.ts";
import { EXIT } from "./exit.ts";
import { jsonText } from "./json.ts";

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

export interface Channel {
  isTerminal: boolean;
  /** The width at which lines are cut or wrapped; infinite without a terminal, since piped output is never cut. */
  columns: number;
  rows: number;
  paint: Paint;
  write(text: string): void;
  /** Like `write`, but returns false if the reader is gone, for work that must continue regardless. */
  offer?(text: string): boolean;
}

export interface Io {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  out: Channel;
  err: Channel;
  /** True if a user can answer: stdin and stderr are terminals. */
  interactive: boolean;
  /** True if the terminal cannot move its cursor, or the user prefers plain lines: nothing is redrawn. */
  dumb: boolean;
  /** For a screen reader (`ACCESSIBLE=1`): words instead of symbols and drawn lines. */
  accessible: boolean;
  /** Prints lines of data on stdout, as they are. */
  print(text: string): void;
  /** Prints sentences on stdout. On a terminal, long lines are wrapped. */
  printMessage(text: string): void;
  json(value: unknown): void;
  /** Prints a message on stderr. On a terminal, long lines are wrapped. */
  say(text: string): void;
}

/** For a terminal that does not report its size. */
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
    json: (value) => parts.out.write(jsonText(value)),
    printMessage: (text) => parts.out.write(`${wrapMessage(text, parts.out.columns)}\n`),
    say: (text) => parts.err.write(`${wrapMessage(text, parts.err.columns)}\n`),
  };
}

/** On Unix, TERM names the terminal's capabilities: without a name, assume none. */
function isDumb({ TERM }: Io["environment"]): boolean {
  return TERM === "dumb" || (!TERM && process.platform !== "win32");
}

function isAccessible({ ACCESSIBLE }: Io["environment"]): boolean {
  return ACCESSIBLE !== undefined && ACCESSIBLE !== "" && ACCESSIBLE !== "0" && ACCESSIBLE !== "false";
}

/** Creates a stream only for a terminal: creating one takes the runtime longer than a small command takes to run. */
function channel(stream: () => NodeJS.WriteStream, fd: number, environment: Io["environment"]): Channel {
  const isTerminal = isTerminalAt(fd);
  const isColored = wantsColor(isTerminal, environment);
  return {
    isTerminal,
    get columns() {
      return isTerminal ? stream().columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
    },
    get rows() {
      return isTerminal ? stream().rows || DEFAULT_ROWS : DEFAULT_ROWS;
    },
    paint: isColored
      ? (style, text) => process.getBuiltinModule("node:util").styleText(style, text, { validateStream: false })
      : (_style, text) => text,
    write: (text) => {
      // `backtrail log | head` closes the pipe once it has enough: that is not an error.
      if (!writeOut(fd, text)) process.exit(EXIT.done);
    },
    offer: (text) => writeOut(fd, text),
  };
}

/** Avoids loading modules: pipes and files are not terminals. */
function isTerminalAt(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(fd);
  } catch {
    // The descriptor was closed before we started.
    return false;
  }
}

/** NO_COLOR (no-color.org) and FORCE_COLOR decide; otherwise a terminal that is not dumb gets color. */
export function wantsColor(isTerminal: boolean, environment: Io["environment"]): boolean {
  if (environment["NO_COLOR"]) return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && environment["TERM"] !== "dumb";
}

/**
 * Writes everything synchronously: the process may exit right after, and a stream would lose whatever a slow reader has
 * not received yet. Returns false if there is no reader.
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
