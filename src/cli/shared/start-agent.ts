/** Starts an agent with the command that the user would type, without a shell. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../../base/errors.ts";
import { findProgram } from "../../base/process/program.ts";
import { spawn } from "../../base/runtime.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { CommandWord, UserCommand } from "../../model/command.ts";

/** Returns the status of the first step that fails, or of the last one. The agent owns the terminal meanwhile. */
export async function startAgent(command: UserCommand | undefined, cwd: string): Promise<number> {
  if (!command || command.steps.length === 0)
    throw new UserError("not-found", "Backtrail does not know how to start this agent.", "Start it by hand.");
  const directory = command.cwd === null ? cwd : resolve(cwd, command.cwd);
  for (const { program, args } of command.steps) {
    const code = await start(program, args.map(contentOf), directory);
    if (code !== 0) return code;
  }
  return 0;
}

async function start(program: string, args: readonly string[], cwd: string): Promise<number> {
  const path = findProgram(program);
  if (path === null) {
    throw new UserError(
      "failed",
      `${shorten(oneLine(program), 60)} was not found in PATH.`,
      "Install it, then try again.",
    );
  }
  // The agent handles Ctrl-C.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    return await spawn(path, args, { cwd, stdin: "inherit", stdout: "inherit", stderr: "inherit" }).exited;
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** As a shell's `$(cat file)`. */
function contentOf(word: CommandWord): string {
  return typeof word === "string" ? word : readFileSync(word.file, "utf8").trimEnd();
}
