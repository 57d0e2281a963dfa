/**
 * `hooks`: the hook entry point handles these calls before the command table loads; only a call without a verb gets
 * here.
 */
import { UserError } from "../../../base/errors.ts";

export async function run(): Promise<undefined> {
  throw new UserError("usage", "Agents call hooks, with the agent's name and the event's name.");
}
