/** Shows long text in the user's pager on a terminal; otherwise prints it. */
import { spawn } from "node:child_process";
import { findProgram } from "../../base/process/program.ts";
import type { Io } from "./io.ts";

const DESCRIPTORS = { out: 1, err: 2 } as const;

/** Use `err` for text before a question: stdout may be redirected to a file. */
export async function page(io: Io, text: string, to: "out" | "err" = "out"): Promise<void> {
  const channel = io[to];
  const whole = text.endsWith("\n") ? text : `${text}\n`;
  const command = channel.isTerminal && !io.dumb ? pagerOf(io) : undefined;
  if (!command || whole.split("\n").length <= channel.rows) {
    channel.write(whole);
    return;
  }
  const shown = await throughPager(command, whole, io, DESCRIPTORS[to]);
  if (!shown) channel.write(whole);
}

/** The pager's program and arguments, split into words; shell syntax is not supported. */
function pagerOf(io: Io): string[] | undefined {
  const wanted = io.environment["BACKTRAIL_PAGER"] ?? io.environment["PAGER"] ?? "less";
  const words = wanted.split(/\s+/).filter((word) => word !== "");
  return words.length === 0 || words[0] === "cat" ? undefined : words;
}

/** Returns false if the pager could not be started. */
function throughPager(
  [program = "less", ...args]: readonly string[],
  text: string,
  io: Io,
  output: number,
): Promise<boolean> {
  const path = findProgram(program, io.environment["PATH"]);
  if (path === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(path, args, {
      stdio: ["pipe", output, "inherit"],
      // Like git: exit at once if the text fits, keep colors, leave the text on the screen.
      env: { ...io.environment, LESS: io.environment["LESS"] ?? "FRX" } as NodeJS.ProcessEnv,
    });
    child.once("error", () => resolve(false));
    child.once("close", () => resolve(true));
    // The user may quit the pager before it has read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(text);
  });
}
