/** Damage: what a crash, a broken tool or an attacker does to bytes and to JSON. */
import type { Random } from "./random.ts";

/** As deep as no parser's stack is. */
const DEPTH = 100_000;
const DEEP_MARK = "\u0001deep\u0001";
const LARGEST = 4 << 20;

/** Texts that have broken programs before. */
const TEXTS: readonly string[] = [
  "",
  "\0",
  "\u001b]0;title\u0007\u001b[2J",
  "\u202egnp.exe",
  "a\r\nb\u2028c\u2029d\u0085e",
  "../../../../etc/passwd",
  "/etc/passwd",
  "~/.ssh/id_rsa",
  "--upload-pack=touch /tmp/x",
  "-rf",
  "$(touch /tmp/x)`touch /tmp/x`;|&",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "refs/heads/../../x.lock",
  "HEAD",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "[secret:password:1]",
  "%s%n%x",
  "9".repeat(400),
  "a".repeat(70_000),
  "<".repeat(5_000),
  " ".repeat(20_000),
  "\\".repeat(3_001),
  '"'.repeat(999),
  "é".repeat(5_000),
];

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  -0.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  { length: -1 },
  { toString: 2, valueOf: 3, toJSON: 4 },
  DEEP_MARK,
];

/** Damages bytes in a few places. */
export function damaged(random: Random, bytes: Uint8Array, others: readonly Uint8Array[] = []): Buffer {
  let result: Buffer = Buffer.from(bytes);
  for (let hits = 1 + random.below(4); hits > 0; hits--) result = hit(random, result, others);
  return result.length > LARGEST ? result.subarray(0, LARGEST) : result;
}

function hit(random: Random, bytes: Buffer, others: readonly Uint8Array[]): Buffer {
  const at = random.below(bytes.length + 1);
  const length = Math.min(bytes.length - at, 1 + random.below(random.once(3) ? 4_096 : 16));
  const [before, middle, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)];
  switch (random.below(10)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, middle, middle, after]);
    case 3: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = random.below(256);
      return copy;
    }
    case 4:
      return Buffer.concat([before, Buffer.from(random.pick(TEXTS)), after]);
    case 5:
      return Buffer.concat([
        before,
        Buffer.from(random.pick(['"', "\\", "{", "}", "[", "]", ",", "\n", "\r", ":"])),
        after,
      ]);
    case 6:
      return Buffer.concat([before, Buffer.alloc(1 + random.below(64), random.below(256)), after]);
    case 7:
      return others.length > 0 ? Buffer.concat([before, random.pick(others), after]) : before;
    case 8:
      return Buffer.concat([before, Buffer.from(random.pick(["[", '{"a":']).repeat(DEPTH)), after]);
    default:
      return swappedLines(random, bytes);
  }
}

function swappedLines(random: Random, bytes: Buffer): Buffer {
  const lines = bytes.toString("latin1").split("\n");
  const [a, b] = [random.below(lines.length), random.below(lines.length)];
  const kept = lines[a] ?? "";
  lines[a] = lines[b] ?? "";
  lines[b] = kept;
  return Buffer.from(lines.join("\n"), "latin1");
}

/** A JSON text that is still one, with values where nobody expects them. */
export function damagedJson(random: Random, text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return damaged(random, Buffer.from(text)).toString("utf8");
  }
  const holder = { value };
  for (let hits = 1 + random.below(3); hits > 0; hits--) damageNode(random, holder);
  try {
    const result = JSON.stringify(holder.value) ?? "null";
    if (result.length > LARGEST) return result.slice(0, LARGEST);
    return result.replace(JSON.stringify(DEEP_MARK), () => deep(random));
  } catch {
    // Too deep already.
    return text;
  }
}

/** One line of JSONL damaged as JSON, the others as they are. */
export function damagedLines(random: Random, bytes: Uint8Array): Buffer {
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  for (let hits = 1 + random.below(4); hits > 0; hits--) {
    const at = random.below(lines.length);
    lines[at] = damagedJson(random, lines[at] ?? "");
  }
  return Buffer.from(lines.join("\n"));
}

function damageNode(random: Random, root: { value: unknown }): void {
  let holder: Record<string, unknown> = root;
  let key = "value";
  for (;;) {
    const child = holder[key];
    if (typeof child !== "object" || child === null || random.once(5)) break;
    const keys = Object.keys(child);
    if (keys.length === 0) break;
    holder = child as Record<string, unknown>;
    key = random.pick(keys);
  }
  switch (random.below(6)) {
    case 0:
      define(holder, key, random.pick(VALUES));
      return;
    case 1:
      define(holder, key, random.pick(TEXTS));
      return;
    case 2:
      if (holder !== root) delete holder[key];
      return;
    case 3:
      if (holder !== root) define(holder, random.pick(TEXTS), holder[key]);
      return;
    case 4:
      define(
        holder,
        key,
        Array.from({ length: 1 + random.below(random.once(5) ? 500 : 5) }, () => holder[key]),
      );
      return;
    default:
      if (holder !== root)
        define(holder, "__proto__", { polluted: true, constructor: { prototype: { polluted: true } } });
  }
}

/** An own property, whatever it is called. */
function define(holder: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function deep(random: Random): string {
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
  ] as const);
  return `${open.repeat(DEPTH)}1${close.repeat(DEPTH)}`;
}
