/** What the shell offers after <Tab>, from the table of commands. The only file that knows @bomb.sh/tab. */
import { RootCommand, script } from "@bomb.sh/tab";
import { PACKAGED } from "../agents/packaged.ts";
import { KEYS } from "../config/keys.ts";
import { type Offer, offerForks, offerRuns, offerSessions, offerSteps, offerTurns } from "./completing.ts";
import { EXIT } from "./exit.ts";
import type { CommandSpec, Completes } from "./program/spec.ts";

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** Where the bash-completion package is not installed, what the script needs of it. */
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
  // A profile may be read twice in one shell, and a constant can't be set twice. What stands on the line is data:
  // evaluated, a half-typed `$(…)` would be run by pressing Tab.
  const asData = `$(backtrail complete -- "\${words[@]:1}" 2>/dev/null)`;
  return BASH_FALLBACK + text.replace(/^readonly /gm, "").replace('$(eval "$requestComp" 2>/dev/null)', () => asData);
}

/** The library prints where we want the text. */
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

/** Prints what may follow `words`. */
export function complete(commands: readonly CommandSpec[], words: string[], cwd: string): number {
  try {
    table(commands, cwd).parse(words);
    return EXIT.done;
  } catch {
    // The user is in the middle of a line: a message would only spoil it.
    return EXIT.failed;
  }
}

function table(commands: readonly CommandSpec[], cwd: string): RootCommand {
  const root = new RootCommand();
  for (const spec of commands) {
    if (spec.hidden) continue;
    for (const path of spec.alias ? [spec.path, spec.alias] : [spec.path]) addCommand(root, path, spec, cwd);
  }
  return root;
}

function addCommand(root: RootCommand, path: string, spec: CommandSpec, cwd: string): void {
  const command = root.command(path, spec.summary);
  for (const argument of spec.arguments ?? []) {
    const { completes } = argument;
    const name = argument.name.replace(/[<>[\].]/g, "");
    command.argument(
      name,
      completes ? (offer) => offerAll(completes, offer, cwd) : undefined,
      argument.name.includes("..."),
    );
  }
  for (const option of spec.options ?? []) {
    const long = /--([a-z-]+)/.exec(option.flags)?.[1];
    const short = /^-([a-zA-Z]),/.exec(option.flags)?.[1];
    if (!long) continue;
    const { completes, choices } = option;
    if (completes) command.option(long, option.help, (offer) => offerAll(completes, offer, cwd), short);
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

function offerAll(what: Completes, offer: Offer, cwd: string): void {
  if (what === "shell") for (const shell of SHELLS) offer(shell, "");
  if (what === "agent") for (const id of Object.keys(PACKAGED)) offer(id, "");
  if (what === "setting") for (const key of KEYS) if (!key.name.includes("*")) offer(key.name, "");
  if (what === "step") offerSteps(offer, cwd);
  if (what === "turn") offerTurns(offer, cwd);
  if (what === "session") offerSessions(offer, cwd);
  if (what === "run") offerRuns(offer, cwd);
  if (what === "fork") offerForks(offer, cwd);
}
