/** The table of commands given to commander: the only file that knows commander's ways. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, Command, Option } from "commander";
import { UserError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import { commandHelp, topHelp } from "./help.ts";
import type { Io } from "./io.ts";
import type { CommandSpec, OptionSpec } from "./program/spec.ts";
import { COMMANDS } from "./program.ts";

export interface Outcome {
  code: number;
}

/**
 * Only what `argv` can mean: making every command ready takes longer than most of them take to run. `rest` is what
 * stood behind `--`, for a command that takes it.
 */
export function buildProgram(io: Io, outcome: Outcome, argv: readonly string[], rest: readonly string[] = []): Command {
  const program = prepared(new Command("backtrail"), io)
    .version(version, "-V, --version")
    .addOption(new Option("-C <directory>"))
    .configureHelp({ formatHelp: () => topHelp(COMMANDS, io.out.paint, io.out.columns) });
  for (const spec of meant(argv)) addCommand(program, spec, io, outcome, rest);
  return program;
}

/** The command that is named, with those of its group; all of them where none is, for help and suggestions. */
function meant(argv: readonly string[]): readonly CommandSpec[] {
  const first = argv[0] === "-C" ? argv[2] : argv[0];
  const named = COMMANDS.filter(({ path, alias }) => path.split(" ")[0] === first || alias === first);
  return named.length > 0 ? named : COMMANDS;
}

function addCommand(program: Command, spec: CommandSpec, io: Io, outcome: Outcome, rest: readonly string[]): void {
  const names = spec.path.split(" ");
  const name = names.at(-1) ?? spec.path;
  const parent = names.length > 1 ? program.commands.find((command) => command.name() === names[0]) : program;
  if (!parent) throw new Error(`The parent of "${spec.path}" must stand before it.`);
  const command = prepared(new Command(name), io)
    .description(spec.summary)
    .configureHelp({ formatHelp: () => commandHelp(spec, COMMANDS, io.out.paint, io.out.columns) });
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
    // Of `fork list --json` commander gives the option to `fork`, which has it as well.
    const given = {
      ...command.optsWithGlobals(),
      ...namedArguments(spec, command.processedArgs),
      ...(spec.takesRest && { rest }),
    };
    const code = await run(given as never, { ...io, cwd });
    outcome.code = code ?? outcome.code;
  });
}

/** An option of the group's own is taken for it wherever it stands, and would say nothing here. */
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
    `It is an option of \`backtrail ${parent.name()}\`; \`backtrail ${spec.path} --help\` shows what there is.`,
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
      // What it says arrives as an error as well, and is told there in our words.
      writeErr: () => {},
      outputError: () => {},
    });
}

function optionOf(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.help);
  if (spec.choices) option.choices(spec.choices);
  if (spec.conflicts) option.conflicts(spec.conflicts);
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
