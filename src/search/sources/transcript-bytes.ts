/** Reads the bytes of a transcript: of the agent's own file, or of a stored copy. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The bytes of a transcript. */
export interface TranscriptBytes {
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** Our copy of the agent's file, which may be longer. */
  isCopy: boolean;
  read(from: number, to: number): Buffer;
  close(): void;
}

/** Opens an agent's file; undefined if it does not exist or is not a file. */
export function openTranscriptFile(path: string): TranscriptBytes | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  const stat = fstatSync(fd);
  if (!stat.isFile()) {
    closeSync(fd);
    return undefined;
  }
  return {
    size: stat.size,
    modified: stat.mtimeMs,
    isCopy: false,
    close: () => closeSync(fd),
    read(from, to) {
      const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
      let length = 0;
      while (length < buffer.length) {
        const count = readSync(fd, buffer, length, buffer.length - length, from + length);
        if (count === 0) break;
        length += count;
      }
      return buffer.subarray(0, length);
    },
  };
}

export function storedTranscript(data: Buffer, modified: number): TranscriptBytes {
  return { size: data.length, modified, isCopy: true, read: (from, to) => data.subarray(from, to), close: () => {} };
}
