/** JSON-RPC messages: parsing a line, and errors of the protocol. */

export type MessageId = string | number;

export const INVALID_PARAMS = -32_602;
export const NOT_FOUND = -32_002;
const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** An error that ends a request without an answer. */
export class ProtocolError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function unknownMethod(): ProtocolError {
  return new ProtocolError(METHOD_NOT_FOUND, "Method not found");
}

/** Without the message of an error that is not of the protocol: it may hold anything. */
export function errorOf(error: unknown): { code: number; message: string } {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message };
  return { code: INTERNAL_ERROR, message: "Internal error" };
}

/** Undefined if the line is not JSON. */
export function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function isMessageId(value: unknown): value is MessageId {
  return typeof value === "number" || (typeof value === "string" && value.length <= 1_000);
}
