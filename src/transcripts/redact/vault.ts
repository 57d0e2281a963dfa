/**
 * The encrypted map from placeholders to secrets, in the user's data directory: one append-only file per store, with
 * one line per secret. docs/formats/placeholders.md describes the format.
 */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { chmodSync, closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { makeDirectory, readText, removeFile, writeAll, writeFileAtomic } from "../../base/fs/files.ts";
import { type Lock, tryAcquire } from "../../base/fs/lock.ts";
import { isRecord } from "../../base/json.ts";
import { dataDirectory } from "../../base/paths.ts";
import { RedactionError } from "../problems.ts";
import { type Placeholders, PlaceholderTable, type Secret } from "./placeholders.ts";

const CIPHER = "aes-256-gcm";
const BYTES = { key: 32, id: 16, nonce: 12, tag: 16 } as const;
const WAIT_MS = 5_000;
const POLL_MS = 5;
const FRESH_MS = 100;

/** Opens the map of a store (a workspace's `storeDir`). Writes nothing until there is a secret. */
export function openVault(storeDir: string, directory: string = join(dataDirectory(), "redaction")): Placeholders {
  return new Vault(directory, join(storeDir, "redaction-id"));
}

/** Permanently deletes the values of these placeholders; their numbers stay reserved. */
export function forgetSecrets(
  storeDir: string,
  placeholders: readonly string[],
  directory: string = join(dataDirectory(), "redaction"),
): void {
  if (placeholders.length > 0) new Vault(directory, join(storeDir, "redaction-id")).forget(new Set(placeholders));
}

/** Deletes the whole map of a store. */
export function removeVault(storeDir: string, directory: string = join(dataDirectory(), "redaction")): void {
  const id = readText(join(storeDir, "redaction-id"))?.trim() ?? "";
  if (/^[0-9a-f]{16,64}$/.test(id)) removeFile(join(directory, `${id}.jsonl`));
}

class Vault implements Placeholders {
  readonly #directory: string;
  /** Contains the id of the store's map, so that a moved repository keeps its map. */
  readonly #idFile: string;
  #id: string | undefined;
  readonly #table = new PlaceholderTable();
  /** The number of bytes of the file that were read. */
  #read = 0;
  #readAt = 0;

  constructor(directory: string, idFile: string) {
    this.#directory = directory;
    this.#idFile = idFile;
    this.#readOn();
  }

  valueOf(placeholder: string): string | undefined {
    const value = this.#table.valueOf(placeholder);
    // Another process may have added the placeholder. A text full of unknown ones must not reread the file for each.
    if (value !== undefined || performance.now() - this.#readAt < FRESH_MS) return value;
    this.#readOn();
    return this.#table.valueOf(placeholder);
  }

  secrets(): Secret[] {
    return this.#table.secrets();
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
        // Keep the length, so that other processes continue reading at the right offset.
        return JSON.stringify({ v: 1, ...entry, sealed: "A".repeat(entry.sealed.length) });
      });
      writeFileAtomic(this.#file(), lines.join("\n"), { sync: true });
    } finally {
      lock.release();
    }
  }

  /** Takes the lock so that two processes never share a number, and syncs to disk before a placeholder is used. */
  #add(secrets: readonly Secret[]): void {
    const lock = this.#lock();
    try {
      if (this.#storeId() === undefined)
        writeFileAtomic(this.#idFile, `${randomBytes(BYTES.id).toString("hex")}\n`, { sync: true });
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
      // A partial line from a killed process must not swallow the next line.
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
    const nonce = randomBytes(BYTES.nonce);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(this.#bound(placeholder));
    const sealed = Buffer.concat([nonce, cipher.update(secret.value, "latin1"), cipher.final(), cipher.getAuthTag()]);
    return JSON.stringify({ v: 1, placeholder, sealed: sealed.toString("base64") });
  }

  /** A damaged line, or one sealed with another key, has no value; its number stays reserved. */
  #open(key: Buffer | undefined, line: string): void {
    const entry = parsed(line);
    if (!entry) return;
    let value: string | undefined;
    try {
      const sealed = Buffer.from(entry.sealed, "base64");
      if (key && sealed.length >= BYTES.nonce + BYTES.tag) {
        const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, BYTES.nonce), { authTagLength: BYTES.tag });
        decipher.setAAD(this.#bound(entry.placeholder)).setAuthTag(sealed.subarray(-BYTES.tag));
        const body = sealed.subarray(BYTES.nonce, -BYTES.tag);
        value = Buffer.concat([decipher.update(body), decipher.final()]).toString("latin1");
      }
    } catch {
      value = undefined;
    }
    this.#table.put(entry.placeholder, value === undefined ? undefined : { rule: "", value });
  }

  /** Binds a sealed value to its placeholder and store; it does not open anywhere else. */
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
      key = randomBytes(BYTES.key);
      writeFileAtomic(path, key, { sync: true });
      return key;
    }
    if (key.length !== BYTES.key) {
      throw new RedactionError("failed", { kind: "vault-key-damaged", path });
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
        throw new RedactionError("failed", { kind: "vault-locked" });
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
    if (!isRecord(entry)) return undefined;
    const { v, placeholder, sealed } = entry;
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
