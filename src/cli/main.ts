/**
 * The entry point of the command line: finds the command, runs it, and turns thrown errors into a message and an exit
 * code.
 */
import { CommanderError } from "commander";
import { codeOf, messageOf, UserError } from "../base/errors.ts";
import { printable } from "../base/text.ts";
import { buildProgram, type Outcome } from "./program/commander.ts";
import { calledAs, type ProgramName, topHelp } from "./program/help.ts";
import { COMMANDS } from "./program/index.ts";
import { installWords } from "./render/words/index.ts";
import { EXIT, exitCodeOf } from "./terminal/exit.ts";
import { type Io, terminalIo } from "./terminal/io.ts";

installWords();

/** `argv` holds the words after the program's name. The caller exits with the returned code. */
export async function main(argv: string[]): Promise<number> {
  if (argv[0] === "complete" && argv[1] === "--") {
    const { complete } = await import("./completion/completion.ts");
    return complete(COMMANDS, argv.slice(2), process.cwd());
  }
  if (argv[0] === "agent-protocol") {
    const { serveNamed } = await import("./commands/agents/agent-protocol.ts");
    return serveNamed(argv.slice(1));
  }
  return runHere(argv);
}

/** The entry point of the drop-in `aiwr`, which is `backtrail run` under its own name. */
export async function mainAsRun(argv: string[]): Promise<number> {
  const own = argv[0] === "-V" || argv[0] === "--version";
  return runHere(own ? argv : ["run", ...argv], "aiwr");
}

function runHere(argv: string[], name?: ProgramName): Promise<number> | number {
  let directory: string;
  try {
    directory = process.cwd();
  } catch {
    report(new UserError("failed", "The current directory is gone.", "Change to one that exists."), terminalIo("/"));
    return EXIT.failed;
  }
  return runCommand(argv, terminalIo(directory), name);
}

export async function runCommand(argv: string[], io: Io, name: ProgramName = "backtrail"): Promise<number> {
  const outcome: Outcome = { code: EXIT.done };
  // A bare `backtrail` asks for help; it is not a usage error.
  if (argv.length === 0) {
    io.out.write(topHelp(COMMANDS, io.out.paint, io.out.columns));
    return EXIT.done;
  }
  try {
    const { words, rest } = withoutRest(asOption(argv));
    await buildProgram(io, outcome, words, rest, name).parseAsync(withDefaults(words), { from: "user" });
    return outcome.code;
  } catch (thrown) {
    const error = thrown instanceof CommanderError ? usageError(thrown, argv, name) : inWords(thrown);
    if (error === undefined) return EXIT.done;
    report(error, io);
    return exitCodeOf(error);
  }
}

/** Turns `help`, `help rewind` and `version` into the matching options. */
function asOption(argv: readonly string[]): string[] {
  const at = argv[0] === "-C" ? 2 : 0;
  const before = argv.slice(0, at);
  if (argv[at] === "version" && argv.length === at + 1) return [...before, "--version"];
  return argv[at] === "help" ? [...before, ...argv.slice(at + 1), "--help"] : [...argv];
}

/** Maps the names that other tools use to our commands. */
const SYNONYMS: Readonly<Record<string, string>> = {
  init: "enable",
  setup: "enable",
  list: "log",
  ls: "log",
  history: "log",
  restore: "rewind",
  reset: "rewind",
  revert: "undo",
  checkpoint: "save",
  snapshot: "save",
  commit: "save",
  uninstall: "disable",
};

/**
 * Splits off the words after `--` for commands that pass them on. Also moves a prompt that starts with a hyphen behind
 * the options: no option contains spaces.
 */
function withoutRest(argv: readonly string[]): { words: string[]; rest: string[] } {
  const name = argv[argv[0] === "-C" ? 2 : 0];
  if (!COMMANDS.some((command) => command.takesRest && command.path === name)) return { words: [...argv], rest: [] };
  const at = argv.includes("--") ? argv.indexOf("--") : argv.length;
  const words = argv.slice(0, at);
  const isText = (word: string) => /^-[^=]*\s/.test(word);
  return { words: [...words.filter((word) => !isText(word)), "--", ...words.filter(isText)], rest: argv.slice(at + 1) };
}

/** Expands `backtrail config` to `backtrail config list`; a wrong subcommand is still reported as such. */
function withDefaults(argv: readonly string[]): string[] {
  const at = argv[0] === "-C" ? 2 : 0;
  const group = argv[at];
  const next = argv[at + 1];
  const chosen = COMMANDS.find((command) => command.isDefault && command.path.split(" ")[0] === group);
  if (!chosen || (next !== undefined && (!next.startsWith("-") || next === "-h" || next === "--help")))
    return [...argv];
  return [...argv.slice(0, at), ...chosen.path.split(" "), ...argv.slice(at + 1)];
}

/** Errors of the system are not bugs, and the user can act on them. */
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

/** Translates commander's errors; undefined if commander only wanted to exit after help or version. */
function usageError(error: CommanderError, argv: readonly string[], name: ProgramName): UserError | undefined {
  if (error.exitCode === 0) return undefined;
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const unknown = /^unknown command '(.*)'$/.exec(first)?.[1];
  const synonym = unknown !== undefined && Object.hasOwn(SYNONYMS, unknown) ? SYNONYMS[unknown] : undefined;
  const alike = /Did you mean (?:one of )?(.*)\?\)?$/.exec(rest.join(" "))?.[1]?.split(", ");
  const meant = synonym === undefined ? alike : [`backtrail ${synonym}`];
  const message = first.charAt(0).toUpperCase() + first.slice(1);
  return new UserError(
    "usage",
    message.endsWith(".") ? message : `${message}.`,
    meant
      ? `Did you mean ${meant.map((name) => `\`${name}\``).join(" or ")}?`
      : calledAs(name, helpHint(pathOf(argv), unknown !== undefined)),
  );
}

function helpHint(path: string, isUnknown: boolean): string {
  return `\`backtrail ${path}--help\` lists ${isUnknown && path === "" ? "all commands" : "its options"}.`;
}

/** The command in `argv` with a trailing space, or an empty string if it is unknown. */
function pathOf(argv: readonly string[]): string {
  const words = argv[0] === "-C" ? argv.slice(2) : argv;
  const two = words.slice(0, 2).join(" ");
  const known = [two, words[0]].find((path) =>
    COMMANDS.some((command) => command.path === path || command.alias === path),
  );
  return known === undefined ? "" : `${known} `;
}
