/**
 * Errors that a user can act on. The kind decides the exit code (only in cli/terminal/exit.ts), the message states the
 * problem, and the hint says what to do next. Layers below `cli/` throw a `ProblemError`: a problem as data, for which
 * `cli/render/words` has the sentence (docs/design/facts-and-sentences.md).
 */
export type ErrorKind = "failed" | "usage" | "not-found" | "refused" | "interrupted";

export class UserError extends Error {
  readonly kind: ErrorKind;
  readonly hint: string | undefined;
  /** What went wrong, as data: most errors have it. */
  declare readonly problem?: Problem;

  constructor(kind: ErrorKind, message: string, hint?: string) {
    super(message);
    this.name = "UserError";
    this.kind = kind;
    this.hint = hint;
  }
}

/** What went wrong, as data: a name, and the values that a sentence about it needs. */
export interface Problem {
  readonly kind: string;
}

/** A problem in words. */
export type ProblemText = readonly [message: string, hint?: string | undefined];

/**
 * A `UserError` that is thrown as data. Each layer has a subclass with its own union of problems, such as
 * `RestoreError` in restore/problems.ts.
 */
export class ProblemError<P extends Problem = Problem> extends UserError {
  override readonly problem: P;

  constructor(kind: ErrorKind, problem: P) {
    super(kind, ...(problemWords(problem) ?? [technicalText(problem)]));
    this.problem = problem;
  }
}

let problemWords: (problem: Problem) => ProblemText | undefined = () => undefined;

/** Called once by a program that shows errors to people; a hook, which shows none, does not load the words. */
export function installProblemWords(words: (problem: Problem) => ProblemText | undefined): void {
  problemWords = words;
}

/** For the log: `step-gone {"step":"kqzt"}`. */
function technicalText({ kind, ...values }: Problem): string {
  return Object.keys(values).length === 0 ? kind : `${kind} ${JSON.stringify(values)}`;
}

/** The message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Whether the error means that nothing exists at a path: it is missing, or a parent is a file or a link loop. */
export function isAbsence(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}

/** The `code` of a system error ("ENOENT"), or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
