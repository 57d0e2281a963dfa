import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  checkpointsIn,
  isOtherwiseEmpty,
  linkedIn,
  withCheckpoints,
  withoutCheckpoints,
  withSuggestion,
} from "./trailers.ts";

const ID = "0123456789ab";
const COMMENTS = "\n# Please enter the commit message.\n#\n# On branch main\n";

describe("the trailer in a message", () => {
  test("has a separate paragraph below a text", () => {
    expect(withCheckpoints("Greet\n", [ID])).toBe(`Greet\n\nEntire-Checkpoint: ${ID}\n`);
    expect(withCheckpoints("Greet\n\nWith love.\n", [ID])).toBe(`Greet\n\nWith love.\n\nEntire-Checkpoint: ${ID}\n`);
  });

  test("joins other trailers, but never a subject that looks like one", () => {
    const signed = "Greet\n\nSigned-off-by: Ada <ada@example.com>\n";
    expect(withCheckpoints(signed, [ID])).toBe(`${signed}Entire-Checkpoint: ${ID}\n`);
    expect(withCheckpoints("area: what changed\n", [ID])).toBe(`area: what changed\n\nEntire-Checkpoint: ${ID}\n`);
  });

  test("is above git's comments and the scissors line", () => {
    expect(withCheckpoints(COMMENTS, [ID])).toBe(`\n\nEntire-Checkpoint: ${ID}\n${COMMENTS}`);
    const scissors = "; ------------------------ >8 ------------------------\n; Do not modify\ndiff --git a/x b/x\n";
    expect(withCheckpoints(`Greet\n\n; Comment\n${scissors}`, [ID])).toBe(
      `Greet\n\nEntire-Checkpoint: ${ID}\n\n; Comment\n${scissors}`,
    );
  });

  test("is found on a separate line, and in the quoted messages of a squash", () => {
    const squash = `Squashed commit of the following:\n\n    Greet\n    \n    Entire-Checkpoint: ${ID}\n`;
    expect(checkpointsIn(squash)).toEqual([ID]);
    expect(linkedIn(squash)).toEqual([]);
    expect(linkedIn(`Greet\n\nEntire-Checkpoint: ${ID}\n`)).toEqual([ID]);
    expect(linkedIn(`Greet\n\nEntire-Checkpoint: ${ID}ff\nEntire-Checkpoint: none\n`)).toEqual([]);
  });

  test("alone is no message", () => {
    expect(isOtherwiseEmpty(withCheckpoints(COMMENTS, [ID]))).toBe(true);
    expect(isOtherwiseEmpty(withCheckpoints("Greet\n", [ID]))).toBe(false);
    expect(
      withoutCheckpoints(withCheckpoints(COMMENTS, [ID]))
        .replace(/^#.*$/gm, "")
        .trim(),
    ).toBe("");
  });

  test("as a suggestion it is a comment above git's own, and links once its mark is taken off", () => {
    const suggested = withSuggestion(`Greet\n\nSigned-off-by: Ada\n${COMMENTS}`, ID);
    expect(linkedIn(suggested)).toEqual([]);
    expect(suggested.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
      "Greet",
      "Signed-off-by: Ada",
    ]);
    expect(linkedIn(suggested.replace(`# Entire`, "Entire"))).toEqual([ID]);
    expect(withSuggestion("", ID, ";")).toStartWith(`\n\n; Entire-Checkpoint: ${ID}\n; Take the "; " off`);
  });

  test("is found again in any message", () => {
    const line = fc.constantFrom("Greet", "area: fix", "", "# comment", "; other", "Signed-off-by: Ada", "    quoted");
    fc.assert(
      fc.property(fc.array(line), fc.string(), (lines, last) => {
        const message = [...lines, last].join("\n");
        const linked = withCheckpoints(message, [ID]);
        return linkedIn(linked).includes(ID) && checkpointsIn(withoutCheckpoints(linked)).every((id) => id !== ID);
      }),
    );
  });
});
