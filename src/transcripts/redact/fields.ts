/** Classifies a value by its JSON key: opaque data that must not change, an id, or a secret. */
import { ALPHANUMERIC, byteSet } from "./bytes.ts";
import { LISTS_CODES } from "./find/codes.ts";
import { beginsText } from "./find/encoded.ts";
import { DECLARES } from "./find/manifests.ts";
import { kindOfKey, type NameKind } from "./find/names.ts";
import type { Rule } from "./rules.ts";
import { rulesNear } from "./scan.ts";

const BASE64 = byteSet(`${ALPHANUMERIC}+/=_-`);
/** Shorter values are scanned whatever their key is. */
const OPAQUE_LENGTH = 64;
const MAX_KEYS = 10_000;

export type Field = "opaque" | "id" | "text";

export interface Key {
  text: string;
  field: Field;
  /** Whether the key means that its value is a secret or contains one. */
  secret: SecretKind | undefined;
  /** The key looks like an environment variable. */
  constant: boolean;
  /** The rules of services that the key names. */
  near: readonly Rule[];
  /** What the key says about its object, or about the list that follows. */
  declares: "secrets" | "codes" | undefined;
}

export type SecretKind = NameKind | "cookie" | "authorization";

export const NO_KEY: Key = {
  text: "",
  field: "text",
  secret: undefined,
  constant: false,
  near: [],
  declares: undefined,
};

/** Caches the meaning of keys, because a transcript has a few dozen keys and millions of values. */
export class Keys {
  readonly #known = new Map<number, Key>();
  readonly #rules: readonly Rule[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  of(bytes: Buffer, start: number, end: number): Key {
    let hash = end - start;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    const known = this.#known.get(hash);
    if (known && isText(bytes, start, end, known.text)) return known;
    const key = this.#named(bytes.toString("latin1", start, end));
    if (this.#known.size < MAX_KEYS) this.#known.set(hash, key);
    return key;
  }

  #named(text: string): Key {
    const secret = headerOf(text) ?? kindOfKey(text);
    const isText = secret === "session" || /^private_?key_?id$/i.test(text);
    const near = rulesNear(this.#rules, text);
    const declares = DECLARES.test(text) ? "secrets" : LISTS_CODES.test(text) ? "codes" : undefined;
    const constant = /^[A-Z][A-Z0-9_]*$/.test(text);
    return { text, field: isText ? "text" : fieldOf(text), secret, constant, near, declares };
  }
}

function headerOf(key: string): SecretKind | undefined {
  if (/^(?:set-)?cookies?$/i.test(key)) return "cookie";
  return /^(?:proxy-)?authorization$/i.test(key) ? "authorization" : undefined;
}

function isText(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

function fieldOf(key: string): Field {
  if (
    /^(?:data|signature|(?:thought|reasoning)_?signature|encrypted_?content|encrypted_?\w*|blob|base64|bytes|image_?data)$/i.test(
      key,
    )
  )
    return "opaque";
  if (/(?:^|[a-z_.-])(?:ID|Id|id|ids|Ids)$|^(?:access_?key_?id)$/.test(key) && !/access_?key/i.test(key)) return "id";
  if (/(?:uuid|guid|hash|sha\d*|digest|checksum|fingerprint|etag|integrity|commit|oid|cursor)s?$/i.test(key))
    return "id";
  if (/^(?:timestamp|cwd|version|model|gitBranch|slug|ref|head|tree|parent|snapshot)$/.test(key)) return "id";
  return "text";
}

/** True if the value is only base64, and not of text. */
export function isOpaque(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < OPAQUE_LENGTH || beginsText(bytes, start)) return false;
  for (let i = start; i < end; i++) if (BASE64[bytes[i] as number] !== 1) return false;
  return true;
}
