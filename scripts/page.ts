/** Bundles the page of `backtrail view` into `page.generated.json`, which the executable contains. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const source = join(root, "src", "view", "page");
const generated = join(root, "src", "view", "server", "http", "page.generated.json");

/** One script: all screens together are smaller than what one more round trip costs. An exported page needs it too. */
export function bundlePage(): void {
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });
  const workplace = mkdtempSync(join(dist, ".page-"));
  try {
    bundle([`--outdir=${workplace}`, "main.tsx", "style.css"]);
    const files: Record<string, string> = { "index.html": readFileSync(join(source, "index.html"), "utf8") };
    for (const name of ["main.js", "style.css"]) files[name] = inline(readFileSync(join(workplace, name), "utf8"));
    // In one move, because tests and several builds may read it at the same time.
    const fresh = join(workplace, "page.json");
    writeFileSync(fresh, JSON.stringify(files));
    renameSync(fresh, generated);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
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
