/**
 * Guesses whether a shell command can destroy work, so that a step is taken before it runs. A false positive costs
 * milliseconds; after a false negative the turn's other steps still hold everything before it.
 */
const KEYWORDS = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "time", "exec", "eval"]);
/** Programs that run another program. Any later word may be its name, since some options take a value. */
export const RUNNERS: ReadonlySet<string> = new Set([
  "sudo",
  "doas",
  "command",
  "builtin",
  "env",
  "nohup",
  "nice",
  "ionice",
  "timeout",
  "stdbuf",
  "setsid",
  "xargs",
  "parallel",
]);
const NEAR_WORDS = 40;
const DESTROYERS = new Set(["rm", "rmdir", "unlink", "shred", "truncate", "mv", "dd", "rsync"]);
const GIT_DESTROYERS = new Set([
  "reset",
  "checkout",
  "restore",
  "clean",
  "stash",
  "rm",
  "switch",
  "rebase",
  "merge",
  "pull",
  "am",
  "apply",
  "revert",
  "cherry-pick",
  "bisect",
  "mv",
  "read-tree",
  "checkout-index",
  "sparse-checkout",
]);
const PACKAGE_MANAGERS = new Set([
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "pip",
  "pip3",
  "cargo",
  "gem",
  "poetry",
  "uv",
  "composer",
  "go",
]);
const PACKAGE_DESTROYERS = new Set(["uninstall", "remove", "rm", "un", "unlink", "prune"]);

/** `exists` returns whether a path, as written in the command, names an existing file of the work tree. */
export function isDestructive(command: string, exists: (path: string) => boolean): boolean {
  if (command.length > 100_000) return true;
  return simpleCommands(command).some((words) => destroys(words, exists) || overwrites(words, exists));
}

function destroys(words: readonly string[], exists: (path: string) => boolean): boolean {
  const bare = withoutPrefixes(words);
  return RUNNERS.has(programOf(bare)) ? runsDestroyer(bare.slice(1), exists) : destroysBare(bare, exists);
}

export function programOf(words: readonly string[]): string {
  const name = words[0] ?? "";
  return name.slice(name.lastIndexOf("/") + 1);
}

function destroysBare(words: readonly string[], exists: (path: string) => boolean): boolean {
  const program = programOf(words);
  const rest = words.slice(1);
  if (DESTROYERS.has(program)) return true;
  if (program === "git") return GIT_DESTROYERS.has(gitVerb(rest));
  if (PACKAGE_MANAGERS.has(program)) return rest.some((word) => PACKAGE_DESTROYERS.has(word));
  if (program === "find") return rest.includes("-delete") || rest.includes("-exec") || rest.includes("-execdir");
  if (program === "sed" || program === "perl") return rest.some((word) => /^-[a-zA-Z]*i/.test(word));
  if (program === "sh" || program === "bash" || program === "zsh") {
    const at = rest.findIndex((word) => /^-[a-z]*c$/.test(word));
    const script = at === -1 ? undefined : rest[at + 1];
    return script !== undefined && isDestructive(script, exists);
  }
  if (program === "tee") return !rest.some((word) => word === "-a" || word === "--append") && rest.some(exists);
  if (program === "cp" || program === "ln" || program === "install") return replaces(rest, exists);
  return false;
}

/** Skips nested runners and checks only the first words, so that a long chain of runners stays cheap. */
function runsDestroyer(words: readonly string[], exists: (path: string) => boolean): boolean {
  const near = words.slice(0, NEAR_WORDS);
  return near.some((word, i) => !RUNNERS.has(programOf([word])) && destroysBare(near.slice(i), exists));
}

/** Whether a copy may overwrite an existing target. An existing directory counts, since its content is not checked. */
function replaces(words: readonly string[], exists: (path: string) => boolean): boolean {
  if (words.some((word) => /^-[a-zA-Z]*f/.test(word) || word === "--force")) return true;
  const target = words.findLast((word) => !word.startsWith("-"));
  return target !== undefined && exists(target);
}

export function withoutPrefixes(words: readonly string[]): readonly string[] {
  let i = 0;
  while (i < words.length) {
    const word = words[i] ?? "";
    if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word) || KEYWORDS.has(word)) i++;
    else break;
  }
  return words.slice(i);
}

export function gitVerb(words: readonly string[]): string {
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "-C" || word === "-c") i++;
    else if (!word.startsWith("-")) return word;
  }
  return "";
}

/** `>` and `>|` replace a file; `>>` appends to a file, and `>&` duplicates a descriptor. */
function overwrites(words: readonly string[], exists: (path: string) => boolean): boolean {
  return words.some((word, i) => {
    const match = /^\d*>\|?(?![>&])(.*)$/.exec(word);
    if (!match) return false;
    const target = match[1] || words[i + 1] || "";
    return target !== "" && target !== "/dev/null" && exists(target);
  });
}

/** Splits a command into the unquoted words of each simple command. A redirection starts a new word. */
export function simpleCommands(command: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let i = 0; i < command.length; i++) {
    const c = command.charAt(i);
    if (c === "'" || c === '"') {
      const end = closingQuote(command, i);
      word = (word ?? "") + command.slice(i + 1, end);
      i = end;
    } else if (c === "\\") word = (word ?? "") + command.charAt(++i);
    else if (c === " " || c === "\t") endWord();
    else if (";|&\n(){}`".includes(c) && !(c === "&" && word?.endsWith(">")) && !(c === "|" && word?.endsWith(">")))
      endCommand();
    else if (c === ">" && word !== undefined && !/^\d*>*$/.test(word)) {
      endWord();
      word = c;
    } else word = (word ?? "") + c;
  }
  endCommand();
  return commands;
}

function closingQuote(command: string, start: number): number {
  const quote = command.charAt(start);
  for (let i = start + 1; i < command.length; i++) {
    const c = command.charAt(i);
    if (c === "\\" && quote === '"') i++;
    else if (c === quote) return i;
  }
  return command.length;
}
