/** Finds secrets with a special format: private keys between their markers, passwords in addresses, `Bearer …`. */
import { ALPHANUMERIC, byteSet, isSpace } from "../bytes.ts";
import { entropyOf, isStandIn, isWordy, makeOf } from "./value.ts";

export interface Span {
  start: number;
  end: number;
}

const MAX_KEY = 20_000;
const MAX_LOGIN = 300;

/**
 * Remembers the next end marker. Otherwise a text that consists only of begin markers would be searched to its end for
 * each of them.
 */
export class PrivateKeys {
  /** The number of bytes that were searched. */
  work = 0;
  #searched = -1;
  #end = -1;

  /** The whole block whose `-----BEGIN` begins at `start`. */
  at(bytes: Buffer, start: number, to: number): Span | undefined {
    const header = bytes.toString("latin1", start, Math.min(to, start + 80));
    const marker =
      /^-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY( BLOCK)?-----|^---- BEGIN SSH2 ([A-Z]{0,20} ?)PRIVATE KEY ----/.exec(
        header,
      );
    if (!marker) return undefined;
    const body = start + marker[0].length;
    const end = this.#endFrom(bytes, body, to);
    if (end >= 0 && end - body <= MAX_KEY) {
      const close = bytes.subarray(end + 8, Math.min(to, end + 80)).indexOf("-----");
      const stop = close < 0 ? Math.min(to, end + 8) : end + 8 + close + 5;
      return end - body < 16 ? undefined : { start, end: stop };
    }
    return this.#cutOff(bytes, start, body, to);
  }

  #endFrom(bytes: Buffer, body: number, to: number): number {
    if (this.#searched < 0 || body < this.#searched || (this.#end >= 0 && body > this.#end)) {
      const found = endMarkerIn(bytes.subarray(body, to));
      this.#searched = body;
      this.#end = found < 0 ? -1 : body + found;
      this.work += (found < 0 ? to : this.#end) - body;
    }
    return this.#end;
  }

  /** A block without an end marker: extends as far as the text looks like one. */
  #cutOff(bytes: Buffer, start: number, body: number, to: number): Span | undefined {
    const limit = Math.min(to, body + MAX_KEY);
    let end = body;
    while (end < limit && (BODY[bytes[end] as number] === 1 || isSpace(bytes[end]))) end++;
    while (end > body && isSpace(bytes[end - 1])) end--;
    return end - body < 40 ? undefined : { start, end };
  }
}

/** An end marker of either kind; `-----END` is by far the more frequent. */
function endMarkerIn(text: Buffer): number {
  const found = text.indexOf("-----END");
  return found >= 0 ? found : text.indexOf("---- END");
}

const BODY = byteSet(`${ALPHANUMERIC}+/=\\`);

/** The password of `scheme://user:password@host` whose `://` ends at `at`, or a token in place of the user. */
export function loginInAddress(bytes: Buffer, at: number, to: number): Span | undefined {
  const limit = Math.min(to, at + MAX_LOGIN);
  let colon = -1;
  let sign = -1;
  for (let end = at; end < limit; end++) {
    const byte = bytes[end] as number;
    // A password may contain an `@`: the last one counts.
    if (byte === 0x40) sign = end;
    if (byte === 0x3a && colon < 0) colon = end;
    if (byte <= 0x20 || byte === 0x2f || byte === 0x22 || byte === 0x27 || byte === 0x3c || byte === 0x3e) break;
    if (byte === 0x60 || byte === 0x5c || byte === 0x3f || byte === 0x23 || byte === 0x2c) break;
  }
  if (sign <= at) return undefined;
  if (colon > sign) colon = -1;
  const start = colon < 0 ? at : colon + 1;
  const value = bytes.toString("utf8", start, sign);
  if (isStandIn(value)) return undefined;
  if (colon >= 0) return sign - start >= 3 && !/^[\w-]*pass(?:word)?$/i.test(value) ? { start, end: sign } : undefined;
  const { digits, length } = makeOf(bytes, start, sign);
  return length >= 20 && digits >= 2 && !isWordy(value) ? { start, end: sign } : undefined;
}

/** The password of `-u name:password` whose option ends at `at`. Plain numbers or names are a user and a group. */
export function loginInOption(bytes: Buffer, at: number, to: number): Span | undefined {
  const text = bytes.toString("latin1", at, Math.min(to, at + MAX_LOGIN));
  const login = /^["']?([\w.@+-]{1,64}):([^\s"'`\\]{4,128})/.exec(text);
  if (!login) return undefined;
  const [whole, , password = ""] = login;
  if (isStandIn(password) || !/[A-Za-z]/.test(password) || !/[^A-Za-z_-]/.test(password)) return undefined;
  return { start: at + whole.length - password.length, end: at + whole.length };
}

/** The credentials after `Bearer ` or `Basic ` between `start` and `at`. */
export function credentialsAfter(bytes: Buffer, start: number, at: number, to: number): Span | undefined {
  const end = endOfCredentials(bytes, at, to);
  const isBasic = at - start === 6;
  if (isBasic && isNameAndPassword(bytes.toString("latin1", at, end))) return { start: at, end };
  return isCredential(bytes, at, end) ? { start: at, end } : undefined;
}

/** The credentials after `Authorization: `, of any scheme. */
export function authorizationAfter(bytes: Buffer, at: number, to: number): Span | undefined {
  const text = bytes.toString("latin1", at, Math.min(to, at + 60));
  const head = /^(?:\\*["'])?\]? ?(?:[:=]|=>|,) ?(?:\\*["'`])?/.exec(text);
  return head ? authorizationAt(bytes, at + head[0].length, to) : undefined;
}

/** The credentials of a header's value that begins at `at`. */
export function authorizationAt(bytes: Buffer, at: number, to: number): Span | undefined {
  const scheme = /^(?:([A-Za-z][\w-]{2,20})[ =]+)?/.exec(bytes.toString("latin1", at, Math.min(to, at + 30)));
  const start = at + (scheme?.[0].length ?? 0);
  const end = endOfCredentials(bytes, start, to);
  const isBasic = scheme?.[1]?.toLowerCase() === "basic";
  if (isBasic && isNameAndPassword(bytes.toString("latin1", start, end))) return { start, end };
  return isCredential(bytes, start, end) ? { start, end } : undefined;
}

function endOfCredentials(bytes: Uint8Array, at: number, to: number): number {
  const limit = Math.min(to, at + 4096);
  let end = at;
  while (end < limit && CREDENTIALS[bytes[end] as number] === 1) end++;
  return end;
}

function isCredential(bytes: Buffer, start: number, end: number): boolean {
  const make = makeOf(bytes, start, end);
  if (make.length < 16 || make.digits < 1) return false;
  const value = bytes.toString("latin1", start, end);
  return !isStandIn(value) && !isWordy(value) && entropyOf(bytes, start, end) >= 3;
}

/** Base64 of `name:password`. */
function isNameAndPassword(value: string): boolean {
  if (value.length < 8 || value.length > 400 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return false;
  return /^[\x21-\x7e]{1,100}:[\x20-\x7e]{3,200}$/.test(Buffer.from(value, "base64").toString("latin1"));
}

const CREDENTIALS = byteSet(`${ALPHANUMERIC}-_.~+/=`);

/** The lines after `Private-Lines: ` in a PuTTY key. */
export function puttyKey(bytes: Buffer, at: number, to: number): Span | undefined {
  const text = bytes.toString("latin1", at, Math.min(to, at + MAX_KEY));
  const lines = /^\d{1,3}((?:(?:\\+[nr]|\s)+[A-Za-z0-9+/=]{4,76}(?![\w:-])){1,200})/.exec(text);
  if (!lines) return undefined;
  const body = (lines[1] ?? "").replace(/^(?:\\+[nr]|\s)+/, "");
  return { start: at + lines[0].length - body.length, end: at + lines[0].length };
}

/** The secret of `otpauth://…?secret=…` whose scheme ends at `at`. */
export function oneTimeSecret(bytes: Buffer, at: number, to: number): Span | undefined {
  const match = /^[^\s"'<>\\]{1,300}?[?&]secret=([A-Za-z2-7]{8,128})/.exec(
    bytes.toString("latin1", at, Math.min(to, at + 440)),
  );
  return match ? { start: at + match[0].length - (match[1] ?? "").length, end: at + match[0].length } : undefined;
}

const JWK_WINDOW = 4_000;

/** The private parts of a key in JSON (RFC 7517) around `"kty"`, and the end of the text that was searched. */
export function jwkParts(bytes: Buffer, from: number, at: number, to: number): { spans: Span[]; end: number } {
  const start = Math.max(from, at - JWK_WINDOW);
  const end = Math.min(to, at + JWK_WINDOW);
  const spans: Span[] = [];
  for (const match of bytes
    .toString("latin1", start, end)
    .matchAll(/"(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([\w-]{32,})/g)) {
    const last = start + match.index + match[0].length;
    spans.push({ start: last - (match[1] ?? "").length, end: last });
  }
  return { spans, end };
}

/** `MTk4….Cl2FMQ.ZnCj…`: the id of a bot (which is the run from `start` to `end`), a time and a signature. */
export function discordToken(bytes: Buffer, start: number, end: number, to: number): Span | undefined {
  const first = bytes[start];
  if (end - start < 23 || end - start > 28 || (first !== 0x4d && first !== 0x4e && first !== 0x4f)) return undefined;
  if (bytes[end] !== 0x2e || end >= to) return undefined;
  const rest = /^\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/.exec(bytes.toString("latin1", end, Math.min(to, end + 52)));
  return rest ? { start, end: end + rest[0].length } : undefined;
}

/** The password of a line of `.pgpass`, `host:5432:database:user:password`, whose port ends at `at`. */
export function lastOfPgpass(bytes: Buffer, at: number, to: number): Span | undefined {
  const text = bytes.toString("latin1", at, Math.min(to, at + MAX_LOGIN));
  const match = /^[^:\s"'\\]{1,64}:[^:\s"'\\]{1,64}:([^\s"'\\]{4,128})/.exec(text);
  const value = match?.[1] ?? "";
  return match && !isStandIn(value)
    ? { start: at + match[0].length - value.length, end: at + match[0].length }
    : undefined;
}
