/**
 * Finds dead code between files: exports that no other file imports (types too), files that nothing imports, starts or
 * names, and packages that nothing uses. `test/unused.test.ts` holds the three lists empty. TypeScript and the linter
 * find what is unused within a file.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Unused {
  /** `file: name`, where no other file imports the name, tests included. */
  exports: string[];
  files: string[];
  /** The names of packages in `package.json`. */
  packages: string[];
}

const PLACES = ["src", "test", "scripts", "bench", "npm", "docs"];
const SETTINGS = ["package.json", "bunfig.toml", "tsconfig.json", "CONTRIBUTING.md", "README.md"];
const SOURCE = /(?<!\.d)\.tsx?$/;
const EXPORTED = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|enum) (\w+)/gm;
const EXPORTED_TYPE = /^export (?:interface|type) (\w+)/gm;
const EXPORTED_LIST = /^export \{([^}]*)\}(?! from)/gm;
const FROM = /^\s*(?:import|export)\s([^"';]*?)\bfrom\s*"(\.[^"]+)"/gm;
const OTHER = /(?:\bimport\(\s*|^\s*import\s*|\brequire\(\s*)"(\.[^"]+)"/gm;

/**
 * `entries`: files that are started or imported from outside, such as `src/main.ts`. A file outside `src/` is also in use
 * if another file or page names it, because people start it or a test starts it as a process.
 */
export function findUnused(root: string, entries: ReadonlySet<string>): Unused {
  const texts = new Map<string, string>();
  for (const file of [...SETTINGS.filter((name) => existsSync(join(root, name))), ...PLACES.flatMap(filesIn)]) {
    texts.set(file, readFileSync(join(root, file), "utf8"));
  }
  const uses = new Map<string, Set<string>>();
  for (const [file, text] of texts) {
    const note = (specifier: string, names: string[]) => {
      const to = join(dirname(file), specifier).replaceAll("\\", "/");
      uses.set(to, new Set([...(uses.get(to) ?? []), ...names]));
    };
    for (const [, clause = "", specifier = ""] of text.matchAll(FROM)) note(specifier, importedNames(clause));
    // A lazy import names what it takes in the code around it: count every name of the module as used.
    for (const [, specifier = ""] of text.matchAll(OTHER)) note(specifier, ["*"]);
  }
  const isNamed = (file: string) => [...texts].some(([other, text]) => other !== file && text.includes(basename(file)));
  const unused: Unused = { exports: [], files: [], packages: unusedPackages(texts) };
  for (const [file, text] of texts) {
    if (!SOURCE.test(file) || isTest(file) || entries.has(file)) continue;
    const used = uses.get(file);
    if (!used && (file.startsWith("src/") || !isNamed(file))) unused.files.push(file);
    if (used?.has("*")) continue;
    const names = exportedNames(file.startsWith("src/") ? text : withoutTemplates(text));
    unused.exports.push(...names.flatMap((name) => (used?.has(name) ? [] : [`${file}: ${name}`])));
  }
  return unused;

  function filesIn(place: string): string[] {
    if (!existsSync(join(root, place))) return [];
    return readdirSync(join(root, place), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:tsx?|md)$/.test(name))
      .map((name) => `${place}/${name.replaceAll("\\", "/")}`)
      .sort();
  }
}

/** The packages of package.json that no source, script or setting names. Types are for the compiler. */
function unusedPackages(texts: ReadonlyMap<string, string>): string[] {
  const { scripts, dependencies, devDependencies } = JSON.parse(texts.get("package.json") ?? "{}");
  const code = [...texts].filter(([file]) => SOURCE.test(file)).map(([, text]) => text);
  const all = [...code, ...Object.values<string>(scripts ?? {})].join("\n");
  return Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !name.startsWith("@types/") && !all.includes(name),
  );
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file);
}

/** Scripts and tests write sources in template literals, whose exports are not their own. */
function withoutTemplates(text: string): string {
  return text.replace(/`(?:\\.|[^`\\])*`/g, "``");
}

/** A type that its own file uses describes what the file's functions take and return, so it counts as used. */
function exportedNames(text: string): string[] {
  const lists = [...text.matchAll(EXPORTED_LIST)].flatMap(([, list = ""]) => namesIn(list, "after"));
  const types = [...text.matchAll(EXPORTED_TYPE)].map(([, name = ""]) => name);
  const alone = types.filter((name) => text.split(new RegExp(`\\b${name}\\b`)).length === 2);
  return [...text.matchAll(EXPORTED)].map(([, name = ""]) => name).concat(lists, alone);
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
