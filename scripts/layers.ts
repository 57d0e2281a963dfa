/**
 * The layers of the source, from the ground up, and who imports whom. A layer may import what lies below it;
 * layers in one row never import each other. The linter's configuration and the test of the imports follow this.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const LAYERS: string[][] = [
  ["base"],
  ["git", "config", "edit"],
  ["transcripts"],
  ["agents"],
  ["steps"],
  ["checkpoints"],
  ["lifecycle"],
  ["restore", "run", "search"],
  ["view", "mcp"],
  ["cli"],
  ["main"],
];

export interface Import {
  /** The importing file, from the source's root. */
  from: string;
  /** A file of ours (from the source's root), or a package's name as it was written. */
  to: string;
  own: boolean;
}

const SPECIFIERS = [
  /^\s*(?:import|export)\s[^"';]*?\bfrom\s*"([^"]+)"/gm,
  /^\s*import\s*"([^"]+)"/gm,
  /\bimport\(\s*"([^"]+)"/g,
  /\brequire\(\s*"([^"]+)"/g,
];

/** The layer of a file: its first directory; files at the top are `main`. */
export function layerOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : "main";
}

/** Why `to` may not be imported by `from`, both layers; nothing if it may. */
export function objection(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  const here = rowOf(from);
  const there = rowOf(to);
  if (here < 0) return `${from}/ is in no row of the layers`;
  if (there < 0) return `${to}/ is in no row of the layers`;
  if (there === here) return `${from}/ and ${to}/ stand side by side`;
  return there > here ? `${to}/ stands above ${from}/` : undefined;
}

/** Every layer that a layer may not import. */
export function forbiddenFor(layer: string): string[] {
  return LAYERS.flat().filter((other) => other !== "main" && objection(layer, other) !== undefined);
}

function rowOf(layer: string): number {
  return LAYERS.findIndex((row) => row.includes(layer));
}

/** TypeScript files below a directory, as paths from it, in order. */
export function sourcesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".ts"))
    .sort();
}

/** What a file imports, types and lazy imports included. */
export function importsOf(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = new Set<string>();
  for (const pattern of SPECIFIERS) for (const match of text.matchAll(pattern)) found.add(match[1] ?? "");
  return [...found].map((specifier) => placed(root, file, specifier));
}

/** What loading a file loads with it: neither types nor lazy imports. */
export function loadedBy(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const scanned = file.endsWith(".ts") ? new Bun.Transpiler({ loader: "ts" }).scanImports(text) : [];
  return scanned
    .filter((entry) => entry.kind === "import-statement" || entry.kind === "require-call")
    .map((entry) => placed(root, file, entry.path));
}

/** Everything that is loaded when `files` are: our own files and packages, in order. */
export function roadFrom(root: string, files: string[]): { own: string[]; packages: string[] } {
  const own = new Set<string>();
  const packages = new Set<string>();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (own.has(file)) continue;
    own.add(file);
    for (const { to, own: ours } of loadedBy(root, file)) {
      if (ours) waiting.push(to);
      else packages.add(to);
    }
  }
  return { own: [...own].sort(), packages: [...packages].sort() };
}

function placed(root: string, from: string, specifier: string): Import {
  if (!specifier.startsWith(".")) return { from, to: specifier, own: false };
  const to = relative(root, resolve(root, dirname(from), specifier)).replaceAll("\\", "/");
  return { from, to, own: true };
}
