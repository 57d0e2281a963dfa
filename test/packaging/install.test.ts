/** What `npm install --global backtrail` gives, from a registry of our own on loopback into an empty prefix. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { packMain, packPlatform } from "../../npm/assemble.ts";
import { mainManifest, platformManifest } from "../../npm/manifests.ts";
import { hostPlatform, PLATFORMS, packageOf } from "../../npm/platforms.ts";
import { version } from "../../scripts/compile.ts";
import { cleanEnvironment, executable, type Result, runProgram, TemporaryDirectory } from "../support/index.ts";
import { Registry } from "./registry.ts";

const host = hostPlatform();
const place = new TemporaryDirectory();
let registry: Registry;

beforeAll(async () => {
  if (host === undefined) throw new Error("There is no package for this platform.");
  const archives = { main: await packMain(place.path, version()), host: "" };
  archives.host = packPlatform(place.path, version(), host, executable());
  registry = await new Registry([
    { manifest: mainManifest(version()), archive: archives.main },
    ...PLATFORMS.map((platform) => ({
      manifest: platformManifest(platform, version()),
      ...(platform === host ? { archive: archives.host } : {}),
    })),
  ]).start();
}, 60_000);

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  place.remove();
});

describe("with install scripts", () => {
  let prefix = "";
  beforeAll(async () => {
    prefix = await install("with-scripts", ["--allow-scripts=backtrail"]);
  }, 60_000);

  test("the command is the native executable, and needs no node", async () => {
    for (const name of ["backtrail", "aiwr"]) expect(isNative(join(prefix, "bin", name))).toBe(true);
    const result = await run(join(prefix, "bin", "backtrail"), ["--version"], { PATH: "/nowhere" });
    expect(result.stdout).toContain(version());
    expect(result.code).toBe(0);
  });

  test("only this platform's package was fetched", () => {
    expect(readdirSync(join(prefix, "lib", "node_modules"))).toEqual(["backtrail"]);
    const others = PLATFORMS.filter((platform) => platform !== host).map(packageOf);
    expect(registry.fetched.filter((name) => others.includes(name))).toEqual([]);
    expect(registry.fetched).toContain("backtrail");
  });

  test("removing it leaves nothing", async () => {
    await npm(["uninstall", "--global", "--prefix", prefix, "backtrail"]);
    expect(readdirSync(join(prefix, "bin"))).toEqual([]);
    expect(existsSync(join(prefix, "lib", "node_modules", "backtrail"))).toBe(false);
  });
});

describe("without install scripts", () => {
  let prefix = "";
  beforeAll(async () => {
    prefix = await install("without-scripts", ["--ignore-scripts"]);
  }, 60_000);

  test("the launcher starts the executable, with its output and exit status", async () => {
    expect(isNative(join(prefix, "bin", "backtrail"))).toBe(false);
    const told = await run(join(prefix, "bin", "backtrail"), ["--version"]);
    expect(told.stdout).toContain(version());
    expect(told.code).toBe(0);
    const direct = await run(executable(), ["no-such-command"]);
    const launched = await run(join(prefix, "bin", "backtrail"), ["no-such-command"]);
    expect(direct.code).not.toBe(0);
    expect(launched).toEqual(direct);
  });

  test("without the platform's package, the error names it", async () => {
    const packages = realpathSync(join(prefix, "lib", "node_modules", "backtrail", "node_modules", "@backtrail"));
    execFileSync("mv", [packages, `${packages}-away`]);
    const result = await run(join(prefix, "bin", "backtrail"), ["--version"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(`${host === undefined ? "" : packageOf(host)} is not installed`);
  });
});

test("the packages hold no path of the machine that made them", () => {
  const machine = Buffer.from(join(import.meta.dirname, "..", ".."));
  expect(readFileSync(executable()).includes(machine)).toBe(false);
});

async function install(name: string, options: string[]): Promise<string> {
  const prefix = place.at(name);
  await npm(["install", "--global", "--prefix", prefix, ...options, "backtrail"]);
  return prefix;
}

async function npm(args: string[]): Promise<void> {
  const result = await run("npm", args, {
    npm_config_registry: registry.address,
    npm_config_cache: place.at("npm-cache"),
    npm_config_userconfig: place.at("npmrc"),
    npm_config_globalconfig: place.at("npmrc-global"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  });
  if (result.code !== 0) throw new Error(`npm ${args.join(" ")} ended with ${result.code}:\n${result.stderr}`);
}

function run(program: string, args: string[], env: Record<string, string> = {}): Promise<Result> {
  const environment = cleanEnvironment(place.at("home"), env);
  return runProgram(program, args, { cwd: place.path, env: environment, timeout: 60_000 });
}

/** Whether a file begins as executables of Linux or macOS do. */
function isNative(path: string): boolean {
  const start = Buffer.alloc(4);
  readSync(openSync(path, "r"), start, 0, 4, 0);
  return ["7f454c46", "cffaedfe"].includes(start.toString("hex"));
}
