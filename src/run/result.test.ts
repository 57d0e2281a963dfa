import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/own-process.ts";
import type { StreamSection } from "../agents/contract/profile.ts";
import { runners } from "./agents.ts";
import { RunResult } from "./result.ts";

const STREAM: StreamSection = {
  session_id: ["$.id"],
  rules: [
    { when: { "$.t": "piece" }, is: "delta", text: ["$.text"] },
    { when: { "$.t": "whole", "$.inner": null }, is: "message", text: ["$.text"] },
    { when: { "$.t": ["tool", "result"] }, is: "tool", name: ["$.name"] },
    { when: { "$.t": "wrong" }, is: "failure", text: ["$.text"] },
    { when: { "$.t": "end" }, is: "end", text: ["$.text"], succeeds_when: { "$.ok": true } },
    { when: { "$.t": "used" }, is: "usage", tokens: { input: ["$.in"] }, cost: ["$.cost"], message_id: ["$.of"] },
    { when: { "$.t": "total" }, is: "usage", tokens: { input: ["$.in"] }, total: true },
  ],
};

function told(...lines: Record<string, unknown>[]): RunResult {
  const result = new RunResult(STREAM);
  for (const line of lines) result.take(line);
  return result;
}

const piece = (text: string) => ({ t: "piece", text });
const whole = (text: string) => ({ t: "whole", text });
const end = (text?: string, ok = true) => ({ t: "end", ok, text });

test("pieces are put together, and the use of a tool begins anew", () => {
  expect(told(piece("I have "), piece("looked."), piece(" All of it.")).text).toBe("I have looked. All of it.");
  expect(told(piece("I will look."), { t: "tool" }, piece("Looked"), piece(".")).text).toBe("Looked.");
  expect(told(whole("I will look."), { t: "result" }).text).toBe("");
  expect(told(whole("One."), whole("Two.")).text).toBe("Two.");
  // A message that came in pieces comes whole at its end, and the next one is another.
  expect(told(piece("a"), piece("b"), whole("ab"), piece("c")).text).toBe("c");
});

test("the final record's text counts where there is one", () => {
  expect(told(piece("Half"), end("All of it.")).text).toBe("All of it.");
  expect(told(piece("All"), end()).text).toBe("All");
  // What a subagent says is not the answer.
  expect(told(whole("Mine."), { ...whole("Its."), inner: "x" }).text).toBe("Mine.");
});

test("how it ended", () => {
  expect(told(piece("a")).status).toBe("interrupted");
  expect(told(piece("a"), end()).status).toBe("completed");
  expect(told(piece("a"), end("no", false))).toMatchObject({ status: "failed", failure: "no" });
  expect(told({ t: "wrong", text: "busy" }, { t: "wrong", text: "given up" }, end())).toMatchObject({
    status: "failed",
    failure: "busy",
  });
  // It tried again, and went on.
  expect(told({ t: "wrong", text: "busy" }, piece("Here."), end())).toMatchObject({
    status: "completed",
    failure: null,
  });
});

test("tokens are counted once for each message, and a total replaces them", () => {
  const used = (of: string | null, count: number, cost?: number) => ({ t: "used", of, in: count, cost });
  expect(told(used("a", 1), used("a", 5), used("b", 2), used(null, 10)).usage?.tokens.input).toBe(17);
  expect(told(piece("Here."), end()).usage).toBeNull();
  const many = Array.from({ length: 1_000 }, (_, i) => used(`m${i}`, 1, 0.5));
  expect(told(...many).usage).toMatchObject({ tokens: { input: 1_000 }, cost: { usd: 500, estimated: false } });
  expect(told(...many, { t: "total", in: 7 }).usage).toMatchObject({ tokens: { input: 7 }, cost: null });
});

test("reading any output never throws", async () => {
  const all = await runners();
  const known = all.flatMap(({ run }) => run.stream.rules.flatMap((rule) => Object.values(rule.when).flat()));
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom(...known));
  const line = fc.dictionary(fc.constantFrom("type", "message", "item", "part", "data", "role", "id", "text"), value);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      for (const { run } of all) {
        const result = new RunResult(run.stream);
        for (const each of lines) result.take(each as Record<string, unknown>);
        expect(typeof result.text).toBe("string");
        expect(result.usage?.tokens.input ?? 0).toBeGreaterThanOrEqual(0);
      }
    }),
    runs(50),
  );
});
