import { expect, test } from "bun:test";
import type { Conversation, Part } from "./conversation.ts";
import { newestPrompt, outline } from "./conversation.ts";
import { answering, choose, failing, reply, scenario, toolUse } from "./scenario.ts";

const text = (words: string): Part => ({ type: "text", text: words });
const user = (...parts: Part[]) => ({ role: "user" as const, parts });
const assistant = (...parts: Part[]) => ({ role: "assistant" as const, parts });
const used: Part = { type: "tool-use", id: "1", name: "Write", input: {} };
const result: Part = { type: "tool-result", id: "1", text: "fine\nmore", failed: false };

const scenarios = [
  scenario("work", [reply("Working.", toolUse("Write", {})), reply("Done.")]),
  scenario("broken", [failing(529, "overloaded")]),
  answering(/summary of the conversation/, reply("A summary")),
];

test("a marker chooses the scenario and each return its next reply", () => {
  const first: Conversation = [user(text("Please [[work]]"))];
  const second: Conversation = [...first, assistant(text("Working."), used), user(result)];
  expect(choose(scenarios, first, true)).toMatchObject({ scenario: "work", index: 0 });
  expect(choose(scenarios, second, true)).toMatchObject({ scenario: "work", index: 1, reply: reply("Done.") });
  expect(choose(scenarios, second, true).key).not.toBe(choose(scenarios, first, true).key);
});

test("a scenario that is asked too often repeats its last reply", () => {
  const long: Conversation = [
    user(text("[[work]]")),
    ...Array(5)
      .fill([assistant(used), user(result)])
      .flat(),
  ];
  expect(choose(scenarios, long, true).reply).toEqual(reply("Done."));
});

test("only the newest prompt counts, even in one message with a tool's result", () => {
  const merged: Conversation = [user(text("[[work]]")), assistant(used), user(result, text("no, [[broken]]"))];
  expect(choose(scenarios, merged, true)).toMatchObject({ scenario: "broken", index: 0 });
  const plain: Conversation = [user(text("[[work]]")), assistant(text("Done.")), user(text("thanks"))];
  expect(choose(scenarios, plain, true)).toMatchObject({ scenario: "echo", reply: reply("You said: thanks") });
});

test("text that an agent adds does not count as a prompt", () => {
  const note = text("<system-reminder>[[broken]] is not meant</system-reminder>");
  const conversation: Conversation = [user(text("[[work]]"), note), assistant(used), user(result, note)];
  expect(choose(scenarios, conversation, true)).toMatchObject({ scenario: "work", index: 1 });
  expect(newestPrompt([{ role: "system", parts: [text("[[work]]")] }])).toBeNull();
});

test("requests without tools are asides, unless a pattern knows them", () => {
  expect(choose(scenarios, [user(text("Title, please"))], false).scenario).toBe("aside");
  const asked: Conversation = [user(text("Write a summary of the conversation"))];
  expect(choose(scenarios, asked, false).reply).toEqual(reply("A summary"));
});

test("an outline reads like the conversation", () => {
  const failed: Part = { ...result, failed: true };
  const thought: Part = { type: "thinking", text: "hm" };
  expect(
    outline([
      { role: "system", parts: [text("environment")] },
      user(text("Go <system-reminder>x</system-reminder>"), { type: "other", kind: "image" }),
      assistant(thought, text("Yes"), used),
      user(result, failed),
    ]),
  ).toEqual([
    "user: Go",
    "user sends image",
    "assistant: Yes",
    "assistant uses Write",
    "result: fine",
    "failure: fine",
  ]);
});
