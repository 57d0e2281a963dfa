/** The command line's entry: finds the command, runs it, and turns whatever was thrown into words and a code. */
import { CommanderError } from "commander";
import { codeOf, messageOf, UserError } from "../base/errors.ts";
import { printable } from "../base/text.ts";
import { buildProgram, type Outcome } from "./commander.ts";
import { EXIT, exitCodeOf } from "./exit.ts";
import { topHelp } from "./help.ts";
import { type Io, terminalIo } from "./io.ts";
import { COMMANDS } from "./program.ts";

/** `argv` is what follows the program's name. The caller ends the process with what this returns. */
export async function main(argv: string[]): Promise<number> {
  if (argv[0] === "complete" && argv[1] === "--") {
    const { complete } = await import("./completion.ts");
    return complete(COMMANDS, argv.slice(2), process.cwd());
  }
  if (argv[0] === "agent-protocol") {
    const { serveNamed } = await import("./commands/agent-protocol.ts");
    return serveNamed(argv.slice(1));
  }
  return runCommand(argv, terminalIo(process.cwd()));
}

/** The drop-in `aiwr`: `backtrail run` under its own name. */
export async function mainAsRun(argv: string[]): Promise<number> {
  const own = argv[0] === "-V" || argv[0] === "--version";
  return runCommand(own ? argv : ["run", ...argv], terminalIo(process.cwd()));
}

export async function runCommand(argv: string[], io: Io): Promise<number> {
  const outcome: Outcome = { code: EXIT.done };
  // A bare `backtrail` is a question, not a mistake.
  if (argv.length === 0) {
    io.out.write(topHelp(COMMANDS, io.out.paint, io.out.columns));
    return EXIT.done;
  }
  try {
    const { words, rest } = withoutRest(argv);
    await buildProgram(io, outcome, words, rest).parseAsync(withDefaults(words), { from: "user" });
    return outcome.code;
  } catch (thrown) {
    const error = thrown instanceof CommanderError ? usageError(thrown, argv) : inWords(thrown);
    if (error === undefined) return EXIT.done;
    report(error, io);
    return exitCodeOf(error);
  }
}

/** What stands behind `--`, for commands that hand it on. A prompt may begin with a hyphen; no option has spaces. */
function withoutRest(argv: readonly string[]): { words: string[]; rest: string[] } {
  const name = argv[argv[0] === "-C" ? 2 : 0];
  if (!COMMANDS.some((command) => command.takesRest && command.path === name)) return { words: [...argv], rest: [] };
  const at = argv.includes("--") ? argv.indexOf("--") : argv.length;
  const words = argv.slice(0, at);
  const isText = (word: string) => /^-[^=]*\s/.test(word);
  return { words: [...words.filter((word) => !isText(word)), "--", ...words.filter(isText)], rest: argv.slice(at + 1) };
}

/** `backtrail config` means `backtrail config list`; a wrong word after it is still told as such. */
function withDefaults(argv: readonly string[]): string[] {
  const at = argv[0] === "-C" ? 2 : 0;
  const group = argv[at];
  const next = argv[at + 1];
  const chosen = COMMANDS.find((command) => command.isDefault && command.path.split(" ")[0] === group);
  if (!chosen || (next !== undefined && (!next.startsWith("-") || next === "-h" || next === "--help")))
    return [...argv];
  return [...argv.slice(0, at), ...chosen.path.split(" "), ...argv.slice(at + 1)];
}

/** What the system refuses is no fault of anybody's, and a person can do something about it. */
const SYSTEM: Readonly<Record<string, [message: string, hint: string]>> = {
  ENOSPC: ["The disk is full.", "Make room and try again."],
  EDQUOT: ["Your quota of the disk is used up.", "Make room and try again."],
  EROFS: ["The disk is read-only.", "Nothing can be saved or restored here until it can be written."],
  EIO: ["The disk reports an error.", "Look after the disk before anything else; then `backtrail doctor`."],
  EACCES: ["Permission was denied.", "`backtrail doctor` says whether the store can be written."],
  EMFILE: ["Too many files are open.", "Close some programs, or raise the limit (`ulimit -n`)."],
};

function inWords(thrown: unknown): unknown {
  const [message, hint] = SYSTEM[codeOf(thrown) ?? ""] ?? [];
  return message === undefined ? thrown : new UserError("failed", `${message} (${messageOf(thrown)})`, hint);
}

function report(thrown: unknown, io: Io): void {
  const { paint } = io.err;
  if (thrown instanceof UserError && thrown.kind === "interrupted") {
    io.say(printable(thrown.message));
    return;
  }
  io.say(`${paint("red", "error:")} ${printable(messageOf(thrown))}`);
  if (thrown instanceof UserError) {
    if (thrown.hint) io.say(`${paint("cyan", "hint:")} ${printable(thrown.hint)}`);
    return;
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  if (io.environment["BACKTRAIL_DEBUG"] === "1" && stack) io.say(printable(stack));
  else io.say(`${paint("cyan", "hint:")} This is a fault in Backtrail. BACKTRAIL_DEBUG=1 shows where it happened.`);
}

/** commander's errors in our words; undefined where it only wanted to end after help or version. */
function usageError(error: CommanderError, argv: readonly string[]): UserError | undefined {
  if (error.exitCode === 0) return undefined;
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const meant = /Did you mean (?:one of )?(.*)\?\)?$/.exec(rest.join(" "))?.[1]?.split(", ");
  const message = first.charAt(0).toUpperCase() + first.slice(1);
  return new UserError(
    "usage",
    message.endsWith(".") ? message : `${message}.`,
    meant
      ? `Did you mean ${meant.map((name) => `\`${name}\``).join(" or ")}?`
      : `\`backtrail ${pathOf(argv)}--help\` shows what there is.`,
  );
}

/** The command that was meant, as far as it is one, with a space after it. */
function pathOf(argv: readonly string[]): string {
  const words = argv[0] === "-C" ? argv.slice(2) : argv;
  const two = words.slice(0, 2).join(" ");
  const known = [two, words[0]].find((path) =>
    COMMANDS.some((command) => command.path === path || command.alias === path),
  );
  return known === undefined ? "" : `${known} `;
}
