import { fstatSync } from "node:fs";

/** Standard input of a hook: read to its end, but never waited for longer than a broken caller deserves. */
const LONGEST_MS = 3_000;
const MAX_BYTES = 512 << 20;

/** Empty where the payload is an argument, or standard input is a terminal or never ends. */
export async function readInput(lastArgument: string | undefined): Promise<string> {
  if (lastArgument?.trimStart().startsWith("{") || isDevice()) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = Bun.stdin.stream().getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LONGEST_MS);
  });
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), timeUp]);
      if (next === undefined || next.done) break;
      chunks.push(next.value);
      size += next.value.length;
      if (size > MAX_BYTES) break;
    }
  } catch {
    // A closed or unreadable standard input holds nothing.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A terminal, or /dev/null. Asking `process.stdin` would load its streams, which takes longer than the rest. */
function isDevice(): boolean {
  try {
    return fstatSync(0).isCharacterDevice();
  } catch {
    return true;
  }
}
