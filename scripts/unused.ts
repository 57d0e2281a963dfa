/**
 * Finds dead code between files: exported functions, classes and constants that no other file imports, and files that
 * nothing imports. `test/unused.test.ts` holds both lists empty. Exported types do not count: they describe what the
 * functions take and return. TypeScript and the linter find what is unused within a file.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export interface Unused {
  /** `file: name`, where no other file imports the name, tests included. */
  exports: string[];
  files: string[];
}

const PLACES = ["src", "test", "scripts", "bench", "npm"];
const EXPORTED = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|enum) (\w+)/gm;
const EXPORTED_LIST = /^export \{([^}]*)\}(?! from)/gm;
const FROM = /^\s*(?:import|export)\s([^"';]*?)\bfrom\s*"(\.[^"]+)"/gm;
const OTHER = /(?:\bimport\(\s*|^\s*import\s*|\brequire\(\s*)"(\.[^"]+)"/gm;

/** `entries`: files that are started or imported from outside, such as `src/main.ts`. */
export function findUnused(root: string, entries: ReadonlySet<string>): Unused {
  const files = PLACES.filter((place) => existsSync(join(root, place))).flatMap((place) => sourcesIn(root, place));
  const uses = new Map<string, Set<string>>();
  const imported = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    const note = (specifier: string, names: string[]) => {
      const to = relative(root, resolve(root, dirname(file), specifier)).replaceAll("\\", "/");
      imported.add(to);
      const known = uses.get(to) ?? new Set();
      for (const name of names) known.add(name);
      uses.set(to, known);
    };
    for (const [, clause = "", specifier = ""] of text.matchAll(FROM)) note(specifier, importedNames(clause));
    // A lazy import names what it takes in the code around it: count every name of the module as used.
    for (const [, specifier = ""] of text.matchAll(OTHER)) note(specifier, ["*"]);
  }
  const unused: Unused = { exports: [], files: [] };
  for (const file of files.filter((name) => name.startsWith("src/") && !isTest(name) && !name.endsWith(".d.ts"))) {
    if (entries.has(file)) continue;
    if (!imported.has(file)) unused.files.push(file);
    for (const name of exportedNames(readFileSync(join(root, file), "utf8"))) {
      if (!uses.get(file)?.has("*") && !uses.get(file)?.has(name)) unused.exports.push(`${file}: ${name}`);
    }
  }
  return unused;
}

function sourcesIn(root: string, place: string): string[] {
  return readdirSync(join(root, place), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${place}/${name.replaceAll("\\", "/")}`)
    .sort();
}

function isTest(file: string): boolean {
  return file.startsWith("test/") || file.endsWith(".test.ts") || file.endsWith(".test.tsx");
}

function exportedNames(text: string): string[] {
  const lists = [...text.matchAll(EXPORTED_LIST)].flatMap(([, list = ""]) => namesIn(list, "after"));
  return [...text.matchAll(EXPORTED)].map(([, name = ""]) => name).concat(lists);
}

/** `import * as x` and a default import count as a use of every name. */
function importedNames(clause: string): string[] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1];
  const rest = clause
    .replace(/\{[^}]*\}/, "")
    .replace(/\btype\b|,/g, "")
    .trim();
  return [...(rest === "" ? [] : ["*"]), ...(list === undefined ? [] : namesIn(list, "before"))];
}

/** The names in `a, type b, c as d`: `c` before or `d` after the renaming. */
function namesIn(list: string, side: "before" | "after"): string[] {
  return list
    .split(",")
    .map((part) => part.replace(/^\s*type\s+/, "").trim())
    .filter((part) => part !== "")
    .map((part) => part.split(/\s+as\s+/)[side === "before" ? 0 : 1] ?? part.split(/\s+as\s+/)[0] ?? "");
}
