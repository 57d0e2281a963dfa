/** Computes digests of data that is in memory as a whole. */
import { createHasher } from "./runtime.ts";
import type { Hasher, HashName } from "./runtime-types.ts";

export type { HashName } from "./runtime-types.ts";

export function hexDigest(hash: HashName, ...parts: (string | Uint8Array)[]): string {
  return hasher(hash, parts).digest("hex");
}

export function digest(hash: HashName, ...parts: (string | Uint8Array)[]): Buffer {
  return Buffer.from(hasher(hash, parts).digest());
}

function hasher(hash: HashName, parts: (string | Uint8Array)[]): Hasher {
  const hasher = createHasher(hash);
  for (const part of parts) hasher.update(part);
  return hasher;
}
