import { expect, test } from "bun:test";
import { withContext } from "./context-reply.ts";

test("each shape, beside a message for the user", () => {
  const replies = (["hookSpecificOutput", "additionalContext", "context", "injectSteps"] as const).map((shape) =>
    JSON.parse(withContext(shape, "UserPromptSubmit", 'a "b"', '{"systemMessage":"Hello"}')),
  );
  expect(replies).toEqual([
    {
      systemMessage: "Hello",
      hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: 'a "b"' },
    },
    { systemMessage: "Hello", additionalContext: 'a "b"' },
    { systemMessage: "Hello", context: 'a "b"' },
    { systemMessage: "Hello", injectSteps: [{ ephemeralMessage: 'a "b"' }] },
  ]);
});
