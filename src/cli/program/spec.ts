/** Defines an entry of the command table. */
import type { Io } from "../terminal/io.ts";

export const GROUPS = ["Start and stop", "Look back", "Go back", "Run agents", "Team", "Set up"] as const;
type Group = (typeof GROUPS)[number];

export interface CommandSpec {
  path: string;
  alias?: string;
  group: Group;
  summary: string;
  /** The text of the command's own help; defaults to the summary. */
  details?: string;
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  examples?: readonly (readonly [string, string])[];
  hidden?: boolean;
  /** Passes the words after `--` to the command as `rest`. */
  takesRest?: boolean;
  /** Runs if only its group is named. */
  isDefault?: boolean;
  /** Set by `lazy`, which checks the options. */
  load?: () => Promise<{ run(options: never, io: Io): Promise<number | undefined> }>;
}

/** The description of a command, without its code: its type has the names and values of all its flags. */
type Description = Omit<CommandSpec, "load">;

type Heading = Pick<Description, "path" | "group" | "summary">;

/** Returns what describes the commands of a group. `OptionsOf` derives the type of a command's options from its flags. */
export function commandsOf(group: Group) {
  return <const D extends Omit<Description, keyof Heading>>(path: string, summary: string, rest: D): Heading & D => ({
    path,
    group,
    summary,
    ...rest,
  });
}

/** Adds the code, which loads when the command runs. Its `run` must take the options that the flags give. */
export function lazy<D extends Description>(
  description: D,
  load: () => Promise<{ run: (options: OptionsOf<D>, io: Io) => Promise<number | undefined> }>,
): CommandSpec {
  return { ...description, load };
}

/** What `run` receives: `--dry-run` is `dryRun?: boolean`, `--limit <n>` has the type that its `parse` returns. */
export type OptionsOf<D extends Description> = Simplified<
  Arguments<NonNullable<D["arguments"]>[number]> &
    Flags<NonNullable<D["options"]>[number]> &
    (D extends { takesRest: true } ? { rest: readonly string[] } : unknown)
>;

type Simplified<T> = { [K in keyof T]: T[K] };

type Flags<O extends OptionSpec> = { [F in O as FlagName<F["flags"]>]?: FlagValue<F> };

/** `-s, --session <id>` → `session`, `--dry-run` → `dryRun`, `--no-open` → `open`. */
type FlagName<F extends string> = F extends `${string}--no-${infer Long}`
  ? Camel<Long>
  : F extends `${string}--${infer Long}`
    ? Camel<Long extends `${infer Name} ${string}` ? Name : Long>
    : never;

type FlagValue<O extends OptionSpec> = O extends { parse: (...given: never[]) => infer Value }
  ? Value
  : O["flags"] extends `${string}...${string}`
    ? Word<O>[]
    : O["flags"] extends `${string}<${string}`
      ? Word<O>
      : O["flags"] extends `${string}[${string}`
        ? Word<O> | true
        : boolean;

type Word<O extends OptionSpec> = O extends { choices: readonly (infer Choice extends string)[] } ? Choice : string;

/** `<one>` is always given, `[one]` may be missing, and `[any...]` is a list. */
type Arguments<A extends ArgumentSpec> = {
  [N in Exclude<A["name"], `[${string}]`> as ArgumentName<N>]: N extends `${string}...${string}` ? string[] : string;
} & {
  [N in Extract<A["name"], `[${string}]`> as ArgumentName<N>]?: N extends `${string}...${string}` ? string[] : string;
};

type ArgumentName<N extends string> = N extends `${"<" | "["}${infer Name}${">" | "]"}`
  ? Camel<Name extends `${infer One}...` ? One : Name>
  : never;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

export interface ArgumentSpec {
  /** `<required>`, `[optional]`, `[any...]`. */
  name: string;
  help: string;
  completes?: Completes;
}

export interface OptionSpec {
  flags: string;
  help: string;
  choices?: readonly string[];
  conflicts?: readonly string[];
  /** `before` is the parsed value of earlier occurrences of the option. */
  parse?: (text: string, before: unknown) => unknown;
  completes?: Completes;
}

/** The completions that the shell offers for this argument or option. */
export type Completes =
  | "step"
  | "turn"
  | "agent"
  | "setting"
  | "value"
  | "shell"
  | "session"
  | "run"
  | "fork"
  | "operation"
  | "proposal"
  | "path"
  | "query";
