/** The installer against a registry of our own on loopback: what it accepts, refuses, and says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentPackage, installAgent, inVersion } from "./install.ts";

const TIMEOUT_MS = 60_000;
let directory: string;
let registry: Server;
let address: string;
let downloads = 0;
let digest: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "bt-install-"));
  const tarball = pack(directory);
  digest = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  registry = createServer((request, response) => {
    const name = /^\/(tiny-agent|big-agent)$/.exec(request.url ?? "")?.[1];
    if (request.url === "/tiny-agent/-/tiny-agent-1.0.0.tgz") {
      downloads++;
      response.end(tarball);
    } else if (name) {
      const dist = { tarball: `${address}/tiny-agent/-/tiny-agent-1.0.0.tgz`, integrity: digest };
      const dependencies = name === "big-agent" ? { nowhere: "1.0.0" } : {};
      const version = { name, version: "1.0.0", dist, hasInstallScript: true, dependencies };
      const versions = { "1.0.0": version };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions }));
    } else response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});

afterAll(() => {
  registry.close();
  rmSync(directory, { recursive: true, force: true });
});

test(
  "two at once install a pinned package once, without running its scripts",
  async () => {
    const cache = join(directory, "good");
    const both = await Promise.all([1, 2].map(() => installAgent(tiny(), { cache, registry: address })));
    const program = join(cache, "tiny@1.0.0/node_modules/tiny-agent/run");
    expect(both).toEqual([{ program }, { program }]);
    expect(readFileSync(program, "utf8")).toBe("hello\n");
    expect(existsSync(join(cache, "tiny@1.0.0/node_modules/tiny-agent/script-ran"))).toBe(false);
    expect(downloads).toBe(1);
    expect(readdirSync(cache)).toEqual(["tiny@1.0.0"]);
  },
  TIMEOUT_MS,
);

test(
  "a package with another digest is refused and leaves nothing",
  async () => {
    const cache = join(directory, "other");
    const changed = { ...tiny(), integrity: { "tiny-agent": "sha512-AAAA" } };
    await expect(installAgent(changed, { cache, registry: address })).rejects.toThrow("is not the pinned one");
    expect(readdirSync(cache)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "a version that is gone is an error, a registry out of reach is a reason to skip",
  async () => {
    const cache = join(directory, "none");
    const gone = { ...tiny(), version: "9.9.9" };
    await expect(installAgent(gone, { cache, registry: address })).rejects.toThrow("could not install");
    const unreachable = await installAgent(tiny(), { cache, registry: "http://127.0.0.1:1" });
    expect(unreachable).toEqual({ program: null, reason: "the npm registry can't be reached (ECONNREFUSED)" });
    expect(readdirSync(cache)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "what brings everything in its bundle is unpacked without the dependencies that it names",
  async () => {
    const cache = join(directory, "bundled");
    const helper = { "tiny-agent": "1.0.0" };
    const bundled = { ...tiny(), name: "big-agent", bundledBut: helper, programs: ["node_modules/big-agent/run"] };
    const pinned = { ...bundled, integrity: { "tiny-agent": digest, "big-agent": digest } };
    const { program } = await installAgent(pinned, { cache, registry: address });
    expect(readFileSync(program ?? "", "utf8")).toBe("hello\n");
    expect(readdirSync(join(cache, "tiny@1.0.0")).sort()).toEqual([
      "node_modules",
      "package-lock.json",
      "package.json",
    ]);
    const unpacked = readdirSync(join(cache, "tiny@1.0.0/node_modules")).filter((name) => !name.startsWith("."));
    expect(unpacked.sort()).toEqual(["big-agent", "tiny-agent"]);

    const changed = { ...pinned, integrity: { ...pinned.integrity, "big-agent": "sha512-AAAA" } };
    const other = join(directory, "bundled-other");
    await expect(installAgent(changed, { cache: other, registry: address })).rejects.toThrow("is not the pinned one");
    expect(readdirSync(other)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "another version that is asked for comes without digests, and stands beside the pinned one",
  async () => {
    const cache = join(directory, "newer");
    const older = { ...tiny(), version: "0.9.0", integrity: { "tiny-agent": "sha512-AAAA" } };
    process.env["BACKTRAIL_REAL_VERSIONS"] = "other@2.0.0,tiny@1.0.0";
    try {
      const { program } = await installAgent(older, { cache, registry: address });
      expect(program).toBe(join(cache, "tiny@1.0.0/node_modules/tiny-agent/run"));
    } finally {
      delete process.env["BACKTRAIL_REAL_VERSIONS"];
    }
    const { bundledBut } = inVersion({ ...older, bundledBut: { node: "22.0.0", part: "0.9.0" } }, "1.0.0");
    expect(bundledBut).toEqual({ node: "22.0.0", part: "1.0.0" });
  },
  TIMEOUT_MS,
);

function tiny(): AgentPackage {
  const programs = ["node_modules/tiny-agent/missing", "node_modules/tiny-agent/run"];
  return { agent: "tiny", name: "tiny-agent", version: "1.0.0", integrity: { "tiny-agent": digest }, programs };
}

function pack(into: string): Buffer {
  const source = join(into, "package");
  mkdirSync(source);
  const scripts = { postinstall: "touch script-ran" };
  writeFileSync(join(source, "package.json"), JSON.stringify({ name: "tiny-agent", version: "1.0.0", scripts }));
  writeFileSync(join(source, "run"), "hello\n");
  Bun.spawnSync(["tar", "-czf", join(into, "tiny.tgz"), "-C", into, "package"]);
  return readFileSync(join(into, "tiny.tgz"));
}
