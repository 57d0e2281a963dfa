/**
 * Counts the sentences for users that are worded below `cli/`: facts belong there, and `cli/render` has the words
 * (docs/design/facts-and-sentences.md). `node scripts/bun.mjs scripts/sentences.ts` prints a table, `--list` every
 * sentence. `test/sentences.test.ts` holds the numbers, so that they can only fall.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { layerOf, sourcesIn } from "./layers.ts";

export interface Sentence {
  file: string;
  line: number;
  text: string;
}

/** Words that a sentence has and a name, a path, a git command or a format does not. */
const ENGLISH =
  /\b(?:the|a|an|is|are|was|were|be|been|has|have|had|it|its|this|that|these|there|here|to|of|in|on|by|at|for|from|with|and|or|not|no|none|can't|cannot|could|can|must|may|did|does|what|which|nothing|another|already|try|give|run)\b/gi;
const MIN_WORDS = 3;

/** The page in the browser has its own sentences, like `cli/`. */
const PAGE = "view/page/";

/** Calls whose text only a developer reads: the log, faults of the program, fault points. */
const FOR_DEVELOPERS =
  /\b(?:logError|logWarning|logInfo|log|faultPoint|new Error|new TypeError|new RangeError)\s*\((?:\s*"[^"\n]*",)*$/;

/** Sentences of one source file. Comments, templates' expressions and texts for developers do not count. */
export function sentencesOf(file: string, source: string): Sentence[] {
  return literalsIn(source).flatMap(({ at, text }) => {
    if (!isSentence(text) || FOR_DEVELOPERS.test(source.slice(Math.max(0, at - 80), at).trimEnd())) return [];
    return [{ file, line: source.slice(0, at).split("\n").length, text }];
  });
}

export function isSentence(text: string): boolean {
  if (/^\s*[<{[#$/]|\n|--\w+=|^[a-z-]+ --|^\(\?/.test(text)) return false;
  const words = text.replaceAll("{}", "x").match(/(?<![\w-])[A-Za-z][a-z']*(?![\w-])/g) ?? [];
  return words.length >= MIN_WORDS && / /.test(text.trim()) && (text.match(ENGLISH)?.length ?? 0) > 0;
}

/** String and template literals; an expression within a template is read separately and leaves `{}`. */
export function literalsIn(source: string): { at: number; text: string }[] {
  const found: { at: number; text: string }[] = [];
  let at = 0;
  const code = (end: string | null): void => {
    let depth = 0;
    let before = "";
    while (at < source.length) {
      const rest = source.slice(at, at + 2);
      const char = source[at] ?? "";
      if (rest === "//") {
        at = indexOr(source, "\n", at);
        continue;
      }
      if (rest === "/*") {
        at = indexOr(source, "*/", at + 2) + 2;
        continue;
      }
      if (char === '"' || char === "'") quoted(char);
      else if (char === "`") template();
      else if (char === "/" && /(?:^|[(,=:[!&|?{};+>]|\breturn)$/.test(before.trimEnd())) expression();
      else {
        if (char === "{") depth += 1;
        if (char === end && depth === 0) return;
        if (char === "}") depth -= 1;
        at += 1;
      }
      before = source.slice(Math.max(0, at - 12), at);
    }
  };
  const quoted = (quote: string): void => {
    const from = at;
    at += 1;
    while (at < source.length && source[at] !== quote && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
    found.push({ at: from, text: source.slice(from + 1, at) });
    at += 1;
  };
  const template = (): void => {
    const literal = { at, text: "" };
    found.push(literal);
    at += 1;
    while (at < source.length && source[at] !== "`") {
      if (source.startsWith("${", at)) {
        at += 2;
        code("}");
        at += 1;
        literal.text += "{}";
        continue;
      }
      const length = source[at] === "\\" ? 2 : 1;
      literal.text += source.slice(at, at + length).replace("\\`", "`");
      at += length;
    }
    at += 1;
  };
  const expression = (): void => {
    let isClass = false;
    at += 1;
    while (at < source.length && source[at] !== "\n" && (isClass || source[at] !== "/")) {
      if (source[at] === "[") isClass = true;
      if (source[at] === "]") isClass = false;
      at += source[at] === "\\" ? 2 : 1;
    }
    at += 1;
  };
  code(null);
  return found;
}

function indexOr(source: string, wanted: string, from: number): number {
  const at = source.indexOf(wanted, from);
  return at < 0 ? source.length : at;
}

/** Every sentence below `cli/`, by layer. */
export function sentencesBelowCli(root: string): Map<string, Sentence[]> {
  const layers = new Map<string, Sentence[]>();
  for (const file of sourcesIn(root)) {
    const layer = layerOf(file);
    if (layer === "cli" || layer === "main" || file.startsWith(PAGE) || file.endsWith(".test.ts")) continue;
    const found = sentencesOf(file, readFileSync(join(root, file), "utf8"));
    layers.set(layer, [...(layers.get(layer) ?? []), ...found]);
  }
  return layers;
}

if (import.meta.main) {
  const layers = sentencesBelowCli(join(import.meta.dirname, "../src"));
  let total = 0;
  for (const [layer, sentences] of layers) {
    total += sentences.length;
    if (process.argv.includes("--list")) {
      for (const { file, line, text } of sentences) console.log(`src/${file}:${line}: ${text}`);
    } else console.log(`${layer.padEnd(12)} ${sentences.length}`);
  }
  if (!process.argv.includes("--list")) console.log(`${"all".padEnd(12)} ${total}`);
}
