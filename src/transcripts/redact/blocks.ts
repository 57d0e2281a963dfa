/** Secrets with a form of their own: private keys between their markers, passwords in addresses, `Bearer …`. */
import { ALPHANUMERIC, byteSet, isSpace } from "./bytes.ts";
import { entropyOf, isStandIn, isWordy, makeOf } from "./value.ts";

export interface Span {
  start: number;
  end: number;
}

const LONGEST_KEY = 20_000;
const LONGEST_LOGIN = 300;

/**
 * Remembers where the next end marker is: a text of nothing but begin markers would otherwise be searched to its
 * end for each.
 */
export class PrivateKeys {
  /** So many bytes were searched. */
  work = 0;
  #searched = -1;
  #end = -1;

  /** The whole block whose `-----BEGIN` begins at `start`. */
  at(bytes: Buffer, start: number, to: number): Span | undefined {
    const header = bytes.toString("latin1", start, Math.min(to, start + 80));
    const marker = /^-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY( BLOCK)?-----/.exec(header);
    if (!marker) return undefined;
    const body = start + marker[0].length;
    const end = this.#endFrom(bytes, body, to);
    if (end >= 0 && end - body <= LONGEST_KEY) {
      const close = bytes.subarray(end + 8, Math.min(to, end + 80)).indexOf("-----");
      const stop = close < 0 ? Math.min(to, end + 8) : end + 8 + close + 5;
      return end - body < 16 ? undefined : { start, end: stop };
    }
    return this.#cutOff(bytes, start, body, to);
  }

  #endFrom(bytes: Buffer, body: number, to: number): number {
    if (this.#searched < 0 || body < this.#searched || (this.#end >= 0 && body > this.#end)) {
      const found = bytes.subarray(body, to).indexOf("-----END");
      this.#searched = body;
      this.#end = found < 0 ? -1 : body + found;
      this.work += (found < 0 ? to : this.#end) - body;
    }
    return this.#end;
  }

  /** A block that lost its end: as far as it looks like one. */
  #cutOff(bytes: Buffer, start: number, body: number, to: number): Span | undefined {
    const limit = Math.min(to, body + LONGEST_KEY);
    let end = body;
    while (end < limit && (BODY[bytes[end] as number] === 1 || isSpace(bytes[end]))) end++;
    while (end > body && isSpace(bytes[end - 1])) end--;
    return end - body < 40 ? undefined : { start, end };
  }
}

const BODY = byteSet(`${ALPHANUMERIC}+/=\\`);

/** The password of `scheme://user:password@host` whose `://` ends at `at`, or a token that stands for the user. */
export function loginInAddress(bytes: Buffer, at: number, to: number): Span | undefined {
  const limit = Math.min(to, at + LONGEST_LOGIN);
  let colon = -1;
  let end = at;
  for (; end < limit; end++) {
    const byte = bytes[end] as number;
    if (byte === 0x40) break;
    if (byte === 0x3a && colon < 0) colon = end;
    if (byte <= 0x20 || byte === 0x2f || byte === 0x22 || byte === 0x27 || byte === 0x3c || byte === 0x3e)
      return undefined;
    if (byte === 0x60 || byte === 0x5c || byte === 0x3f || byte === 0x23) return undefined;
  }
  if (end >= limit || end === at) return undefined;
  const start = colon < 0 ? at : colon + 1;
  const value = bytes.toString("utf8", start, end);
  if (isStandIn(value)) return undefined;
  if (colon >= 0) return end - start >= 3 && !/^[\w-]*pass(?:word)?$/i.test(value) ? { start, end } : undefined;
  const { digits, length } = makeOf(bytes, start, end);
  return length >= 20 && digits >= 2 && !isWordy(value) ? { start, end } : undefined;
}

/** The password of `-u name:password` whose option ends at `at`. Numbers and names are users and their groups. */
export function loginInOption(bytes: Buffer, at: number, to: number): Span | undefined {
  const text = bytes.toString("latin1", at, Math.min(to, at + LONGEST_LOGIN));
  const login = /^["']?([\w.@+-]{1,64}):([^\s"'`\\]{4,128})/.exec(text);
  if (!login) return undefined;
  const [whole, , password = ""] = login;
  if (isStandIn(password) || !/[A-Za-z]/.test(password) || !/[^A-Za-z_-]/.test(password)) return undefined;
  return { start: at + whole.length - password.length, end: at + whole.length };
}

/** The credentials behind `Bearer ` or `Basic ` that ends at `at`. */
export function credentialsAfter(bytes: Buffer, at: number, to: number): Span | undefined {
  const limit = Math.min(to, at + 4096);
  let end = at;
  while (end < limit && CREDENTIALS[bytes[end] as number] === 1) end++;
  const make = makeOf(bytes, at, end);
  if (make.length < 16 || make.digits < 1) return undefined;
  const value = bytes.toString("latin1", at, end);
  if (isStandIn(value) || isWordy(value) || entropyOf(bytes, at, end) < 3) return undefined;
  return { start: at, end };
}

const CREDENTIALS = byteSet(`${ALPHANUMERIC}-_.~+/=`);
