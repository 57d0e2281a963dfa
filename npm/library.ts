/**
 * The library's files: one bundle for Node and Bun, with lazily loaded parts beside it, and the declarations that its
 * types need.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { version } from "../scripts/compile.ts";
import { profileDeclaration } from "./profile-types.ts";

const root = join(import.meta.dirname, "..");

/** Writes `index.js`, its chunks, `index.d.ts` and what it imports into `directory`. */
export async function buildLibrary(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  await bundle(directory);
  copyDeclarations(directory);
  // Everything here is a module, whatever the package around it is.
  writeFileSync(join(directory, "package.json"), `${JSON.stringify({ type: "module" })}\n`);
}

async function bundle(directory: string): Promise<void> {
  const built = await Bun.build({
    entrypoints: [join(root, "src", "index.ts")],
    outdir: directory,
    target: "node",
    format: "esm",
    splitting: true,
    naming: { chunk: "chunks/[hash].js" },
    define: { BACKTRAIL_VERSION: JSON.stringify(version()) },
    plugins: [
      {
        name: "Node's modules instead of Bun's own functions",
        setup(build) {
          // Where a neighbor is called `<name>.node.ts`, Node gets that one.
          build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ importer, path }) => {
            const forNode = join(dirname(importer), path.replace(/\.ts$/, ".node.ts"));
            return existsSync(forNode) ? { path: forNode } : undefined;
          });
        },
      },
    ],
    throw: false,
  });
  if (!built.success) throw new Error(`The library could not be built.\n${built.logs.join("\n")}`);
}

/** The compiler declares every file; only those that can be reached from the first one are part of the library. */
function copyDeclarations(directory: string): void {
  const place = mkdtempSync(join(tmpdir(), "backtrail-types-"));
  try {
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const args = [compiler, "-p", join(root, "npm", "tsconfig.library.json"), "--outDir", place];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`The library's types could not be built.\n${stdout}`);
    const waiting = ["index"];
    const copied = new Set(waiting);
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const text = profileDeclaration(root, file) ?? readFileSync(join(place, `${file}.d.ts`), "utf8");
      for (const [, specifier = ""] of text.matchAll(SPECIFIER)) {
        const imported = normalize(join(dirname(file), specifier));
        if (copied.has(imported)) continue;
        copied.add(imported);
        waiting.push(imported);
      }
      mkdirSync(dirname(join(directory, file)), { recursive: true });
      writeFileSync(
        join(directory, `${file}.d.ts`),
        text.replace(SPECIFIER, (whole, specifier) => whole.replace(`${specifier}.ts`, `${specifier}.js`)),
      );
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const SPECIFIER = /(?:from |import\()"(\.[^"]+)\.ts"/g;
