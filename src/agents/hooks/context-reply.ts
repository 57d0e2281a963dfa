/** Adds text for the model to a hook's reply, in the JSON shape that the agent's profile names. */
import type { ContextReply } from "../contract/profile.ts";

/** `reply` is what the hook would print without the text: JSON, or empty. */
export function withContext(shape: ContextReply, event: string, text: string, reply = ""): string {
  const fields = reply === "" ? {} : (JSON.parse(reply) as Record<string, unknown>);
  return JSON.stringify({ ...fields, ...shaped(shape, event, text) });
}

function shaped(shape: ContextReply, event: string, text: string): Record<string, unknown> {
  switch (shape) {
    case "hookSpecificOutput":
      return { hookSpecificOutput: { hookEventName: event, additionalContext: text } };
    case "additionalContext":
      return { additionalContext: text };
    case "context":
      return { context: text };
    case "injectSteps":
      return { injectSteps: [{ ephemeralMessage: text }] };
  }
}
