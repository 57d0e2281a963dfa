/**
 * Converts between file names, which are bytes, and strings. A byte that is not valid UTF-8 becomes a lone surrogate
 * (U+DC80 to U+DCFF), which valid text never contains, so every name survives strings and JSON.
 */
const STRAY = /[\udc80-\udcff]/;

export function decodePath(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  if (!text.includes("\ufffd") || Buffer.from(text, "utf8").equals(buffer)) return text;
  let result = "";
  for (let i = 0; i < buffer.length; ) {
    const length = sequenceLength(buffer, i);
    if (length === 0) {
      result += String.fromCharCode(0xdc00 + (buffer[i] ?? 0));
      i++;
    } else {
      result += buffer.toString("utf8", i, i + length);
      i += length;
    }
  }
  return result;
}

export function encodePath(path: string): Buffer {
  if (!STRAY.test(path)) return Buffer.from(path, "utf8");
  const parts: Buffer[] = [];
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character, "utf8"));
  }
  return Buffer.concat(parts);
}

/** The parent of a path relative to the root; "." for the root. The runtime's `dirname` would lose stray bytes. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : path.slice(0, slash);
}

/** All parent directories of these paths, including the root. */
export function directoriesAbove(paths: Iterable<string>): Set<string> {
  const directories = new Set<string>();
  for (const path of paths) {
    for (let at = parentOf(path); !directories.has(at); at = parentOf(at)) directories.add(at);
  }
  return directories;
}

/** Joins `root` and `path` for node:fs: as text if possible, otherwise as bytes. */
export function onDisk(root: string, path: string): string | Buffer {
  if (!STRAY.test(path)) return `${root}/${path}`;
  return Buffer.concat([Buffer.from(`${root}/`, "utf8"), encodePath(path)]);
}

/** Length of the valid UTF-8 sequence at `i`, or 0. */
function sequenceLength(bytes: Buffer, i: number): number {
  const first = bytes[i] ?? 0;
  const length =
    first < 0x80
      ? 1
      : first >= 0xc2 && first < 0xe0
        ? 2
        : first >= 0xe0 && first < 0xf0
          ? 3
          : first >= 0xf0 && first < 0xf5
            ? 4
            : 0;
  if (length === 0 || i + length > bytes.length) return 0;
  for (let k = 1; k < length; k++) if (((bytes[i + k] ?? 0) & 0xc0) !== 0x80) return 0;
  const piece = bytes.subarray(i, i + length);
  return Buffer.from(piece.toString("utf8"), "utf8").equals(piece) ? length : 0;
}

/** Splits git's `-z` output into fields; each ends with a NUL. */
export function splitAtNul(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    fields.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return fields;
}
