/**
 * Errors a person can act on. A kind decides the exit code (in one place: cli/exit.ts), the message says
 * what was wrong and what was found, the hint says what to do next.
 */
export type ErrorKind = "failed" | "usage" | "not-found" | "refused" | "interrupted";

export class UserError extends Error {
  readonly kind: ErrorKind;
  readonly hint: string | undefined;

  constructor(kind: ErrorKind, message: string, hint?: string) {
    super(message);
    this.name = "UserError";
    this.kind = kind;
    this.hint = hint;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Nothing can stand at a path: it is not there, or what is above it is a file, or a link that leads to itself. */
export function isAbsence(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}

/** The `code` of a system error ("ENOENT"), or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
