/**
 * Runs Bun with the arguments given. The `bun` package puts its binary in place by an install script, which
 * npm may have been told not to run; the platform's own package then still holds the binary.
 */
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What stands in the place of a binary that was never installed is a few hundred bytes of text. */
const MIN_BINARY_SIZE = 1024 * 1024;

const modules = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

function candidates() {
  const found = [join(modules, "bun", "bin", "bun.exe")];
  for (const name of entriesOf(join(modules, "@oven")).sort()) {
    found.push(join(modules, "@oven", name, "bin", process.platform === "win32" ? "bun.exe" : "bun"));
  }
  return found;
}

function entriesOf(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function works(path) {
  try {
    if (statSync(path).size < MIN_BINARY_SIZE) return false;
  } catch {
    return false;
  }
  return spawnSync(path, ["--version"], { stdio: "ignore" }).status === 0;
}

const bun = candidates().find(works);
if (!bun) {
  console.error("No working Bun in node_modules. Run `npm ci` first, without --omit=optional.");
  process.exit(1);
}

const child = spawn(bun, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`Bun could not be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)));
