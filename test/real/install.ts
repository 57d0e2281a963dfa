/**
 * The real agents, from the npm registry: one pinned version each, checked against the digest that is pinned
 * with it, installed once into a cache. Install scripts never run; the agent's own program is run directly.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { acquire } from "../../src/base/fs/lock.ts";

export interface AgentPackage {
  /** The agent's id in Backtrail. */
  agent: string;
  name: string;
  version: string;
  /** Digests of the packages that may be installed, by name. Any other package is refused. */
  integrity: Record<string, string>;
  /** Where the program may be, from the installation's directory; the first that exists is run. */
  programs: string[];
  /** Leaves out packages that the agent runs without, whose versions nobody pins. */
  withoutOptional?: boolean;
  /** Its bundle holds what it needs: it is unpacked without its dependencies, but with these, by name and version. */
  bundledBut?: Record<string, string>;
  /** Whatever its digests are: only to find out what a newer version does. */
  unpinned?: true;
}

export type Installed = { program: string } | { program: null; reason: string };

const INSTALL_TIMEOUT_MS = 300_000;
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

export interface InstallOptions {
  /** Default: BACKTRAIL_TEST_CACHE, or `.cache/agents` in the project. */
  cache?: string;
  /** Default: what npm is configured to use. */
  registry?: string;
}

export async function installAgent(pinned: AgentPackage, options: InstallOptions = {}): Promise<Installed> {
  const wanted = inVersion(pinned, askedVersion(pinned.agent));
  const directory = join(realDirectory(options.cache ?? cacheDirectory()), `${wanted.agent}@${wanted.version}`);
  const ready = programIn(directory, wanted);
  if (ready) return { program: ready };

  const lock = await acquire(`${directory}.lock`, INSTALL_TIMEOUT_MS);
  if (!lock) throw new Error(`another process has been installing ${wanted.name} for too long`);
  try {
    const made = programIn(directory, wanted);
    if (made) return { program: made };
    const reason = await installInto(directory, wanted, options.registry);
    if (reason) return { program: null, reason };
    const program = programIn(directory, wanted);
    if (!program) throw new Error(`${wanted.name}@${wanted.version} holds none of ${wanted.programs.join(", ")}`);
    return { program };
  } finally {
    lock.release();
  }
}

/** BACKTRAIL_REAL_VERSIONS names other versions than the pinned ones, such as `codex@0.170.0,gemini@0.62.0`. */
function askedVersion(agent: string): string | undefined {
  const asked = (process.env["BACKTRAIL_REAL_VERSIONS"] ?? "").split(",").map((entry) => entry.trim());
  return asked.find((entry) => entry.startsWith(`${agent}@`))?.slice(agent.length + 1);
}

/** What comes with it in the same version comes in the new one. */
export function inVersion(pinned: AgentPackage, version: string | undefined): AgentPackage {
  if (version === undefined || version === pinned.version) return pinned;
  const others = Object.entries(pinned.bundledBut ?? {}).map(([name, its]) => [
    name,
    its === pinned.version ? version : its,
  ]);
  return {
    ...pinned,
    version,
    unpinned: true,
    ...(pinned.bundledBut && { bundledBut: Object.fromEntries(others) as Record<string, string> }),
  };
}

export function cacheDirectory(): string {
  const chosen = process.env["BACKTRAIL_TEST_CACHE"];
  return chosen ? resolve(chosen) : resolve(import.meta.dir, "../../.cache/agents");
}

/** npm lists what it installed by real paths, so a cache behind a link must be named by its own. */
function realDirectory(path: string): string {
  mkdirSync(path, { recursive: true });
  return realpathSync(path);
}

function programIn(directory: string, wanted: AgentPackage): string | undefined {
  return wanted.programs.map((program) => join(directory, program)).find((path) => existsSync(path));
}

/** Installs beside the final place and renames: a cache entry is whole or absent. */
async function installInto(directory: string, wanted: AgentPackage, registry?: string): Promise<string | undefined> {
  const building = `${directory}.building`;
  rmSync(building, { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  process.stderr.write(`installing ${wanted.name}@${wanted.version} (once; it is kept in the cache)\n`);
  const { code, output } = await fetchInto(building, wanted, registry);
  if (code !== 0) {
    rmSync(building, { recursive: true, force: true });
    const cause = UNREACHABLE.exec(output)?.[0];
    if (cause) return `the npm registry can't be reached (${cause})`;
    throw new Error(`npm could not install ${wanted.name}@${wanted.version}:\n${output.trim()}`);
  }
  try {
    verify(building, wanted);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    throw error;
  }
  renameSync(building, directory);
  return undefined;
}

async function fetchInto(
  directory: string,
  { name, version, withoutOptional, bundledBut }: AgentPackage,
  registry?: string,
): Promise<{ code: number; output: string }> {
  const install = ["install", "--prefix", directory, ...(withoutOptional ? ["--omit=optional"] : [])];
  if (!bundledBut) return npm(directory, [...install, `${name}@${version}`], registry);
  const others = Object.entries(bundledBut).map(([other, itsVersion]) => `${other}@${itsVersion}`);
  const installed = await npm(directory, [...install, ...others], registry);
  return installed.code === 0 ? npm(directory, ["pack", `${name}@${version}`], registry) : installed;
}

function npm(prefix: string, args: string[], registry?: string): Promise<{ code: number; output: string }> {
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
  const patience = ["--fetch-retries=1", "--fetch-timeout=120000", "--fetch-retry-mintimeout=1000"];
  const from = registry ? [`--registry=${registry}`] : [];
  return new Promise((done, reject) => {
    const npm = spawn("npm", [...args, ...quiet, ...patience, ...from], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: prefix,
      timeout: INSTALL_TIMEOUT_MS,
    });
    let output = "";
    for (const stream of [npm.stdout, npm.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    npm.once("error", reject);
    npm.once("close", (code) => done({ code: code ?? 1, output }));
  });
}

function verify(directory: string, wanted: AgentPackage): void {
  const lockfile = readFileSync(join(directory, "node_modules/.package-lock.json"), "utf8");
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, { version: string; integrity?: string }> };
  for (const [path, found] of Object.entries(packages)) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (wanted.unpinned) continue;
    const expected = wanted.integrity[name];
    if (!expected) throw new Error(`${wanted.name} brought ${name}, whose digest is not pinned`);
    if (found.integrity !== expected) throw new Error(`${name}@${found.version} is not the pinned one`);
  }
  if (wanted.bundledBut) unpack(directory, wanted);
  else if (!Object.hasOwn(packages, `node_modules/${wanted.name}`)) throw new Error(`${wanted.name} was not installed`);
}

function unpack(directory: string, { name, version, integrity, unpinned }: AgentPackage): void {
  const packed = join(directory, readdirSync(directory).find((file) => file.endsWith(".tgz")) ?? "missing.tgz");
  const digest = createHash("sha512").update(readFileSync(packed)).digest("base64");
  if (!unpinned && `sha512-${digest}` !== integrity[name]) throw new Error(`${name}@${version} is not the pinned one`);
  const into = join(directory, "node_modules", name);
  mkdirSync(into, { recursive: true });
  const done = spawnSync("tar", ["-xzf", packed, "-C", into, "--strip-components=1"], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${name}@${version} can't be unpacked: ${done.stderr}`);
  rmSync(packed);
}
