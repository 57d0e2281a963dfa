/** What redaction can fail with, as data. cli/render/words/checkpoints.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type RedactionProblem =
  | { kind: "pattern-invalid"; setting: string; pattern: string; reason: string }
  | { kind: "vault-key-damaged"; path: string }
  | { kind: "vault-locked" };

export class RedactionError extends ProblemError<RedactionProblem> {}
