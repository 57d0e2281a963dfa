/** Bundles the page of `backtrail view` into two files `page.generated.json`, which the executable contains. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const source = join(root, "src", "view", "page");
const generated = join(root, "src", "view", "server", "http", "page.generated.json");

/** Of the exported page, which is one file and loads nothing. */
const exported = join(root, "src", "view", "export", "page.generated.json");

export function bundlePage(): void {
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });
  const workplace = mkdtempSync(join(dist, ".page-"));
  try {
    const output = join(workplace, "out");
    const whole = join(workplace, "whole");
    bundle(["--splitting", `--outdir=${output}`, "main.tsx", "style.css"]);
    bundle([`--outdir=${whole}`, "main.tsx", "style.css"]);
    const files: Record<string, string> = { "index.html": readFileSync(join(source, "index.html"), "utf8") };
    for (const name of readdirSync(output).sort()) files[name] = readFileSync(join(output, name), "utf8");
    replace(generated, workplace, files);
    replace(exported, workplace, {
      script: inline(readFileSync(join(whole, "main.js"), "utf8")),
      style: inline(readFileSync(join(whole, "style.css"), "utf8")),
    });
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

/** Writes the file in one move, because tests and several builds may read it at the same time. */
function replace(path: string, workplace: string, files: Record<string, string>): void {
  const fresh = join(workplace, "page.json");
  writeFileSync(fresh, JSON.stringify(files));
  renameSync(fresh, path);
}

function bundle(args: readonly string[]): void {
  const shared = ["build", "--target=browser", "--format=esm", "--minify"];
  const define = ["--define", `process.env.NODE_ENV="production"`];
  const built = spawnSync(process.execPath, [...shared, ...define, ...args], { cwd: source, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`Bundling the page failed.\n${built.stdout}${built.stderr}`);
}

/** An exported page contains its script and its style, so nothing in them may end their element. */
function inline(text: string): string {
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error("The page's code can't stand inside of HTML.");
  return text;
}

if (import.meta.main) bundlePage();
