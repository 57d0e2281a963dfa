/**
 * Puts the native executable in the place of the launcher, so that a command starts without node. Where that
 * cannot be done the launcher stays, and an installation never fails for it.
 */
"use strict";

const { spawnSync } = require("node:child_process");
const { chmodSync, copyFileSync, linkSync, renameSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const { findExecutable } = require("./executable.cjs");

// On Windows npm has written its shims by now, and they start what they found: a script for node.
const executable = process.platform === "win32" ? undefined : findExecutable();
if (executable !== undefined && spawnSync(executable, ["--version"], { stdio: "ignore" }).status === 0) {
  for (const name of ["backtrail", "aiwr"]) replace(join(__dirname, "..", "bin", name), executable);
}

function replace(launcher, executable) {
  const fresh = `${launcher}.${process.pid}`;
  try {
    linkOrCopy(executable, fresh);
    chmodSync(fresh, 0o755);
    renameSync(fresh, launcher);
  } catch {
    rmSync(fresh, { force: true });
  }
}

function linkOrCopy(from, to) {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
