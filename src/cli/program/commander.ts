/** Builds commander's program from the command table. The only file that uses commander. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, Command, Option } from "commander";
import { UserError } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import type { Io } from "../terminal/io.ts";
import { calledAs, commandHelp, type ProgramName, topHelp } from "./help.ts";
import { COMMANDS } from "./index.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

export interface Outcome {
  code: number;
}

/**
 * Builds only the commands that `argv` can refer to: building all of them takes longer than most commands take to run.
 * `rest` holds the words after `--`, for a command that takes them.
 */
export function buildProgram(
  io: Io,
  outcome: Outcome,
  argv: readonly string[],
  rest: readonly string[] = [],
  name: ProgramName = "backtrail",
): Command {
  const program = prepared(new Command("backtrail"), io)
    .version(version, "-V, --version")
    .addOption(new Option("-C <directory>"))
    .configureHelp({ formatHelp: () => topHelp(COMMANDS, io.out.paint, io.out.columns) });
  for (const spec of meant(argv)) addCommand(program, spec, { io, outcome, rest, name });
  return program;
}

/** The named command with its group; all commands if none is named, for help and suggestions. */
function meant(argv: readonly string[]): readonly CommandSpec[] {
  const first = argv[0] === "-C" ? argv[2] : argv[0];
  const named = COMMANDS.filter(({ path, alias }) => path.split(" ")[0] === first || alias === first);
  return named.length > 0 ? named : COMMANDS;
}

interface Invocation {
  io: Io;
  outcome: Outcome;
  rest: readonly string[];
  name: ProgramName;
}

function addCommand(program: Command, spec: CommandSpec, { io, outcome, rest, name: programName }: Invocation): void {
  const names = spec.path.split(" ");
  const name = names.at(-1) ?? spec.path;
  const parent = names.length > 1 ? program.commands.find((command) => command.name() === names[0]) : program;
  if (!parent) throw new Error(`The parent of "${spec.path}" must stand before it.`);
  const command = prepared(new Command(name), io)
    .description(spec.summary)
    .configureHelp({
      formatHelp: () => calledAs(programName, commandHelp(spec, COMMANDS, io.out.paint, io.out.columns)),
    });
  if (spec.alias) command.alias(spec.alias);
  for (const argument of spec.arguments ?? []) command.addArgument(new Argument(argument.name, argument.help));
  for (const option of spec.options ?? []) command.addOption(optionOf(option));
  parent.addCommand(command, { hidden: spec.hidden === true });
  const load = spec.load;
  if (!load) return;
  command.action(async () => {
    if (parent !== program) refuseOthers(command, parent, spec);
    const cwd = existing(resolve(io.cwd, program.opts<{ C?: string }>().C ?? "."));
    const { run } = await load();
    // For `fork list --json`, commander assigns the option to `fork`, which has the same option.
    const given = {
      ...command.optsWithGlobals(),
      ...namedArguments(spec, command.processedArgs),
      ...(spec.takesRest && { rest }),
    };
    const code = await run(given as never, { ...io, cwd });
    outcome.code = code ?? outcome.code;
  });
}

/**
 * commander accepts the group's own options anywhere. Refuse those that this command does not have, instead of ignoring
 * them.
 */
function refuseOthers(command: Command, parent: Command, spec: CommandSpec): void {
  const own = new Set(command.options.map((option) => option.attributeName()));
  const other = parent.options.find((option) => {
    const name = option.attributeName();
    return !own.has(name) && parent.getOptionValueSource(name) === "cli";
  });
  if (!other) return;
  throw new UserError(
    "usage",
    `\`${spec.path}\` takes no ${other.long ?? other.short}.`,
    `It is an option of \`backtrail ${parent.name()}\`; \`backtrail ${spec.path} --help\` lists its options.`,
  );
}

function prepared(command: Command, io: Io): Command {
  return command
    .exitOverride()
    .helpOption("-h, --help", "this help")
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      // commander also throws its messages as errors, and the caller reports those in our words.
      writeErr: () => {},
      outputError: () => {},
    });
}

function optionOf(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.help);
  if (spec.choices) option.choices(spec.choices);
  if (spec.conflicts) option.conflicts([...spec.conflicts]);
  if (spec.parse) option.argParser(spec.parse);
  return option;
}

/** `<target>` → `target`, `[paths...]` → `paths`. */
function namedArguments(spec: CommandSpec, values: readonly unknown[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  (spec.arguments ?? []).forEach((argument, i) => {
    result[argument.name.replace(/[<>[\].]/g, "").replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] =
      values[i];
  });
  return result;
}

function existing(directory: string): string {
  const isDirectory = statSync(directory, { throwIfNoEntry: false })?.isDirectory();
  if (isDirectory) return directory;
  throw new UserError("usage", `${directory} is not a directory.`, "Give -C a directory that exists.");
}
