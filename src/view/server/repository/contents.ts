/** Classifies a file's content: text, an image that browsers can show safely, binary, or too large to show. */
import type { Image } from "../../protocol.ts";

export const MAX_TEXT_BYTES = 16 * 1024 * 1024;
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;
/** As git decides. */
const LOOKED_AT = 8_000;

/** Raster images only: an SVG is a document with scripts, and is shown as text. */
const SIGNATURES: readonly { mediaType: Image["mediaType"]; matches(bytes: Buffer): boolean }[] = [
  { mediaType: "image/png", matches: (bytes) => bytes.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n" },
  { mediaType: "image/jpeg", matches: (bytes) => bytes.toString("latin1", 0, 3) === "\xff\xd8\xff" },
  { mediaType: "image/gif", matches: (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6)) },
  {
    mediaType: "image/webp",
    matches: (bytes) => /^RIFF....WEBP/s.test(bytes.toString("latin1", 0, 12)),
  },
];

export function imageOf(bytes: Buffer): Image | null {
  if (bytes.length > MAX_IMAGE_BYTES) return null;
  const found = SIGNATURES.find(({ matches }) => matches(bytes));
  return found ? { mediaType: found.mediaType, base64: bytes.toString("base64"), bytes: bytes.length } : null;
}

export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT).includes(0);
}
