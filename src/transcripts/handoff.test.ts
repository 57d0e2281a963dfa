import { expect, test } from "bun:test";
import fc from "fast-check";
import { blankEntry, type Conversation, type Entry } from "../model/conversation.ts";
import { NO_TOKENS } from "../model/tokens.ts";
import { handOver, MIN_HANDOFF_CHARACTERS } from "./handoff.ts";

const AT = { start: 0, end: 0 };

function entry(type: Entry["type"], text: string, more: Partial<Entry> = {}): Entry {
  return { ...blankEntry({ id: null, time: null }, AT), type, text, ...more };
}

function conversation(...entries: Entry[]): Conversation {
  return { entries, title: null, model: null, tokens: { ...NO_TOKENS } };
}

const tell = (given: Conversation, limit = 24_000) => handOver(given, { agent: "Claude Code", limit });

test("prompts word for word, the last answer of each turn, the files", () => {
  const { text, cut } = tell(
    conversation(
      entry("prompt", "Write\n  the parser"),
      entry("answer", "I begin."),
      entry("tool-use", "", { files: ["src/parser.ts"] }),
      entry("answer", "The parser is there."),
      entry("prompt", "Thanks"),
      entry("answer", "You are welcome."),
    ),
  );
  expect(cut).toEqual([]);
  expect(text).toContain("### 1. The user\n\nWrite\n  the parser\n\nClaude Code answered:\n\nThe parser is there.");
  expect(text).not.toContain("I begin.");
  expect(text).toContain("## Files that were changed\n\n- src/parser.ts\n");
  expect(text).toContain("then wait for the user");
  expect(text).not.toContain("Open ends");
});

test("unfinished work: a prompt without an answer, the last failure, open to-dos", () => {
  const run = (id: string, command: string, output: string) => [
    entry("tool-use", "", { toolUseId: id, toolInput: { command } }),
    entry("tool-result", output, { toolUseId: id }),
  ];
  const todos = [
    { content: "Write it", status: "completed" },
    { content: "Test it", status: "pending" },
  ];
  const { text } = tell(
    conversation(
      entry("prompt", "Go"),
      ...run("1", "npm test", "Exit code 1\nboom"),
      ...run("2", "npm run lint", "Exit code 2"),
      ...run("3", "npm run lint", "fine"),
      ...run("4", "ls", "exit codes are listed in 1 file"),
      entry("tool-use", "", { toolUseId: "5", toolInput: { todos } }),
      entry("answer", "Half done."),
      entry("prompt", "And now the docs"),
    ),
  );
  expect(text.slice(text.indexOf("## Open ends"))).toBe(
    [
      "## Open ends\n",
      "- Not answered: And now the docs",
      "- Failed: `npm test` (Exit code 1 boom)",
      "- To do: Test it\n",
      "## Now\n",
      "Continue with the last prompt, which was not answered.\n",
    ].join("\n"),
  );
});

test("answers are cut before prompts and old turns before new ones, and the text says so", () => {
  const turns = Array.from({ length: 40 }, (_, i) => [
    entry("prompt", `Prompt ${i} ${"p".repeat(60)}`),
    entry("answer", `Answer ${i} ${"a".repeat(900)}`),
  ]).flat();
  const some = tell(conversation(...turns), 16_000);
  expect(some.text.length).toBeLessThanOrEqual(16_000);
  for (let i = 0; i < 40; i++) expect(some.text).toContain(`Prompt ${i} ${"p".repeat(60)}`);
  expect(some.cut).toEqual(["40 answers were shortened to 200 characters."]);
  expect(some.text).toContain(`To keep this short: ${some.cut.join(" ")}`);

  const few = tell(conversation(...turns), 2_500);
  expect(few.text).toContain("Prompt 0 ");
  expect(few.text).toContain("Prompt 39 ");
  expect(few.cut.join(" ")).toMatch(/answers were left out\. \d+ turns after the first were left out\./);
});

test("terminal escapes and other controls are taken out", () => {
  const { text } = tell(conversation(entry("prompt", "a\u001b[31mb\u0007c\u202ed"), entry("answer", "x\u0000y")));
  expect(text).toContain("abcd");
  expect(text).toContain("xy");
});

test("never longer than the limit; a prompt is whole or marked as cut", () => {
  const type = fc.constantFrom<Entry["type"]>("prompt", "answer", "tool-use", "tool-result", "note");
  const one = fc.record({
    type,
    text: fc.oneof(fc.string(), fc.string({ minLength: 500, maxLength: 3_000 })),
    files: fc.array(fc.string(), { maxLength: 20 }),
  });
  fc.assert(
    fc.property(
      fc.array(one, { maxLength: 60 }),
      fc.integer({ min: MIN_HANDOFF_CHARACTERS, max: 30_000 }),
      (list, limit) => {
        const given = conversation(...list.map(({ type: kind, text, files }) => entry(kind, text, { files })));
        const { text, cut } = tell(given, limit);
        expect(text.length).toBeLessThanOrEqual(limit);
        if (cut.length > 0) return;
        for (const { type: kind, text: prompt } of list) {
          const plain = /^[\x20-\x7e]*$/.test(prompt);
          if (kind === "prompt" && plain) expect(text).toContain(prompt.trim());
        }
      },
    ),
    { numRuns: Number(process.env["BACKTRAIL_TEST_RUNS"]) || 200 },
  );
});
