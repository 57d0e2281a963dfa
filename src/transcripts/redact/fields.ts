/** What a JSON key says about its value: opaque data that must stay as it is, an id, or a secret's name. */
import { kindOfKey, type NameKind } from "./assignment.ts";
import { ALPHANUMERIC, byteSet } from "./bytes.ts";

const BASE64 = byteSet(`${ALPHANUMERIC}+/=_-`);
/** Shorter values are looked at whatever their key is called. */
const OPAQUE_LENGTH = 64;
const MOST_KEYS = 10_000;

export type Field = "opaque" | "id" | "text";

export interface Key {
  text: string;
  field: Field;
  /** Whether the key says that its value is a secret. */
  secret: NameKind | undefined;
}

export const NO_KEY: Key = { text: "", field: "text", secret: undefined };

/** A transcript has a few dozen keys and millions of values: what a key means is found out once. */
export class Keys {
  readonly #known = new Map<number, Key>();

  of(bytes: Buffer, start: number, end: number): Key {
    let hash = end - start;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    const known = this.#known.get(hash);
    if (known && isText(bytes, start, end, known.text)) return known;
    const key = keyOf(bytes.toString("latin1", start, end));
    if (this.#known.size < MOST_KEYS) this.#known.set(hash, key);
    return key;
  }
}

export function keyOf(text: string): Key {
  return { text, field: fieldOf(text), secret: kindOfKey(text) };
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

/** Base64 and nothing else, and not a private key in base64. */
export function isOpaque(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < OPAQUE_LENGTH || bytes.toString("latin1", start, start + 14) === "LS0tLS1CRUdJTi") return false;
  for (let i = start; i < end; i++) if (BASE64[bytes[i] as number] !== 1) return false;
  return true;
}
