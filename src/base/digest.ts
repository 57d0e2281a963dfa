/**
 * Hashes and compression from the runtime itself: node:crypto and node:zlib give the same and take longer to load
 * than a whole hook may take.
 */
export type HashName = "sha1" | "sha256";

export function hexDigest(hash: HashName, ...parts: (string | Uint8Array)[]): string {
  return hasher(hash, parts).digest("hex");
}

export function digest(hash: HashName, ...parts: (string | Uint8Array)[]): Buffer {
  return Buffer.from(hasher(hash, parts).digest());
}

function hasher(hash: HashName, parts: (string | Uint8Array)[]): Bun.CryptoHasher {
  const hasher = new Bun.CryptoHasher(hash);
  for (const part of parts) hasher.update(part);
  return hasher;
}

/** As zlib's `deflate`: two bytes of header, the compressed data, a checksum. */
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

/** The runtime's types ask for an array over memory of its own kind, which every array here is. */
function owned(data: Uint8Array): Uint8Array<ArrayBuffer> {
  return data as Uint8Array<ArrayBuffer>;
}
