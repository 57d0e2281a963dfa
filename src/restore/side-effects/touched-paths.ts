/**
 * Recognizes, from its text alone, the files a shell command writes or removes: `rm`, `mv`, `cp`, `sed -i`,
 * redirections, `git clean -x` and the like. Never runs it. Resolves paths against the command's directory.
 */
import { basename, resolve } from "node:path";
import { gitVerb, programOf, RUNNERS, simpleCommands, withoutPrefixes } from "../../recording/tiers/destructive.ts";

export interface TouchedPath {
  /** Absolute. With `isPattern`, the shell or git expanded it to several names. */
  path: string;
  how: "write" | "remove";
  isPattern: boolean;
}

const MAX_LENGTH = 20_000;
const MAX_WORDS = 200;
const MAX_NESTING = 3;
/** Maximum words of a prefix such as `sudo -u name` or `timeout 5s`. */
const MAX_RUNNER_WORDS = 6;

/** Extracts the paths that a program touches from its operands. */
type Reader = (words: readonly string[], place: Place) => TouchedPath[];

interface Place {
  /** Null after a `cd` that can't be resolved. */
  cwd: string | null;
  isDirectory: (path: string) => boolean;
}

const READERS: Record<string, Reader> = {
  rm: removed,
  unlink: removed,
  rmdir: removed,
  shred: removed,
  mv: (words, place) => copied(words, place, true),
  cp: (words, place) => copied(words, place, false),
  install: (words, place) => copied(words, place, false),
  ln: (words, place) => copied(words, place, false),
  sed: editedBySed,
  perl: editedByPerl,
  tee: (words, place) => touched(operands(words), place, "write"),
  touch: (words, place) => touched(operands(words, /^(?:-[drt]|--date|--reference)$/), place, "write"),
  truncate: (words, place) => touched(operands(words, /^(?:-[rs]|--reference|--size)$/), place, "write"),
  dd: (words, place) =>
    touched(
      words.filter((word) => word.startsWith("of=")).map((word) => word.slice("of=".length)),
      place,
      "write",
    ),
  git: cleanedByGit,
};

/** A fast pre-check to skip parsing commands that touch no file. */
const SUSPECT = new RegExp(String.raw`>|\b(?:${Object.keys(READERS).join("|")})\b`);

export function mayTouchFiles(command: string): boolean {
  return command.length <= MAX_LENGTH && SUSPECT.test(command);
}

/** `isDirectory` checks the current destination: `mv a b` differs if `b` is a directory. */
export function touchedPaths(command: string, cwd: string, isDirectory: (path: string) => boolean): TouchedPath[] {
  return mayTouchFiles(command) ? pathsOf(command, { cwd, isDirectory }, 0) : [];
}

function pathsOf(command: string, start: Place, nesting: number): TouchedPath[] {
  const { outer, inner } = subshells(withoutHereDocuments(command));
  const found = nesting < MAX_NESTING ? inner.flatMap((part) => pathsOf(part, start, nesting + 1)) : [];
  const place = { ...start };
  for (const all of simpleCommands(outer)) {
    const words = withoutRunners(withoutPrefixes(all).slice(0, MAX_WORDS));
    const program = programOf(words);
    found.push(...touched(redirectedTo(words), place, "write"));
    const plain = withoutRedirections(words.slice(1));
    if (/^(?:cd|pushd|popd)$/.test(program)) place.cwd = directoryAfter(program, plain, place.cwd);
    else if (/^(?:ba|z|da)?sh$/.test(program)) {
      const script = plain[plain.findIndex((word) => /^-[a-z]*c$/.test(word)) + 1];
      if (script !== plain[0] && script && nesting < MAX_NESTING) found.push(...pathsOf(script, place, nesting + 1));
    } else if (Object.hasOwn(READERS, program)) found.push(...(READERS[program]?.(plain, place) ?? []));
  }
  return found;
}

/** Treats `sudo rm x` as `rm x`. The names that `xargs` passes are unknown. */
function withoutRunners(words: readonly string[]): readonly string[] {
  const runner = programOf(words);
  if (!RUNNERS.has(runner) || runner === "xargs" || runner === "parallel") return words;
  const at = words.findIndex((word, i) => i > 0 && isKnown(programOf([word])));
  return at > 0 && at <= MAX_RUNNER_WORDS ? words.slice(at) : words;
}

function isKnown(program: string): boolean {
  return Object.hasOwn(READERS, program) || /^(?:ba|z|da)?sh$/.test(program);
}

function directoryAfter(program: string, words: readonly string[], cwd: string | null): string | null {
  const [target, ...more] = operands(words);
  if (program === "popd" || target === undefined || more.length > 0 || !isName(target) || isPattern(target))
    return null;
  return absolute(target, cwd);
}

function removed(words: readonly string[], place: Place): TouchedPath[] {
  return touched(operands(words, /^(?:-n|-s|--iterations|--size)$/), place, "remove");
}

/** The destination is the last operand or the value of `-t`. */
function copied(words: readonly string[], place: Place, isMove: boolean): TouchedPath[] {
  const into = optionValue(words, "-t", "--target-directory");
  const names = operands(words, /^(?:-[tSmgo]|--target-directory|--suffix|--mode|--group|--owner)$/);
  const sources = into === undefined ? names.slice(0, -1) : names;
  const target = into ?? names.at(-1);
  if (target === undefined || sources.length === 0) return [];
  const directory = absolute(target, place.cwd);
  const isInto =
    into !== undefined ||
    sources.length > 1 ||
    target.endsWith("/") ||
    (directory !== null && place.isDirectory(directory));
  const written = isInto ? sources.map((source) => `${target}/${basename(source)}`) : [target];
  return [...(isMove ? touched(sources, place, "remove") : []), ...touched(written, place, "write")];
}

function editedBySed(words: readonly string[], place: Place): TouchedPath[] {
  if (!words.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word))) return [];
  const names = operands(words, /^(?:-[a-zA-Z]*[ef]|--expression|--file)$/);
  const hasScript = words.some((word) => /^(?:-[a-zA-Z]*[ef]$|--(?:expression|file)\b)/.test(word));
  return touched(hasScript ? names : names.slice(1), place, "write");
}

function editedByPerl(words: readonly string[], place: Place): TouchedPath[] {
  if (!words.some((word) => /^-[a-zA-Z0-9]*i/.test(word))) return [];
  return touched(operands(words, /^-[a-zA-Z0-9]*[eE]$/), place, "write");
}

/** `clean -x` and `stash --all` remove ignored files without naming them. */
function cleanedByGit(words: readonly string[], place: Place): TouchedPath[] {
  const verb = gitVerb(words);
  const behind = words.slice(words.indexOf(verb) + 1);
  const isSet = (letter: string, ...names: string[]) =>
    behind.some((word) => names.includes(word) || (/^-[a-zA-Z]+$/.test(word) && word.includes(letter)));
  const isClean = verb === "clean" && (isSet("x") || isSet("X")) && !isSet("n", "--dry-run");
  const isStash = verb === "stash" && !/^(?:list|show|pop|apply|drop)$/.test(behind[0] ?? "") && isSet("a", "--all");
  if (!isClean && !isStash) return [];
  const other = optionValue(words.slice(0, words.indexOf(verb)), "-C");
  const cwd = other === undefined ? place.cwd : absolute(other, place.cwd);
  const names = isClean ? operands(behind, /^(?:-e|--exclude)$/) : [];
  const inside = (names.length > 0 ? names : ["."]).flatMap((name) => [name, `${name}/**`]);
  return touched(inside, { ...place, cwd }, "remove").map((one) => ({ ...one, isPattern: true }));
}

function touched(names: readonly string[], { cwd }: Place, how: TouchedPath["how"]): TouchedPath[] {
  return names.filter(isName).flatMap((name) => {
    const path = absolute(name, cwd);
    return path === null ? [] : [{ path, how, isPattern: isPattern(name) }];
  });
}

function absolute(name: string, cwd: string | null): string | null {
  return name.startsWith("/") ? resolve(name) : cwd === null ? null : resolve(cwd, name);
}

/** Words that are not options. `takesValue`: options followed by a separate value. */
function operands(words: readonly string[], takesValue?: RegExp): string[] {
  const found: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "--") return [...found, ...words.slice(i + 1)];
    if (takesValue?.test(word)) i++;
    else if (word !== "" && (!word.startsWith("-") || word === "-")) found.push(word);
  }
  return found;
}

function optionValue(words: readonly string[], ...options: string[]): string | undefined {
  const at = words.findIndex((word) => options.includes(word));
  if (at >= 0) return words[at + 1];
  const long = words.find((word) => options.some((option) => option.startsWith("--") && word.startsWith(`${option}=`)));
  return long?.slice(long.indexOf("=") + 1);
}

const REDIRECTION = /^(?:\d*|&)>>?\|?(?!&)(.*)$/;

function redirectedTo(words: readonly string[]): string[] {
  return words.flatMap((word, i) => {
    const match = REDIRECTION.exec(word);
    const target = match ? match[1] || words[i + 1] : undefined;
    return target ? [target] : [];
  });
}

function withoutRedirections(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (!/^(?:\d*|&)[<>]/.test(word)) found.push(word);
    // The target is a separate word.
    else if (/^(?:\d*|&)(?:<+|>>?\|?)$/.test(word)) i++;
  }
  return found;
}

/** True for a literal name, false if only the shell can expand it. */
function isName(word: string): boolean {
  return word !== "" && word !== "-" && !/[$`~\0\n]/.test(word) && !word.startsWith("/dev/") && !word.startsWith("&");
}

function isPattern(word: string): boolean {
  return /[*?[\]]/.test(word);
}

/** A `cd` in a subshell affects only that subshell, which starts in the command's directory. */
function subshells(command: string): { outer: string; inner: string[] } {
  if (!/\(\s*(?:cd|pushd)\b/.test(command)) return { outer: command, inner: [] };
  const inner: string[] = [];
  let outer = "";
  let depth = 0;
  let from = 0;
  for (const { 0: token, index } of command.matchAll(/'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[()]/gs)) {
    if (token === "(" && depth++ === 0) {
      outer += command.slice(from, index);
      from = index + 1;
    } else if (token === ")" && depth > 0 && --depth === 0) {
      inner.push(command.slice(from, index));
      outer += "; ";
      from = index + 1;
    }
  }
  return { outer: outer + command.slice(from), inner };
}

/** The text of a here-document is not a command. */
function withoutHereDocuments(command: string): string {
  if (!command.includes("<<")) return command;
  const kept: string[] = [];
  const ends: string[] = [];
  for (const line of command.split("\n")) {
    if (ends.length > 0) {
      if (line.trim() === ends[0]) ends.shift();
      continue;
    }
    for (const [, , word = ""] of line.matchAll(/(?<!<)<<-?\s*(['"]?)([A-Za-z_]\w*)\1/g)) ends.push(word);
    kept.push(line);
  }
  return kept.join("\n");
}
