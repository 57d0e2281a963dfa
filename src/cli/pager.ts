/** Long text in the user's pager, where stdout is a terminal; otherwise as it is. */
import { spawn } from "node:child_process";
import type { Io } from "./io.ts";

export async function page(io: Io, text: string): Promise<void> {
  const whole = text.endsWith("\n") ? text : `${text}\n`;
  const command = pagerOf(io);
  if (!command || whole.split("\n").length <= io.out.rows) {
    io.out.write(whole);
    return;
  }
  const shown = await throughPager(command, whole, io);
  if (!shown) io.out.write(whole);
}

/** The program and its arguments. Words only: what a shell would make of more than that is not looked at. */
function pagerOf(io: Io): string[] | undefined {
  if (!io.out.isTerminal || io.dumb) return undefined;
  const wanted = io.environment["BACKTRAIL_PAGER"] ?? io.environment["PAGER"] ?? "less";
  const words = wanted.split(/\s+/).filter((word) => word !== "");
  return words.length === 0 || words[0] === "cat" ? undefined : words;
}

/** False where the pager could not be started. */
function throughPager([program = "less", ...args]: readonly string[], text: string, io: Io): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "inherit", "inherit"],
      // As git does: end at once if it fits, keep colours, leave the text on the screen.
      env: { ...io.environment, LESS: io.environment["LESS"] ?? "FRX" } as NodeJS.ProcessEnv,
    });
    child.once("error", () => resolve(false));
    child.once("close", () => resolve(true));
    // The pager may be left before it has read everything.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}
