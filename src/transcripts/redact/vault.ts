/**
 * The map from placeholders to secrets, encrypted in the user's data directory: one file a store, one line a secret,
 * only ever added to. docs/formats/placeholders.md describes it.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { chmodSync, closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, UserError } from "../../base/errors.ts";
import { makeDirectory, readText, writeAll, writeFileAtomic } from "../../base/files.ts";
import { type Lock, tryAcquire } from "../../base/lock.ts";
import { dataDirectory } from "../../base/paths.ts";
import { type Placeholders, PlaceholderTable, type Secret } from "./placeholders.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const ID_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WAIT_MS = 5_000;
const POLL_MS = 5;
const FRESH_MS = 100;

/** The map of a store (a workspace's `storeDir`). Nothing is written before there is a secret. */
export function openVault(storeDir: string, directory: string = join(dataDirectory(), "redaction")): Placeholders {
  return new Vault(directory, join(storeDir, "redaction-id"));
}

/** The values of these placeholders are gone for good; their numbers stay taken. */
export function forgetSecrets(
  storeDir: string,
  placeholders: readonly string[],
  directory: string = join(dataDirectory(), "redaction"),
): void {
  if (placeholders.length > 0) new Vault(directory, join(storeDir, "redaction-id")).forget(new Set(placeholders));
}

class Vault implements Placeholders {
  readonly #directory: string;
  /** Names the store's map, so that a repository that is moved keeps it. */
  readonly #idFile: string;
  #id: string | undefined;
  readonly #table = new PlaceholderTable();
  /** So much of the file has been read. */
  #read = 0;
  #readAt = 0;

  constructor(directory: string, idFile: string) {
    this.#directory = directory;
    this.#idFile = idFile;
    this.#readOn();
  }

  valueOf(placeholder: string): string | undefined {
    const value = this.#table.valueOf(placeholder);
    // Another process may have added it. A text full of unknown ones must not have the file read for each.
    if (value !== undefined || performance.now() - this.#readAt < FRESH_MS) return value;
    this.#readOn();
    return this.#table.valueOf(placeholder);
  }

  assign(secrets: readonly Secret[]): string[] {
    if (secrets.some((secret) => this.#table.find(secret) === undefined)) this.#add(secrets);
    return this.#table.assign(secrets);
  }

  forget(placeholders: ReadonlySet<string>): void {
    const lock = this.#lock();
    try {
      const text = this.#storeId() === undefined ? undefined : readText(this.#file());
      if (text === undefined) return;
      const lines = text.split("\n").map((line) => {
        const entry = parsed(line);
        if (!entry || !placeholders.has(entry.placeholder)) return line;
        // Of the same length: whoever has read so far goes on reading at the right place.
        return JSON.stringify({ v: 1, ...entry, sealed: "A".repeat(entry.sealed.length) });
      });
      writeFileAtomic(this.#file(), lines.join("\n"), { sync: true });
    } finally {
      lock.release();
    }
  }

  /** Under the lock, so that two processes never give one number to two secrets; on the disk before it is used. */
  #add(secrets: readonly Secret[]): void {
    const lock = this.#lock();
    try {
      if (this.#storeId() === undefined)
        writeFileAtomic(this.#idFile, `${randomBytes(ID_BYTES).toString("hex")}\n`, { sync: true });
      this.#readOn();
      const key = this.#key(true);
      const lines: string[] = [];
      for (const secret of secrets) {
        if (this.#table.find(secret) !== undefined) continue;
        lines.push(this.#seal(key, this.#table.add(secret), secret));
      }
      if (lines.length > 0) this.#append(lines);
    } finally {
      lock.release();
    }
  }

  #append(lines: string[]): void {
    const fd = openSync(this.#file(), "a+", 0o600);
    try {
      const { size } = fstatSync(fd);
      // A line that a killed process left half written must not swallow the next one.
      const text = `${size > 0 && lastByte(fd, size) !== 10 ? "\n" : ""}${lines.join("\n")}\n`;
      writeAll(fd, Buffer.from(text));
      fsyncSync(fd);
      this.#read = size + Buffer.byteLength(text);
    } finally {
      closeSync(fd);
    }
  }

  #readOn(): void {
    this.#readAt = performance.now();
    if (this.#storeId() === undefined) return;
    let fd: number;
    try {
      fd = openSync(this.#file(), "r");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      throw error;
    }
    try {
      const { size } = fstatSync(fd);
      if (size <= this.#read) return;
      const bytes = Buffer.alloc(size - this.#read);
      const count = readSync(fd, bytes, 0, bytes.length, this.#read);
      const end = bytes.subarray(0, count).lastIndexOf(10) + 1;
      const key = this.#key(false);
      for (const line of bytes.toString("utf8", 0, end).split("\n")) if (line !== "") this.#open(key, line);
      this.#read += end;
    } finally {
      closeSync(fd);
    }
  }

  #seal(key: Buffer, placeholder: string, secret: Secret): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(this.#bound(placeholder));
    const sealed = Buffer.concat([nonce, cipher.update(secret.value, "latin1"), cipher.final(), cipher.getAuthTag()]);
    return JSON.stringify({ v: 1, placeholder, sealed: sealed.toString("base64") });
  }

  /** A line that is damaged, or of another key, gives no value; its number stays taken. */
  #open(key: Buffer | undefined, line: string): void {
    const entry = parsed(line);
    if (!entry) return;
    let value: string | undefined;
    try {
      const sealed = Buffer.from(entry.sealed, "base64");
      if (key && sealed.length >= NONCE_BYTES + TAG_BYTES) {
        const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAAD(this.#bound(entry.placeholder)).setAuthTag(sealed.subarray(-TAG_BYTES));
        const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
        value = Buffer.concat([decipher.update(body), decipher.final()]).toString("latin1");
      }
    } catch {
      value = undefined;
    }
    this.#table.put(entry.placeholder, value === undefined ? undefined : { rule: "", value });
  }

  /** What a sealed value belongs to: moved to another placeholder or store, it does not open. */
  #bound(placeholder: string): Buffer {
    return Buffer.from(`backtrail 1 ${this.#storeId()} ${placeholder}`);
  }

  #key(create: true): Buffer;
  #key(create: false): Buffer | undefined;
  #key(create: boolean): Buffer | undefined {
    const path = join(this.#directory, "key");
    let key: Buffer;
    try {
      key = readFileSync(path);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      if (!create) return undefined;
      key = randomBytes(KEY_BYTES);
      writeFileAtomic(path, key, { sync: true });
      return key;
    }
    if (key.length !== KEY_BYTES) {
      throw new UserError(
        "failed",
        "The key of the redacted secrets is damaged.",
        `Put ${path} back from a backup, or remove it: what was redacted with it then stays redacted.`,
      );
    }
    if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    return key;
  }

  #lock(): Lock {
    makeDirectory(this.#directory);
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const lock = tryAcquire(join(this.#directory, "lock"));
      if (lock) return lock;
      if (performance.now() > deadline) {
        throw new UserError("failed", "Another process holds the redacted secrets.", "Try again in a moment.");
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    }
  }

  #storeId(): string | undefined {
    if (this.#id === undefined) {
      const id = readText(this.#idFile)?.trim();
      if (id !== undefined && /^[0-9a-f]{16,64}$/.test(id)) this.#id = id;
    }
    return this.#id;
  }

  #file(): string {
    return join(this.#directory, `${this.#storeId()}.jsonl`);
  }
}

function parsed(line: string): { placeholder: string; sealed: string } | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null) return undefined;
    const { v, placeholder, sealed } = entry as Record<string, unknown>;
    if (v !== 1 || typeof placeholder !== "string" || typeof sealed !== "string") return undefined;
    return { placeholder, sealed };
  } catch {
    return undefined;
  }
}

function lastByte(fd: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(fd, byte, 0, 1, size - 1) === 1 ? byte[0] : undefined;
}
