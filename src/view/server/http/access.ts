/**
 * Who may ask: the browser that exchanged the one-time token for a cookie. Browsers send cookies to every port of a
 * host, so the cookie's name and path are random: another server on this machine neither receives nor replaces it.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface Access {
  /** The first part of every path, without slashes. */
  readonly base: string;
  readonly token: string;
  /** The `Set-Cookie` header for the right token, once; null for anything else. */
  exchange(token: unknown): string | null;
  isKnown(cookies: string | null): boolean;
}

export function createAccess(): Access {
  const base = randomBytes(8).toString("hex");
  const token = secret();
  const cookie = secret();
  const name = `backtrail-${base}`;
  let isUsed = false;
  return {
    base,
    token,
    exchange(given) {
      if (isUsed || typeof given !== "string" || !isSame(given, token)) return null;
      isUsed = true;
      return `${name}=${cookie}; Path=/${base}/; HttpOnly; SameSite=Strict`;
    },
    isKnown: (cookies) => valuesOf(cookies, name).some((value) => isSame(value, cookie)),
  };
}

function secret(): string {
  return randomBytes(32).toString("hex");
}

function valuesOf(cookies: string | null, name: string): string[] {
  const pairs = (cookies ?? "").split(";").map((pair) => pair.trim());
  return pairs.flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
}

/** In constant time, whatever the lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
