/**
 * Wraps everything that Backtrail uses from Bun. node:crypto, node:zlib and node:child_process offer the same but take
 * longer to load than a whole hook may run. The library, which also runs in Node, is built with runtime.node.ts
 * instead.
 */
import type { Child, Hasher, HashName, ReadBytes, SpawnOptions, Stdio } from "./runtime-types.ts";

/** The program to start again for background work; null inside another program. */
export const ownProgram: string | null = process.execPath;

export function createHasher(hash: HashName): Hasher {
  return new Bun.CryptoHasher(hash);
}

/** Produces zlib format: a two-byte header, the compressed data, a checksum. */
export function deflate(data: Uint8Array, level: 0 | 1): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.adler32(data));
  return Buffer.concat([ZLIB_HEADER, Bun.deflateSync(owned(data), { level, library: "libdeflate" }), checksum]);
}

export function inflate(data: Uint8Array): Buffer {
  const content = Bun.inflateSync(owned(data), { windowBits: 15 });
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

export function crc32(data: Uint8Array): number {
  return Bun.hash.crc32(data);
}

const ZLIB_HEADER = Buffer.from([0x78, 0x01]);

/** Bun's types require an array over an ArrayBuffer, which every array here is. */
function owned(data: Uint8Array): Uint8Array<ArrayBuffer> {
  return data as Uint8Array<ArrayBuffer>;
}

/** Starts a program, never through a shell. Throws immediately if the program cannot start. */
export function spawn<In extends Stdio | Uint8Array, Out extends Stdio, Err extends Stdio>(
  program: string,
  args: readonly string[],
  options: SpawnOptions<In, Out, Err>,
): Child<In, Out, Err> {
  return Bun.spawn([program, ...args], options) as unknown as Child<In, Out, Err>;
}

/** Runs a program to completion and collects its standard output. Throws if the program cannot start. */
export function spawnSync(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string | undefined> } = {},
): { exitCode: number; stdout: Buffer } {
  const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
  const { exitCode, stdout } = Bun.spawnSync([program, ...args], { ...options, stdio });
  return { exitCode, stdout };
}

/** The first executable of this name in the directories of `path`, or null. */
export function which(name: string, path: string): string | null {
  return Bun.which(name, { PATH: path });
}

/** Matches whole paths against a pattern with `*`, `**`, `?`, `[…]` and `{…}`. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const glob = new Bun.Glob(pattern);
  return (path) => glob.match(path);
}

export function standardInput(): { getReader(): ReadBytes } {
  return Bun.stdin.stream();
}

/** Blocks the whole process. */
export function sleepSync(milliseconds: number): void {
  Bun.sleepSync(milliseconds);
}

/** Gives memory that is no longer used back to the system. Takes some milliseconds. */
export function collectGarbage(): void {
  Bun.gc(true);
}
