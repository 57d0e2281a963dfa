/**
 * Logs internal failures for `doctor`, since hooks never print or fail. Holds our own messages, never payloads, prompts
 * or environments.
 */
import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { now } from "./clock.ts";
import { messageOf } from "./errors.ts";
import { appendLine } from "./fs/files.ts";
import { stateDirectory } from "./paths.ts";
import { printable } from "./text.ts";

const MAX_BYTES = 1 << 20;

export type LogLevel = "error" | "warn" | "info" | "debug";

export interface LogEntry {
  v: 1;
  time: string;
  level: LogLevel;
  where: string;
  message: string;
}

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

let directory: string | undefined;
let most: LogLevel = "info";

/** Sends further entries to this store's log; the default is the user's state directory. */
export function logTo(storeDirectory: string): void {
  directory = storeDirectory;
}

/** Skips entries less important than `level`. */
export function setLogLevel(level: LogLevel): void {
  most = level;
}

export function logFile(storeDirectory: string = directory ?? stateDirectory()): string {
  return join(storeDirectory, "log.jsonl");
}

export function logError(where: string, thrown: unknown): void {
  write("error", where, messageOf(thrown));
  debug(where, thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
}

export function log(level: LogLevel, where: string, message: string): void {
  write(level, where, message);
  debug(where, message);
}

/** Whoever sets BACKTRAIL_DEBUG wants to see why a hook did nothing, whatever the log's level. */
function debug(where: string, detail: string): void {
  if (process.env["BACKTRAIL_DEBUG"] === "1") process.stderr.write(`backtrail: ${where}: ${printable(detail)}\n`);
}

function write(level: LogLevel, where: string, message: string): void {
  if (LEVELS.indexOf(level) > LEVELS.indexOf(most)) return;
  const entry: LogEntry = { v: 1, time: now().toISOString(), level, where, message: message.slice(0, 2_000) };
  for (const file of new Set([logFile(), logFile(stateDirectory())])) {
    try {
      rotate(file);
      appendLine(file, JSON.stringify(entry));
      return;
    } catch {
      // The disk is full or read-only. There is nowhere left to report it, and the agent must continue.
    }
  }
}

function rotate(file: string): void {
  try {
    if (statSync(file).size > MAX_BYTES) renameSync(file, `${file}.1`);
  } catch {
    // No log yet.
  }
}
