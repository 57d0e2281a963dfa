import { expect, test } from "bun:test";
import { isSignedTruly, signedAdHoc } from "../../npm/macho.ts";

test("a signature holds for the file that was signed, and for no other", () => {
  const signed = signedAdHoc(executable(10_000), "example");
  expect(isSignedTruly(signed)).toBe(true);
  for (const at of [300, 4095, 4096, 9_999]) {
    const changed = Buffer.from(signed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(isSignedTruly(changed)).toBe(false);
  }
  expect(isSignedTruly(Buffer.concat([signed, Buffer.alloc(1)]))).toBe(false);
});

test("signing again gives the same bytes", () => {
  const signed = signedAdHoc(executable(8_192), "example");
  expect(signedAdHoc(signed, "example").equals(signed)).toBe(true);
});

test("the last segment reaches to the end of the file", () => {
  const signed = signedAdHoc(executable(10_000), "example");
  const linkedit = 32 + 72;
  const end = signed.readBigUInt64LE(linkedit + 40) + signed.readBigUInt64LE(linkedit + 48);
  expect(end).toBe(BigInt(signed.length));
  expect(signed.readBigUInt64LE(linkedit + 32) % 0x4000n).toBe(0n);
});

test("an unsigned executable does not count as signed, and other files do not count as executables", () => {
  expect(isSignedTruly(executable(10_000))).toBe(false);
  expect(() => isSignedTruly(Buffer.from("#!/bin/sh\n".repeat(10)))).toThrow("no 64-bit executable");
});

/** The least that is an executable of macOS: two segments, and a place of so many bytes before the signature. */
function executable(signedBytes: number): Buffer {
  const file = Buffer.alloc(signedBytes + 32);
  for (let at = 200; at < signedBytes; at++) file.writeUInt8((at * 7) & 0xff, at);
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(3, 16);
  segment(file, 32, "__TEXT", 0, 4096);
  segment(file, 32 + 72, "__LINKEDIT", 4096, signedBytes + 32 - 4096);
  [0x1d, 16, signedBytes, 32].forEach((value, index) => {
    file.writeUInt32LE(value, 32 + 144 + 4 * index);
  });
  return file;
}

function segment(file: Buffer, at: number, name: string, offset: number, size: number): void {
  file.writeUInt32LE(0x19, at);
  file.writeUInt32LE(72, at + 4);
  file.write(name, at + 8, "latin1");
  file.writeBigUInt64LE(BigInt(offset), at + 40);
  file.writeBigUInt64LE(BigInt(size), at + 48);
}
