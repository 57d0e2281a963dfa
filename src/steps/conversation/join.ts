/** Joins conversations of many small files, and compresses files that hooks left uncompressed. Runs in the worker. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import { sessionLock } from "../session-tree.ts";
import { conversationDirectory, conversationKeys, readSegments, rewriteStream } from "./files.ts";

/** Each file takes at least one disk block and costs one read. */
const MANY_SEGMENTS = 64;
const LARGE_FILE = 1 << 20;

export function joinConversations(workspace: Workspace): void {
  for (const key of conversationKeys(workspace)) {
    const directory = conversationDirectory(workspace, key);
    for (const { stream, generation, folder } of streamsIn(directory)) {
      if (!isWorthJoining(folder)) continue;
      const lock = tryAcquire(sessionLock(workspace, key));
      if (!lock) break;
      try {
        const segments = readSegments(directory, stream, generation, Number.POSITIVE_INFINITY);
        // Keep a damaged file unchanged: it may still be recoverable.
        if (segments.every(({ data }) => data !== undefined)) rewriteStream(directory, stream, generation, segments);
      } finally {
        lock.release();
      }
    }
  }
}

function streamsIn(directory: string): { stream: string; generation: number; folder: string }[] {
  const streams = ["transcript", ...namesIn(join(directory, "tasks")).map((task) => `tasks/${task}`)];
  return streams.flatMap((stream) =>
    namesIn(join(directory, stream)).map((name) => ({
      stream,
      generation: Number(name),
      folder: join(directory, stream, name),
    })),
  );
}

function isWorthJoining(folder: string): boolean {
  const names = namesIn(folder);
  return names.length > MANY_SEGMENTS || names.some((name) => isUncompressed(join(folder, name)));
}

/** Checks the type of the first deflate block. */
function isUncompressed(file: string): boolean {
  if (statSync(file).size < LARGE_FILE) return false;
  const start = Buffer.alloc(3);
  const fd = openSync(file, "r");
  try {
    readSync(fd, start, 0, start.length, 0);
  } finally {
    closeSync(fd);
  }
  return ((start[2] ?? 0) & 0b110) === 0;
}
