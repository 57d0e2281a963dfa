/** Bundles the page of `backtrail view` into `page.generated.json`, which the executable contains. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const source = join(root, "src", "view", "page");
const generated = join(root, "src", "view", "server", "http", "page.generated.json");

/** Writes the file in one move, because tests and several builds may read it at the same time. */
export function bundlePage(): void {
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });
  const workplace = mkdtempSync(join(dist, ".page-"));
  try {
    const output = join(workplace, "out");
    const args = ["build", "--target=browser", "--format=esm", "--minify", "--splitting", `--outdir=${output}`];
    args.push("--define", `process.env.NODE_ENV="production"`, join(source, "main.tsx"), join(source, "style.css"));
    const built = spawnSync(process.execPath, args, { cwd: source, encoding: "utf8" });
    if (built.status !== 0) throw new Error(`Bundling the page failed.\n${built.stdout}${built.stderr}`);
    const files: Record<string, string> = { "index.html": readFileSync(join(source, "index.html"), "utf8") };
    for (const name of readdirSync(output).sort()) files[name] = readFileSync(join(output, name), "utf8");
    const fresh = join(workplace, "page.json");
    writeFileSync(fresh, JSON.stringify(files));
    renameSync(fresh, generated);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

if (import.meta.main) bundlePage();
