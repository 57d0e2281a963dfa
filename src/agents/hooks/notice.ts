/** A message to the user in a hook's reply: a JSON field, because the agent may pass plain text to the model. */
import { oneLine } from "../../base/text.ts";
import type { HookResponder } from "../contract/agent.ts";

/** `field` is the JSON field that the agent, or our plugin in it, shows to the user. */
export function noticeIn(field: string): HookResponder {
  return { notice: (_envelope, message) => JSON.stringify({ [field]: oneLine(message) }) };
}
