/** A message for the user in a hook's reply: one field of JSON, since plain text may go to the model instead. */
import { oneLine } from "../base/text.ts";
import type { HookResponder } from "./agent.ts";

/** `field` is where the agent, or our program inside it, looks for what it is to show. */
export function noticeIn(field: string): HookResponder {
  return { notice: (_envelope, message) => JSON.stringify({ [field]: oneLine(message) }) };
}
