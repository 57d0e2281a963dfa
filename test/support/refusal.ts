import { UserError } from "../../src/base/errors.ts";

/** The error with which something is refused; every other error is thrown. */
export async function refusal(work: Promise<unknown>): Promise<UserError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}
