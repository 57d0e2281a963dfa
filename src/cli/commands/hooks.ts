/** `hooks`: taken by the hook road long before this table is loaded; only a call without a verb gets here. */
import { UserError } from "../../base/errors.ts";

export async function run(): Promise<undefined> {
  throw new UserError("usage", "A hook is called by an agent, with its name and what has happened.");
}
