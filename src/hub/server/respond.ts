/** Answers of the hub: JSON, errors with a kind, and headers that keep answers out of caches and frames. */
import * as z from "zod/mini";
import { type ErrorAnswer, MAX_BODY_BYTES } from "../../team/protocol.ts";

const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** A request that cannot be answered, with its status. */
export class RequestError extends Error {
  readonly status: number;
  readonly kind: string;
  readonly headers: Record<string, string>;

  constructor(status: number, kind: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.headers = headers;
  }
}

export function jsonAnswer(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(value, { status, headers: { ...HEADERS, ...headers } });
}

export function textAnswer(text: string, status = 200): Response {
  return new Response(text, { status, headers: { ...HEADERS, "content-type": "text/plain; charset=utf-8" } });
}

export function errorAnswer({ status, kind, message, headers }: RequestError): Response {
  return jsonAnswer({ error: { kind, message } } satisfies ErrorAnswer, status, headers);
}

/** Reads and checks the body of a request. */
export async function bodyOf<T extends z.ZodMiniType>(request: Request, schema: T): Promise<z.infer<T>> {
  if (!/^application\/json\b/.test(request.headers.get("content-type") ?? ""))
    throw new RequestError(415, "media-type", "The body must be JSON.");
  const text = await readBounded(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RequestError(400, "json", "The body is not valid JSON.");
  }
  return checked(schema, value);
}

export function checked<T extends z.ZodMiniType>(schema: T, value: unknown): z.infer<T> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  // Only the path: messages may quote the value.
  const [issue] = result.error.issues;
  throw new RequestError(422, "schema", `The request is not valid at "${issue?.path.join(".") ?? ""}".`);
}

export async function readBounded(request: Request, most = MAX_BODY_BYTES): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    size += part.byteLength;
    if (size > most) throw new RequestError(413, "size", `This request may have at most ${most} bytes.`);
    parts.push(part);
  }
  try {
    return decoder.decode(Buffer.concat(parts));
  } catch {
    throw new RequestError(400, "encoding", "The body is not UTF-8.");
  }
}
