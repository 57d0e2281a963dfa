/**
 * Asks the person through the client (elicitation), where a tool has a question and the client can. Only a clear yes
 * counts; any other reply changes nothing.
 */

import { isRecord } from "../base/json.ts";
import type { Limits } from "./limits.ts";
import { type Answer, failure } from "./tool.ts";

/** The form that the client shows. The box must be ticked, so that a client that accepts blindly agrees to nothing. */
export const FORM = {
  type: "object" as const,
  properties: {
    apply: { type: "boolean" as const, title: "Apply this plan", description: "Changes the files as described." },
  },
  required: ["apply"],
};

/** True if the client's capabilities include forms. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities["elicitation"] : undefined;
  // Before there were other kinds of questions, an empty object meant forms.
  return isRecord(elicitation) && (isRecord(elicitation["form"]) || !("url" in elicitation));
}

/** The answer after the person has replied: `reply` is what the client sent, and undefined if it sent nothing. */
export async function settle(answer: Answer, reply: unknown, limits: Limits): Promise<Answer> {
  const { text, question } = answer;
  if (!question) return answer;
  const { action, content } = isRecord(reply) ? reply : {};
  if (action === "accept" && isRecord(content) && content["apply"] === true) {
    try {
      return { text: await limits.run(true, question.accept), isError: false };
    } catch (error) {
      return failure("apply", error);
    }
  }
  const outcome =
    action === "decline" || action === "accept" ? "was asked and did not agree" : "was asked and did not decide";
  return { text: `${text}\nThe user ${outcome}. The proposal stays open; don't ask again.`, isError: false };
}
