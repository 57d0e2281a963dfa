/**
 * Shows what breaks with the agents' newest versions: runs the tests with real agents on the newest version in
 * the npm registry in place of the pinned one. `npm run agents:drift [-- <agent>…]`; ends with 1 where something
 * broke. Nothing is changed: whoever reads it decides about the pins.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PACKAGED } from "../src/agents/registry/packaged.ts";
import type { AgentPackage } from "../test/real/install.ts";

const root = join(import.meta.dirname, "..");
const real = join(root, "test", "real");

export interface Told {
  passed: number;
  failed: { story: string; error: string }[];
  skipped: number;
}

/** What the test runner printed, as stories that hold and stories that don't. */
export function toldBy(output: string): Told {
  const told: Told = { passed: 0, failed: [], skipped: 0 };
  let error = "";
  // What failed is listed once more at the end.
  const [body = ""] = output.split(/^\d+ tests? (?:failed|skipped):$/m);
  for (const line of body.split("\n")) {
    const [, outcome, story = ""] = /^\((pass|fail|skip)\) (.*?)(?: \[[\d.]+ms\])?$/.exec(line) ?? [];
    if (outcome === "pass") told.passed++;
    if (outcome === "skip") told.skipped++;
    if (outcome === "fail") told.failed.push({ story, error: error || "it gives no reason" });
    if (outcome !== undefined) error = "";
    else if (error === "") error = /^error: (.*)/.exec(line)?.[1]?.trim() ?? "";
  }
  return told;
}

/** One agent's verdict, in words. */
export function verdict(wanted: AgentPackage, newest: string, told: Told | null): string[] {
  const { agent, version } = wanted;
  if (newest === version) return [`${agent} ${version}: still the newest.`];
  const change = `${agent} ${version} → ${newest}`;
  if (told === null || told.passed + told.failed.length === 0) return [`${change}: no story could be told; see above.`];
  const all = told.passed + told.failed.length;
  if (told.failed.length === 0) {
    const rest = told.skipped > 0 ? ` (${told.skipped} skipped)` : "";
    return [
      `${change}: all ${all} stories hold${rest}. The pin in test/real/${agent}.ts and tested_versions in its profile can follow.`,
    ];
  }
  const stories = told.failed.map(({ story, error }) => `  - ${story}: ${error}`);
  return [`${change}: ${told.failed.length} of ${all} stories no longer hold:`, ...stories];
}

export function isDrift(wanted: AgentPackage, newest: string, told: Told | null): boolean {
  return newest !== wanted.version && (told === null || told.passed === 0 || told.failed.length > 0);
}

async function main(chosen: readonly string[]): Promise<number> {
  const unknown = chosen.filter((id) => !Object.hasOwn(PACKAGED, id));
  if (unknown.length > 0) {
    console.error(`There is no agent ${unknown.join(", ")}. There are: ${Object.keys(PACKAGED).join(", ")}.`);
    return 2;
  }
  const report: string[] = [];
  let broken = false;
  for (const id of chosen.length > 0 ? chosen : Object.keys(PACKAGED)) {
    const wanted = await packageOf(id);
    if (!wanted) {
      report.push(`${id}: has no stories with the real agent.`);
      continue;
    }
    const newest = newestOf(wanted.name);
    if (newest === undefined) {
      report.push(`${id} ${wanted.version}: the npm registry does not say which version is the newest.`);
      broken = true;
      continue;
    }
    const told = newest === wanted.version ? null : tell(id, newest);
    broken ||= isDrift(wanted, newest, told);
    report.push(...verdict(wanted, newest, told));
  }
  console.log(`\n${report.join("\n")}`);
  return broken ? 1 : 0;
}

/** `test/real/<id>.ts` describes the agent; its stories stand beside it. */
export async function packageOf(id: string): Promise<AgentPackage | undefined> {
  const file = join(real, `${id}.ts`);
  if (!existsSync(file) || storiesOf(id).length === 0) return undefined;
  const exported = Object.values((await import(file)) as Record<string, unknown>);
  return exported.flatMap((value) => (hasPackage(value) && value.package.agent === id ? [value.package] : []))[0];
}

function hasPackage(value: unknown): value is { package: AgentPackage } {
  return typeof value === "object" && value !== null && "package" in value;
}

function storiesOf(id: string): string[] {
  return readdirSync(real).filter((name) => name.startsWith(`${id}.`) && name.endsWith(".test.ts"));
}

function newestOf(name: string): string | undefined {
  const { status, stdout } = spawnSync("npm", ["view", name, "version"], { encoding: "utf8", timeout: 60_000 });
  const version = stdout?.trim() ?? "";
  return status === 0 && /^\d[\w.+-]*$/.test(version) ? version : undefined;
}

function tell(id: string, version: string): Told {
  console.log(`\n── ${id} ${version} ──`);
  const files = storiesOf(id).map((name) => `./test/real/${name}`);
  const { stdout, stderr } = spawnSync(process.execPath, ["test", "--timeout=300000", ...files], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, BACKTRAIL_REAL_VERSIONS: `${id}@${version}`, BACKTRAIL_REAL: "required", NO_COLOR: "1" },
    maxBuffer: 256 << 20,
    timeout: 30 * 60_000,
  });
  console.log(stderr);
  return toldBy(`${stdout}\n${stderr}`);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
