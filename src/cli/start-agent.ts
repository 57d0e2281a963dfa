/**
 * Starts an agent with the command that a person would type, without a shell: only the few forms that Backtrail prints
 * are understood, and anything else is left for the person.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../base/errors.ts";
import { oneLine, shorten } from "../base/text.ts";

/** The agent's exit status. It has the terminal to itself meanwhile. */
export async function startAgent(command: string, cwd: string): Promise<number> {
  let place = cwd;
  for (const words of commandsIn(command)) {
    const [program = "", ...args] = words;
    if (program === "cd") place = resolve(place, args[0] ?? ".");
    else {
      const code = await start(program, args, place);
      if (code !== 0) return code;
    }
  }
  return 0;
}

async function start(program: string, args: readonly string[], cwd: string): Promise<number> {
  const path = Bun.which(program);
  if (path === null) {
    throw new UserError(
      "failed",
      `${shorten(oneLine(program), 60)} was not found in PATH.`,
      "Install it, then try again.",
    );
  }
  // Ctrl-C is the agent's to answer.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    const child = Bun.spawn([path, ...args], { cwd, stdio: ["inherit", "inherit", "inherit"] });
    const code = await child.exited;
    return child.signalCode === "SIGINT" ? 130 : code;
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** The words of each command in `a b && c 'd e' "$(cat f)"`. */
export function commandsIn(text: string): string[][] {
  const commands: string[][] = [[]];
  let rest = text.trim();
  while (rest !== "") {
    const word = /^(?:"\$\(cat ((?:'[^']*'|\\'|[^\s'"\\)])+)\)"|((?:'[^']*'|\\'|[\w./:=@%+,~-])+)|(&&))(?:\s+|$)/.exec(
      rest,
    );
    if (!word) throw notUnderstood(text);
    rest = rest.slice(word[0].length);
    if (word[3] !== undefined) commands.push([]);
    else commands.at(-1)?.push(word[1] === undefined ? bare(word[2] ?? "") : contentOf(bare(word[1])));
  }
  if (commands.some((words) => words.length === 0)) throw notUnderstood(text);
  return commands;
}

function bare(word: string): string {
  return word.replace(
    /'([^']*)'|\\(')/g,
    (_, inner: string | undefined, quote: string | undefined) => inner ?? quote ?? "",
  );
}

function contentOf(path: string): string {
  return readFileSync(path, "utf8").trimEnd();
}

function notUnderstood(text: string): UserError {
  return new UserError(
    "refused",
    "Backtrail does not start this command by itself.",
    `Type it: ${shorten(oneLine(text), 300)}`,
  );
}
