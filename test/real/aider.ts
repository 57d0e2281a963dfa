/** The real Aider, from PyPI: which version, what it needs in order to run offline, and how its story drives it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { acquire } from "../../src/base/fs/lock.ts";
import { cacheDirectory } from "./install.ts";
import { type Available, type RealAgent, Rig } from "./rig.ts";
import { sandboxAbility } from "./sandbox.ts";
import type { Scenario } from "./server/scenario.ts";
import { type Terminal, tmuxMissing } from "./terminal.ts";

/** From PyPI, so `packageOf` does not know it. */
export const VERSION = "0.86.2";
const INSTALL_TIMEOUT_MS = 600_000;
const UNREACHABLE =
  /Could not find a version|Name or service not known|Temporary failure in name resolution|ConnectTimeout|Connection refused/;

const aider: Omit<RealAgent, "package"> = {
  command: "aider",
  environment: (url) => ({
    OPENAI_API_KEY: "dummy",
    OPENAI_API_BASE: `${url}/v1`,
    AIDER_MODEL: "openai/model-1",
    AIDER_ANALYTICS: "false",
    AIDER_CHECK_UPDATE: "false",
    AIDER_SHOW_MODEL_WARNINGS: "false",
    AIDER_SHOW_RELEASE_NOTES: "false",
    AIDER_EDIT_FORMAT: "whole",
    AIDER_AUTO_COMMITS: "false",
    AIDER_GITIGNORE: "false",
    AIDER_MAP_TOKENS: "0",
    AIDER_PRETTY: "false",
    AIDER_FANCY_INPUT: "false",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
  }),
  furnish() {},
};

/** Its version is pinned, and it pins those of its own dependencies; PyPI has no lock file with digests for it. */
export async function aiderAvailability(): Promise<Available> {
  const found = await lookFor();
  if (found.program !== null) return found;
  const line = `SKIPPED: stories with the real aider: ${found.reason}`;
  if (process.env["BACKTRAIL_REAL"] === "required") throw new Error(line);
  process.stderr.write(`${line}\n`);
  return found;
}

async function lookFor(): Promise<Available> {
  const ability = sandboxAbility();
  if (ability.means === null) return { program: null, reason: ability.reason };
  const noTerminal = tmuxMissing();
  if (noTerminal) return { program: null, reason: noTerminal };
  const directory = join(cacheDirectory(), `aider@${VERSION}`);
  const program = join(directory, "venv/bin/aider");
  if (existsSync(program)) return { program };
  const lock = await acquire(`${directory}.lock`, INSTALL_TIMEOUT_MS);
  if (!lock) throw new Error("another process has been installing aider for too long");
  try {
    return existsSync(program) ? { program } : install(directory, program);
  } finally {
    lock.release();
  }
}

/** A venv can't be renamed, so an unfinished one is removed. */
function install(directory: string, program: string): Available {
  mkdirSync(directory, { recursive: true });
  process.stderr.write(`installing aider-chat ${VERSION} (once; it is kept in the cache)\n`);
  const venv = join(directory, "venv");
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", venv]],
    [join(venv, "bin/pip"), ["install", "--quiet", "--retries=1", `aider-chat==${VERSION}`]],
  ];
  for (const [command, args] of steps) {
    const done = spawnSync(command, args, { encoding: "utf8", timeout: INSTALL_TIMEOUT_MS });
    if (done.status === 0) continue;
    rmSync(directory, { recursive: true, force: true });
    if (done.error) return { program: null, reason: `${command} can't be run (${done.error.message})` };
    if (UNREACHABLE.test(done.stderr)) return { program: null, reason: "PyPI can't be reached" };
    throw new Error(`${command} could not install aider:\n${done.stderr}`);
  }
  return { program };
}

export function startRig(program: string, scenarios: (project: string) => Scenario[]): Promise<Rig> {
  return Rig.start(aider, program, scenarios);
}

/** Aider in a terminal, ready for a prompt. */
export async function openAider(rig: Rig): Promise<Terminal> {
  const terminal = await rig.terminal(["aider"]);
  await terminal.waitFor(/^> *$/m, 120_000);
  return terminal;
}
