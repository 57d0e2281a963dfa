/**
 * Signatures of executables for macOS, which kills what was changed after it was signed. The compiler signs what it
 * makes for Apple's own processors and leaves a signature that is no longer true on what it makes for Intel's. An
 * "ad hoc" signature names nobody: it is checksums of the file's pages, so any machine can make it.
 */
import { createHash } from "node:crypto";

const MAGIC_64 = 0xfeedfacf;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const DIRECTORY_VERSION = 0x20400;
const DIRECTORY_SIZE = 88;
const BLOB_HEAD = 20;
const AD_HOC_BY_LINKER = 0x20002;
const MAIN_BINARY = 1n;
const SHA256 = 2;
const HASH_SIZE = 32;
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
/** Memory is mapped in pages of up to this size. */
const MAPPED_PAGE = 0x4000n;

interface Layout {
  /** Where the commands stand that a signature changes or needs. */
  signature: number;
  linkedit: number;
  text: number;
  /** Where the signature begins: all before it is signed. */
  signedBytes: number;
}

/** Whether every page is as the signature says, and nothing follows the signature. */
export function isSignedTruly(file: Buffer): boolean {
  const { signature, signedBytes } = layoutOf(file);
  if (signedBytes + file.readUInt32LE(signature + 12) !== file.length) return false;
  const blob = file.subarray(signedBytes);
  if (blob.readUInt32BE(0) !== SUPER_BLOB) return false;
  for (let index = 0; index < blob.readUInt32BE(8); index++) {
    const directory = blob.subarray(blob.readUInt32BE(16 + 8 * index));
    if (directory.readUInt32BE(0) !== CODE_DIRECTORY) continue;
    return directory.readUInt8(37) === SHA256 && holds(directory, file, signedBytes);
  }
  return false;
}

function holds(directory: Buffer, file: Buffer, signedBytes: number): boolean {
  if (directory.readUInt32BE(32) !== signedBytes || directory.readUInt8(39) !== PAGE_BITS) return false;
  const start = directory.readUInt32BE(16);
  const expected = directory.subarray(start, start + directory.readUInt32BE(28) * HASH_SIZE);
  return expected.equals(hashesOf(file.subarray(0, signedBytes)));
}

/** The same executable with an ad hoc signature in the place of the one it has. */
export function signedAdHoc(file: Buffer, identifier: string): Buffer {
  const { signature, linkedit, text, signedBytes } = layoutOf(file);
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(signedBytes / PAGE);
  const directorySize = DIRECTORY_SIZE + name.length + pages * HASH_SIZE;
  const signatureSize = BLOB_HEAD + directorySize;

  const code = Buffer.from(file.subarray(0, signedBytes));
  code.writeUInt32LE(signatureSize, signature + 12);
  const linkeditSize = BigInt(signedBytes + signatureSize) - code.readBigUInt64LE(linkedit + 40);
  code.writeBigUInt64LE(linkeditSize, linkedit + 48);
  code.writeBigUInt64LE(((linkeditSize + MAPPED_PAGE - 1n) / MAPPED_PAGE) * MAPPED_PAGE, linkedit + 32);

  const head = Buffer.alloc(BLOB_HEAD);
  [SUPER_BLOB, signatureSize, 1, 0, BLOB_HEAD].forEach((value, index) => {
    head.writeUInt32BE(value, 4 * index);
  });
  const directory = Buffer.alloc(DIRECTORY_SIZE);
  const fields = [CODE_DIRECTORY, directorySize, DIRECTORY_VERSION, AD_HOC_BY_LINKER];
  fields.push(DIRECTORY_SIZE + name.length, DIRECTORY_SIZE, 0, pages, signedBytes);
  fields.forEach((value, index) => {
    directory.writeUInt32BE(value, 4 * index);
  });
  directory.set([HASH_SIZE, SHA256, 0, PAGE_BITS], 36);
  directory.writeBigUInt64BE(code.readBigUInt64LE(text + 40), 64);
  directory.writeBigUInt64BE(code.readBigUInt64LE(text + 48), 72);
  directory.writeBigUInt64BE(MAIN_BINARY, 80);
  return Buffer.concat([code, head, directory, name, hashesOf(code)]);
}

function hashesOf(code: Buffer): Buffer {
  const hashes: Buffer[] = [];
  for (let at = 0; at < code.length; at += PAGE) {
    hashes.push(
      createHash("sha256")
        .update(code.subarray(at, at + PAGE))
        .digest(),
    );
  }
  return Buffer.concat(hashes);
}

function layoutOf(file: Buffer): Layout {
  if (file.length < 32 || file.readUInt32LE(0) !== MAGIC_64) throw new Error("This is no 64-bit executable of macOS.");
  const places = new Map<string, number>();
  let at = 32;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const command = file.readUInt32LE(at);
    if (command === LC_CODE_SIGNATURE) places.set("signature", at);
    if (command === LC_SEGMENT_64) places.set(file.toString("latin1", at + 8, at + 24).replace(/\0+$/, ""), at);
    at += file.readUInt32LE(at + 4);
  }
  const [signature, linkedit, text] = ["signature", "__LINKEDIT", "__TEXT"].map((name) => places.get(name));
  if (signature === undefined || linkedit === undefined || text === undefined) {
    throw new Error("This executable has no place for a signature.");
  }
  return { signature, linkedit, text, signedBytes: file.readUInt32LE(signature + 8) };
}
