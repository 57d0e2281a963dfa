#!/usr/bin/env node
/**
 * Starts the native executable. Where npm runs install scripts, the executable itself takes the place of this
 * file, and node is not needed any more.
 */
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { basename } = require("node:path");
const { findExecutable, packageName } = require("../lib/executable.cjs");

const executable = findExecutable();
if (executable === undefined) {
  console.error(`backtrail: there is no executable for this platform (${packageName} is not installed).`);
  console.error("hint: install again without --omit=optional; Linux with glibc, macOS and Windows are supported.");
  process.exit(1);
}

// The executable tells by the name it was called by which of its two commands is meant.
const child = spawn(executable, process.argv.slice(2), { stdio: "inherit", argv0: basename(__filename) });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`backtrail: ${executable} could not be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)));
