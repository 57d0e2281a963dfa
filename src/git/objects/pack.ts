/** Builds a pack file and its index (version 2) in memory, from whole objects only. */
import { digest } from "../../base/digest.ts";
import { crc32 } from "../../base/runtime.ts";
import { compressed, type PendingObject } from "./object.ts";

const TYPE_BITS = { commit: 1, tree: 2, blob: 3 } as const;

export interface PackFiles {
  /** The pack's name without prefix and extension. */
  name: string;
  pack: Buffer;
  index: Buffer;
}

interface PackedEntry {
  id: Buffer;
  offset: number;
  crc: number;
}

export function packObjects(objects: readonly PendingObject[], hash: "sha1" | "sha256"): PackFiles {
  const header = Buffer.alloc(12);
  header.write("PACK", 0, "latin1");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [header];
  const entries: PackedEntry[] = [];
  let offset = header.length;
  for (const object of objects) {
    const entry = Buffer.concat([
      entryHeader(TYPE_BITS[object.type], object.data.length),
      compressed(object.type, object.data),
    ]);
    entries.push({ id: Buffer.from(object.id, "hex"), offset, crc: crc32(entry) });
    parts.push(entry);
    offset += entry.length;
  }
  const body = Buffer.concat(parts);
  const checksum = digest(hash, body);
  return {
    name: checksum.toString("hex"),
    pack: Buffer.concat([body, checksum]),
    index: packIndex(entries, checksum, hash),
  };
}

/** Encodes type and size: four size bits in the first byte, seven in each further byte. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let first = (type << 4) | (size & 15);
  let rest = Math.floor(size / 16);
  while (rest > 0) {
    bytes.push(first | 0x80);
    first = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  bytes.push(first);
  return Buffer.from(bytes);
}

function packIndex(entries: PackedEntry[], packChecksum: Buffer, hash: "sha1" | "sha256"): Buffer {
  entries.sort((a, b) => Buffer.compare(a.id, b.id));
  const fanOut = Buffer.alloc(256 * 4);
  let count = 0;
  for (let byte = 0; byte < 256; byte++) {
    while (count < entries.length && (entries[count]?.id[0] ?? 256) <= byte) count++;
    fanOut.writeUInt32BE(count, byte * 4);
  }
  const crcs = Buffer.alloc(entries.length * 4);
  const offsets = Buffer.alloc(entries.length * 4);
  const large: Buffer[] = [];
  entries.forEach((entry, i) => {
    crcs.writeUInt32BE(entry.crc, i * 4);
    if (entry.offset < 0x80000000) offsets.writeUInt32BE(entry.offset, i * 4);
    else {
      offsets.writeUInt32BE(0x80000000 + large.length, i * 4);
      const wide = Buffer.alloc(8);
      wide.writeBigUInt64BE(BigInt(entry.offset));
      large.push(wide);
    }
  });
  const magic = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
  const body = Buffer.concat([
    magic,
    fanOut,
    ...entries.map((entry) => entry.id),
    crcs,
    offsets,
    ...large,
    packChecksum,
  ]);
  return Buffer.concat([body, digest(hash, body)]);
}
