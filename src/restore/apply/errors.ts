/** Turns file system errors into problems that name the file. */
import { codeOf, messageOf } from "../../base/errors.ts";
import { RestoreError } from "../problems.ts";

/** `unchanged`: no file of the user has been touched yet. */
export function failure(path: string, thrown: unknown, unchanged = false): RestoreError {
  const [code, reason] = [codeOf(thrown) ?? null, messageOf(thrown)];
  return new RestoreError("failed", { kind: "file-not-restored", path, code, reason, unchanged });
}
