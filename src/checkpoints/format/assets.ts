/**
 * Restores images that another tool moved from a transcript to `assets/`, leaving `entire-asset:assets/<name>` in
 * their place. Replaces these placeholders by the original base64 text.
 */
import { asBuffer } from "../../transcripts/lines.ts";

export const ASSETS_DIRECTORY = "assets";
const PREFIX = Buffer.from("entire-asset:assets/");
const PLACEHOLDER = /entire-asset:assets\/(img-[0-9a-f]{1,64}\.[a-z0-9]{1,8})/g;

/** Returns the distinct names of the images that a transcript references. */
export function assetsNamedIn(bytes: Uint8Array): string[] {
  if (asBuffer(bytes).indexOf(PREFIX) < 0) return [];
  const found = asBuffer(bytes).toString("latin1").matchAll(PLACEHOLDER);
  return [...new Set([...found].map((match) => match[1] ?? ""))];
}

/** Placeholders without an image stay. */
export function withAssets(bytes: Uint8Array, images: ReadonlyMap<string, Uint8Array>): Uint8Array {
  if (images.size === 0) return bytes;
  const text = asBuffer(bytes).toString("latin1");
  const restored = text.replace(PLACEHOLDER, (placeholder, name: string) => {
    const image = images.get(name);
    return image ? asBuffer(image).toString("base64") : placeholder;
  });
  return Buffer.from(restored, "latin1");
}
