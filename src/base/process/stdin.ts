/** Reads a hook's payload from standard input, within limits of time and size. */
import { fstatSync } from "node:fs";
import { standardInput } from "../runtime.ts";

/** Maximum wait for a caller that never closes standard input. */
const MAX_MS = 3_000;
const MAX_BYTES = 512 << 20;

/** Maximum wait if the payload may be an argument: a caller that uses standard input has written by then. */
const MAX_BESIDE_ARGUMENT_MS = 100;

/** Returns "" if standard input is a terminal or empty. Standard input takes precedence over a payload argument. */
export async function readInput(lastArgument: string | undefined): Promise<string> {
  if (isDevice()) return "";
  const longest = lastArgument?.trimStart().startsWith("{") ? MAX_BESIDE_ARGUMENT_MS : MAX_MS;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = standardInput().getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), longest);
  });
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), timeUp]);
      if (next?.value === undefined) break;
      chunks.push(next.value);
      size += next.value.length;
      if (size > MAX_BYTES) break;
    }
  } catch {
    // A closed or unreadable standard input counts as empty.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** True for a terminal or /dev/null. `process.stdin` would load its streams, which takes longer than the rest. */
function isDevice(): boolean {
  try {
    return fstatSync(0).isCharacterDevice();
  } catch {
    return true;
  }
}
