/** Commands for the user to run, as data: Backtrail starts them without a shell, or shows them as shell text. */

/** `{ file }` means the content of a file, as one word. */
export type CommandWord = string | { readonly file: string };

export interface CommandStep {
  readonly program: string;
  readonly args: readonly CommandWord[];
}

export interface UserCommand {
  /** Null: the work tree that the user is in. */
  readonly cwd: string | null;
  /** Each step runs if the one before it succeeded. Empty if no command is known. */
  readonly steps: readonly CommandStep[];
}

/** A command in both forms. Records of earlier versions lack the data. */
export interface ShownCommand {
  /** Text for a shell; empty if no command is known. */
  command: string;
  start?: UserCommand;
}

export function shownCommand(start: UserCommand): ShownCommand {
  return { command: shellText(start), start };
}

/** The command for a POSIX shell, as the user would type it. */
export function shellText({ cwd, steps }: UserCommand): string {
  if (steps.length === 0) return "";
  const commands = steps.map(({ program, args }) => [program, ...args].map(shellWord).join(" "));
  return [...(cwd === null ? [] : [`cd ${shellWord(cwd)}`]), ...commands].join(" && ");
}

/** Quotes a word for a POSIX shell. */
export function shellWord(word: CommandWord): string {
  if (typeof word !== "string") return `"$(cat ${shellWord(word.file)})"`;
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
