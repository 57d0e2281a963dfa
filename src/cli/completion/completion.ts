/** Owns shell completion, derived from the command table. The only file that uses @bomb.sh/tab. */
import { RootCommand, script } from "@bomb.sh/tab";
import { PACKAGED } from "../../agents/registry/packaged.ts";
import { KEYS } from "../../config/keys.ts";
import type { CommandSpec, Completes } from "../program/spec.ts";
import { EXIT } from "../terminal/exit.ts";
import { offerFilters } from "./query.ts";
import {
  type Offer,
  offerForks,
  offerOperations,
  offerPaths,
  offerProposals,
  offerRuns,
  offerSessions,
  offerSteps,
  offerTurns,
  offerValues,
} from "./values.ts";

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** Replaces the functions that the script needs from the bash-completion package, if that is not installed. */
const BASH_FALLBACK = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        cur=\${COMP_WORDS[COMP_CWORD]}
        prev=\${COMP_WORDS[COMP_CWORD - 1]}
        words=("\${COMP_WORDS[@]}")
        cword=$COMP_CWORD
    }
fi
`;

export function completionScript(shell: (typeof SHELLS)[number]): string {
  const text = printedBy(() => script(shell, "backtrail", "backtrail"));
  if (shell !== "bash") return text;
  // A shell may source its profile twice, and a constant cannot be set twice. Treat the typed line as data: evaluating
  // it would let Tab run a half-typed `$(…)`.
  const asData = `$(backtrail complete -- "\${words[@]:1}" 2>/dev/null)`;
  return BASH_FALLBACK + text.replace(/^readonly /gm, "").replace('$(eval "$requestComp" 2>/dev/null)', () => asData);
}

/** Captures the text, because the library prints it directly. */
function printedBy(work: () => void): string {
  const { log } = console;
  let text = "";
  console.log = (line: string) => {
    text += `${line}\n`;
  };
  try {
    work();
  } finally {
    console.log = log;
  }
  return text;
}

/** Prints the candidates that may follow `words`. */
export function complete(commands: readonly CommandSpec[], words: string[], cwd: string): number {
  try {
    // `--` changes nothing about what may follow; the library would stop at it.
    const line = words.filter((word, i) => word !== "--" || i === words.length - 1);
    table(commands, { cwd, words: [...line] }).parse(line);
    return EXIT.done;
  } catch {
    // Print no error: the user is in the middle of typing a line.
    return EXIT.failed;
  }
}

/** The typed line without the program's name, and the directory it is typed in. */
interface Line {
  cwd: string;
  words: readonly string[];
}

function table(commands: readonly CommandSpec[], line: Line): RootCommand {
  const root = new RootCommand();
  for (const spec of commands) {
    if (spec.hidden) continue;
    for (const path of spec.alias ? [spec.path, spec.alias] : [spec.path]) addCommand(root, path, spec, line);
  }
  return root;
}

function addCommand(root: RootCommand, path: string, spec: CommandSpec, line: Line): void {
  const command = root.command(path, spec.summary);
  for (const argument of spec.arguments ?? []) {
    const { completes } = argument;
    const name = argument.name.replace(/[<>[\].]/g, "");
    command.argument(
      name,
      completes ? (offer) => offerAll(completes, offer, line) : undefined,
      argument.name.includes("..."),
    );
  }
  for (const option of spec.options ?? []) {
    const long = /--([a-z-]+)/.exec(option.flags)?.[1];
    const short = /^-([a-zA-Z]),/.exec(option.flags)?.[1];
    if (!long) continue;
    const { completes, choices } = option;
    if (completes) command.option(long, option.help, (offer) => offerAll(completes, offer, line), short);
    else if (choices) {
      command.option(
        long,
        option.help,
        (offer) => {
          for (const choice of choices) offer(choice, "");
        },
        short,
      );
    } else if (option.flags.includes("<")) command.option(long, option.help, () => {}, short);
    else if (short) command.option(long, option.help, short);
    else command.option(long, option.help);
  }
}

function offerAll(what: Completes, offer: Offer, { cwd, words }: Line): void {
  const typed = words.at(-1) ?? "";
  if (what === "shell") for (const shell of SHELLS) offer(shell, "");
  if (what === "agent") for (const id of Object.keys(PACKAGED)) offer(id, "");
  if (what === "setting") for (const key of KEYS) if (!key.name.includes("*")) offer(key.name, "");
  if (what === "value") offerValues(offer, words.at(-2) ?? "");
  if (what === "path") offerPaths(offer, cwd, typed);
  if (what === "step") offerSteps(offer, cwd, typed);
  if (what === "turn") offerTurns(offer, cwd);
  if (what === "session") offerSessions(offer, cwd);
  if (what === "run") offerRuns(offer, cwd);
  if (what === "fork") offerForks(offer, cwd);
  if (what === "query") offerFilters(offer, typed);
  if (what === "operation") offerOperations(offer, cwd);
  if (what === "proposal") offerProposals(offer, cwd);
}
