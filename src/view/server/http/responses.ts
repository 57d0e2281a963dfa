/** Builds responses. Every one carries the headers that keep the page alone with its server. */
import { messageOf, UserError } from "../../../base/errors.ts";
import { logError } from "../../../base/log.ts";
import type { ErrorAnswer } from "../../protocol.ts";
import type { Asset } from "./assets.ts";

type ErrorKind = ErrorAnswer["error"]["kind"];

/** No inline code, no other site, no frames, no markup from strings (trusted types). */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
};

const STATUS: Readonly<Record<ErrorKind, number>> = {
  usage: 400,
  "signed-out": 401,
  refused: 403,
  "not-found": 404,
  conflict: 409,
  "too-large": 413,
  unavailable: 404,
  failed: 500,
};

export function jsonResponse(value: unknown, status = 200): Response {
  const headers = { ...HEADERS, "Content-Type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(value), { status, headers });
}

export function assetResponse({ mediaType, text }: Asset): Response {
  return new Response(text, { headers: { ...HEADERS, "Content-Type": mediaType } });
}

export function streamResponse(body: ReadableStream): Response {
  return new Response(body, { headers: { ...HEADERS, "Content-Type": "text/event-stream" } });
}

export function cookieResponse(cookie: string): Response {
  return new Response(null, { status: 204, headers: { ...HEADERS, "Set-Cookie": cookie } });
}

export function errorResponse(kind: ErrorKind, message: string, hint: string | null = null, status = STATUS[kind]) {
  return jsonResponse({ error: { kind, message, hint } } satisfies ErrorAnswer, status);
}

/** Errors that the user can't act on are logged for `doctor`. */
export function failureResponse(error: unknown): Response {
  if (error instanceof UserError) {
    const kind = error.kind === "interrupted" ? "failed" : error.kind;
    return errorResponse(kind === "refused" ? "conflict" : kind, error.message, error.hint ?? null);
  }
  logError("view", error);
  return errorResponse("failed", `The request failed: ${messageOf(error)}`, "`backtrail doctor` may say more.");
}
