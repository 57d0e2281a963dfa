/**
 * Asks one question on the terminal itself, with a timeout, for a git hook, whose standard streams are not the user's.
 */
import { closeSync, openSync, read, writeSync } from "node:fs";

/** Null if there is no terminal, or no answer in time. */
export async function askTerminal(question: string, seconds: number): Promise<boolean | null> {
  let fd: number;
  try {
    fd = openSync("/dev/tty", "r+");
  } catch {
    return null;
  }
  writeSync(fd, `${question} [Y/n] `);
  const answer = await Promise.race([line(fd), silence(seconds)]);
  if (answer !== null) {
    closeSync(fd);
    return !/^\s*n/i.test(answer);
  }
  // A read of the terminal is still pending; it ends with this process.
  writeSync(fd, "yes\n");
  return null;
}

function line(fd: number): Promise<string> {
  return new Promise((resolve) => {
    read(fd, Buffer.alloc(256), 0, 256, null, (error, size, buffer) =>
      resolve(error ? "" : buffer.toString("utf8", 0, size)),
    );
  });
}

function silence(seconds: number): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), seconds * 1000);
  });
}
