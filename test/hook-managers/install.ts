/** The real hook managers: pinned versions, checked against pinned digests, installed once into the cache of the real agents. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { acquire } from "../../src/base/fs/lock.ts";
import { type AgentPackage, cacheDirectory, type Installed, installAgent } from "../real/install.ts";

const INSTALL_TIMEOUT_MS = 300_000;

export const HUSKY_9: AgentPackage = {
  agent: "husky",
  name: "husky",
  version: "9.1.7",
  integrity: {
    husky: "sha512-5gs5ytaNjBrh5Ow3zrvdUUY+0VxIuWVL4i9irt6friV+BqdCfmV11CQTWMiBYWHbXhco+J1kHfTOUkePhCDvMA==",
  },
  programs: ["node_modules/husky/bin.js"],
};

export const HUSKY_8: AgentPackage = {
  agent: "husky",
  name: "husky",
  version: "8.0.3",
  integrity: {
    husky: "sha512-+dQSyqPh4x1hlO1swXBiNb2HzTDN1I2IGLQx1GrBuiqFJfoMrnZWwVmatvSiO+Iz8fBUnf+lekwNo4c2LlXItg==",
  },
  programs: ["node_modules/husky/lib/bin.js"],
};

export const LEFTHOOK: AgentPackage = {
  agent: "lefthook",
  name: "lefthook",
  version: "2.2.2",
  integrity: {
    lefthook: "sha512-37fYHAhL12r1twaEV0PA5TwoIT491eTGGYjhhXxlYNMq3DSkiGZBQ++Jfk5maXj0vq52NRauLtMikBKtbNJs3Q==",
    "lefthook-linux-x64":
      "sha512-N/OlQyAhcU6RAXjrwFxLsh70sn96rBoi+XkuLJ8CVBkk9Ci3VDXQayDZTNz5B1xML8RwoMcV8Wblniy1xFOmSA==",
    "lefthook-linux-arm64":
      "sha512-d+HFtS2DEKaOnD7vRU0tUz8pNgHwsUYmQ22+1dyXpOrXGyzNXR0AqX5KsIRF36JGhVvO5X5Anw5QYgR3mxVSuA==",
    "lefthook-darwin-x64":
      "sha512-fH/kArZ9ZZ65wCFtvBMgGcq25qwQpkQ5jp93ba+8wpjgxxzjczYGluwHvM/NQDJWLOFXuKXW0yFs76SramQkyQ==",
    "lefthook-darwin-arm64":
      "sha512-6V8D3bLnD/60Xhqn0o2EQD6H3Fe/U9LGkt4WF1O/3eBHbux+5ZJqoH0hfrC+Bi9Dy1Ve1AWxiAY7U2asYl8qVA==",
  },
  programs: [`node_modules/lefthook-${process.platform}-${process.arch}/bin/lefthook`],
};

/** What it needs to run hooks of the repository's own; with the digests of all systems that tests run on. */
const PRE_COMMIT = { version: "4.7.0", requirements: join(import.meta.dirname, "pre-commit.txt") };

/** The program, or null after a line that says why these tests are skipped. BACKTRAIL_REAL=required makes that an error. */
export async function available(wanted: AgentPackage): Promise<string | null> {
  return said(`${wanted.name} ${wanted.version}`, await installAgent(wanted));
}

/** The directory that holds pre-commit's modules. */
export async function availablePreCommit(): Promise<string | null> {
  return said(`pre-commit ${PRE_COMMIT.version}`, await installPreCommit());
}

function said(name: string, found: Installed): string | null {
  if (found.program !== null) return found.program;
  const line = `SKIPPED: git hooks beside the real ${name}: ${found.reason}`;
  if (process.env["BACKTRAIL_REAL"] === "required") throw new Error(line);
  process.stderr.write(`${line}\n`);
  return null;
}

async function installPreCommit(): Promise<Installed> {
  const version = spawnSync("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"], {
    encoding: "utf8",
  });
  if (version.status !== 0) return { program: null, reason: "there is no python3" };
  const name = `pre-commit@${PRE_COMMIT.version}-python${version.stdout.trim()}`;
  const directory = join(cacheDirectory(), name);
  if (existsSync(directory)) return { program: directory };
  mkdirSync(cacheDirectory(), { recursive: true });
  const lock = await acquire(`${directory}.lock`, INSTALL_TIMEOUT_MS);
  if (!lock) throw new Error(`another process has been installing ${name} for too long`);
  try {
    return existsSync(directory) ? { program: directory } : downloadPreCommit(directory);
  } finally {
    lock.release();
  }
}

function downloadPreCommit(directory: string): Installed {
  const building = `${directory}.building`;
  rmSync(building, { recursive: true, force: true });
  process.stderr.write(`installing pre-commit@${PRE_COMMIT.version} (once; it is kept in the cache)\n`);
  const options = ["--quiet", "--no-deps", "--no-compile", "--only-binary", ":all:", "--require-hashes"];
  const place = ["--target", building, "--requirement", PRE_COMMIT.requirements];
  const { status, stderr } = spawnSync("python3", ["-m", "pip", "install", ...options, ...place], {
    encoding: "utf8",
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (status === 0) {
    renameSync(building, directory);
    return { program: directory };
  }
  rmSync(building, { recursive: true, force: true });
  if (/do not match the hashes/i.test(stderr)) throw new Error(`pre-commit is not the pinned one:\n${stderr}`);
  const reason = stderr.trim().split("\n").at(-1) ?? "";
  return { program: null, reason: `pip could not install it (${reason.slice(0, 200)})` };
}
