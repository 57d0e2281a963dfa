/** Owns the exit codes of the process. */
import { type ErrorKind, UserError } from "../../base/errors.ts";

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  nothing: 3,
  refused: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const BY_KIND: Readonly<Record<ErrorKind, ExitCode>> = {
  failed: EXIT.failed,
  usage: EXIT.usage,
  "not-found": EXIT.nothing,
  refused: EXIT.refused,
  interrupted: EXIT.interrupted,
};

export function exitCodeOf(thrown: unknown): ExitCode {
  return thrown instanceof UserError ? BY_KIND[thrown.kind] : EXIT.failed;
}
