/**
 * The layers of the source, from the bottom up, and their imports. A layer may import the layers below it;
 * layers in one row never import each other. Which of a layer's files others may import is listed in its `api.txt`.
 * `test/layers.test.ts` checks the imports, the lists and the linter's configuration; `node scripts/bun.mjs
 * scripts/layers.ts --write` brings the latter up to date and shortens the lists.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const LAYERS: string[][] = [
  ["base"],
  ["model"],
  ["git", "config", "edit"],
  ["transcripts"],
  ["agents"],
  ["steps"],
  ["attribution"],
  ["checkpoints"],
  ["recording"],
  ["commits"],
  ["maintenance"],
  ["setup"],
  ["restore", "run"],
  ["trials"],
  ["search"],
  ["proposals"],
  ["api"],
  ["mcp"],
  ["view"],
  ["team"],
  ["hub"],
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
function forbiddenFor(layer: string): string[] {
  return LAYERS.flat().filter((other) => other !== "main" && objection(layer, other) !== undefined);
}

function rowOf(layer: string): number {
  return LAYERS.findIndex((row) => row.includes(layer));
}

/** TypeScript files below a directory, as paths from it, in order. */
export function sourcesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".ts") || name.endsWith(".tsx"))
    .sort();
}

/** The imports of a file, types and lazy imports included. */
export function importsOf(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = new Set<string>();
  for (const pattern of SPECIFIERS) for (const match of text.matchAll(pattern)) found.add(match[1] ?? "");
  return [...found].map((specifier) => placed(root, file, specifier));
}

/** The scanner adds these where a file has JSX; no line of the source names them. */
const JSX_RUNTIME = /^react(?:\/jsx(?:-dev)?-runtime)?$/;

/** The files that are loaded with a file: neither types nor lazy imports. */
export function loadedBy(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const loader = file.endsWith(".tsx") ? "tsx" : "ts";
  const scanned = /\.tsx?$/.test(file) ? new Bun.Transpiler({ loader }).scanImports(text) : [];
  return scanned
    .filter(({ path }) => !JSX_RUNTIME.test(path))
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

/** The files of a layer that other layers may import, from the source's root: `api.txt` in the layer's folder. */
function apiOf(root: string, layer: string): string[] {
  const file = join(root, layer, "api.txt");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter((line) => line !== "").map((line) => `${layer}/${line}`);
}

/** Imports from one layer into another, types and lazy imports included. Tests may import the code that they test. */
function importsAcross(root: string): Import[] {
  return sourcesIn(root)
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .flatMap((file) => importsOf(root, file))
    .filter(({ from, to, own }) => own && !["main", layerOf(from)].includes(layerOf(to)));
}

/** Why imports and lists of APIs do not agree; empty if they do. */
export function apiObjections(root: string): string[] {
  const imports = importsAcross(root);
  const layers = [...new Set(sourcesIn(root).map(layerOf))].filter((layer) => layer !== "main");
  const listed = new Set(layers.flatMap((layer) => apiOf(root, layer)));
  const used = new Set(imports.map(({ to }) => to));
  return [
    ...imports
      .filter(({ to }) => !listed.has(to))
      .map(({ from, to }) => {
        const layer = layerOf(to);
        return `${from} → ${to}: not in the API of ${layer}/. Use a file of src/${layer}/api.txt, or list this one there.`;
      }),
    ...[...listed]
      .filter((file) => !used.has(file))
      .map((file) => `${file}: no other layer imports it. Run scripts/layers.ts --write, which takes it off the list.`),
  ];
}

/** Takes files that no other layer imports off the lists, and sorts them. Adds none: that is a decision. */
function tidyApis(root: string): void {
  const used = new Set(importsAcross(root).map(({ to }) => to));
  for (const layer of LAYERS.flat()) {
    const listed = apiOf(root, layer);
    if (listed.length === 0) continue;
    const kept = [...new Set(listed)].filter((file) => used.has(file)).sort();
    writeFileSync(join(root, layer, "api.txt"), kept.map((file) => `${file.slice(layer.length + 1)}\n`).join(""));
  }
}

/** The part of biome.json that keeps each layer from importing those above and beside it. */
export function linterOverrides(): unknown[] {
  return LAYERS.flat()
    .filter((layer) => forbiddenFor(layer).length > 0)
    .map((layer) => ({
      includes: [`src/${layer}/**`],
      linter: {
        rules: {
          style: {
            noRestrictedImports: {
              level: "error",
              options: {
                patterns: [
                  {
                    group: forbiddenFor(layer).map((other) => `../**/${other}/**`),
                    message: `${layer}/ may import only the layers below it: see scripts/layers.ts.`,
                  },
                ],
              },
            },
          },
        },
      },
    }));
}

if (import.meta.main && process.argv.includes("--write")) {
  const file = join(import.meta.dirname, "..", "biome.json");
  const configuration = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, `${JSON.stringify({ ...configuration, overrides: linterOverrides() }, null, 2)}\n`);
  tidyApis(join(import.meta.dirname, "..", "src"));
}
