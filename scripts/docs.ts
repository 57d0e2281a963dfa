/**
 * Checks the names in the documentation: every file, link and command that a page names must exist.
 * `test/docs.test.ts` runs it over all pages; `node scripts/bun.mjs scripts/docs.ts` prints the errors.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { COMMANDS } from "../src/cli/program/index.ts";
import { LAYERS } from "./layers.ts";

export interface Page {
  /** Path from the root of the project. */
  path: string;
  text: string;
}

const TOP_PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
/** Folders of the project that pages name from its root. */
const ROOTS = ["src", "test", "docs", "scripts", "bench", "npm"];
/** Design decisions and the changelog may name files that no longer exist. */
const HISTORY = /^(?:docs\/design\/|CHANGELOG\.md$)/;
/** A command line of ours, with or without the prompt of a shell. */
const PROGRAM = /^(?:\$ )?backtrail(?= |$)/;
/** Commands that `src/cli/main.ts` handles before it reads the table. */
const OUTSIDE_TABLE = ["agent-protocol"];

export function readPages(root: string): Page[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`);
  return [...TOP_PAGES, ...docs.sort()].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** One line for each name that does not exist. */
export function docErrors(root: string, pages: readonly Page[]): string[] {
  const files = new SourceFiles(root);
  return pages.flatMap((page) => {
    const links = linkErrors(root, page);
    if (HISTORY.test(page.path)) return links;
    return [...links, ...pathErrors(files, page), ...commandErrors(page), ...npmErrors(root, page)];
  });
}

function linkErrors(root: string, page: Page): string[] {
  const targets = [...withoutFences(page.text).matchAll(/\]\(([^()\s]+)\)/g)].map((match) => match[1] ?? "");
  return targets.flatMap((target) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? join(root, page.path) : join(root, dirname(page.path), path);
    if (!existsSync(file)) return [`${page.path}: the link ${target} leads nowhere`];
    if (anchor === undefined || headingsIn(file).has(anchor)) return [];
    return [`${page.path}: the link ${target} names no heading`];
  });
}

function pathErrors(files: SourceFiles, page: Page): string[] {
  const words = [...codeSpans(page.text), ...diagramWords(page.text), ...scriptWords(page.text)];
  const named = new Set(words.filter(isProjectPath));
  return [...named].filter((path) => !files.has(path)).map((path) => `${page.path}: there is no file ${path}`);
}

/** Whether a word is a path from the root of the project, a path from `src/`, or the name of a source file. */
function isProjectPath(word: string): boolean {
  if (!/^[\w@.<>*/-]+$/.test(word)) return false;
  const [first = "", second] = word.split("/");
  if (second === undefined) return /^[a-z][\w.-]*\.ts$/.test(word);
  if (ROOTS.includes(first)) return true;
  // A path such as `checkpoints/<key>.json` may be in the store: from `src/`, only source files and folders count.
  return LAYERS.flat().includes(first) && /(?:\.ts|\/)$/.test(word);
}

function commandErrors(page: Page): string[] {
  const calls = [...codeSpans(page.text), ...shownLines(page.text)].filter((text) => PROGRAM.test(text));
  const wrong = new Set(calls.filter((call) => !isCommand(call.replace(PROGRAM, "").trim())));
  return [...wrong].map((call) => `${page.path}: there is no command "${call}"`);
}

/** Whether a command line begins with a command, and with a subcommand where its group needs one. */
function isCommand(words: string): boolean {
  const [first = "", second = ""] = words.split(/\s+/);
  // The program alone, its global options, or a part that the reader fills in.
  if (!/^[a-z]/.test(first) || OUTSIDE_TABLE.includes(first)) return true;
  const named = COMMANDS.filter(({ path, alias }) => path.split(" ")[0] === first || alias === first);
  if (named.length === 0) return false;
  const takesArguments = named.some(({ path, alias, arguments: given }) => {
    return (path === first || alias === first) && (given?.length ?? 0) > 0;
  });
  const isGroup = named.some(({ path }) => path.includes(" "));
  if (!isGroup || takesArguments || !/^[a-z][a-z-]*$/.test(second)) return true;
  return named.some(({ path }) => path === `${first} ${second}`);
}

/** `npm run` with a script that package.json does not have. */
function npmErrors(root: string, page: Page): string[] {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const calls = [...codeSpans(page.text), ...shownLines(page.text)].flatMap((text) => [
    ...text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g),
  ]);
  const names = new Set(calls.map((call) => call[1] ?? ""));
  return [...names].filter((name) => !(name in scripts)).map((name) => `${page.path}: there is no npm script ${name}`);
}

/** Inline code, which may continue on the next line of its paragraph. */
function codeSpans(text: string): string[] {
  return [...withoutFences(text).matchAll(/(?<!`)`((?:[^`\n]|\n(?!\n))+)`(?!`)/g)].map(
    (match) => match[1]?.replace(/\s+/g, " ") ?? "",
  );
}

/** File names in diagrams, which have no marks for code. */
function diagramWords(text: string): string[] {
  const diagrams = fences(text).filter(({ language }) => language === "mermaid");
  return diagrams.flatMap(({ body }) => body.match(/[\w@.-]+\/[\w@./-]+\w|\b[a-z][\w-]*\.ts\b/g) ?? []);
}

/** Words of commands that run scripts and tests of the project. Other examples name the reader's files. */
function scriptWords(text: string): string[] {
  const commands = shownLines(text).filter((line) => line.startsWith("node scripts/"));
  return commands.flatMap((line) => line.split(/\s+/)).map((word) => word.replace(/^\.\//, ""));
}

/** Lines of fenced and of indented blocks. */
function shownLines(text: string): string[] {
  const indented = [...withoutFences(text).matchAll(/^ {4}(\S.*)$/gm)].map((match) => match[1] ?? "");
  return [...fences(text).flatMap(({ body }) => body.split("\n")), ...indented];
}

function fences(text: string): { language: string; body: string }[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```/gms)].map((match) => ({
    language: match[1] ?? "",
    body: match[2] ?? "",
  }));
}

function withoutFences(text: string): string {
  return text.replace(/^```.*?^```/gms, "");
}

/** The anchors that GitHub gives a page's headings. */
function headingsIn(file: string): Set<string> {
  if (statSync(file).isDirectory()) return new Set();
  const headings = withoutFences(readFileSync(file, "utf8")).matchAll(/^#+ +(.+)$/gm);
  return new Set([...headings].map((match) => slugOf(match[1] ?? "")));
}

function slugOf(heading: string): string {
  const letters = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "");
  return letters.trim().replaceAll(" ", "-");
}

/** The files of the project, by path and by name. */
class SourceFiles {
  readonly #root: string;
  readonly #names = new Set<string>();
  /** Folders that exist only after a run. */
  readonly #ignored: Set<string>;

  constructor(root: string) {
    this.#root = root;
    this.#ignored = new Set(readFileSync(join(root, ".gitignore"), "utf8").split("\n"));
    for (const folder of ["src", "test", "scripts", "bench"]) {
      if (!existsSync(join(root, folder))) continue;
      for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        this.#names.add(basename(name));
      }
    }
  }

  has(path: string): boolean {
    if (!path.includes("/")) return this.#names.has(path);
    if (this.#ignored.has(path)) return true;
    const places = [this.#root, join(this.#root, "src")];
    if (!/[<*]/.test(path)) return places.some((place) => existsSync(join(place, path)));
    // `src/agents/builtin/<id>/fork.ts` exists if one agent has the file.
    const pattern = new Bun.Glob(path.replaceAll(/<[^>]*>/g, "*").replace(/\/$/, ""));
    return places.some((cwd) => !pattern.scanSync({ cwd, onlyFiles: false }).next().done);
  }
}

if (import.meta.main) {
  const root = join(import.meta.dirname, "..");
  const errors = docErrors(root, readPages(root));
  for (const error of errors) console.error(error);
  process.exit(errors.length > 0 ? 1 : 0);
}
