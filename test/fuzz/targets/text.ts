/** What is printed: whatever goes in, no terminal escape and no control character comes out, in time that grows with the text. */
import { oneLine, printable, shorten, shownPath } from "../../../src/base/text.ts";
import { damaged } from "../mutate.ts";
import { demand, demandPrintable, type Target } from "../target.ts";

const SEEDS = [
  "A prompt\twith \u001b[31mcolour\u001b[0m and a \u001b]8;;http://x\u0007link\u001b]8;;\u0007\n",
  "\u001bP+q544e\u001b\\ \u009b31m \u0090x\u009c \u202e\u2066\u2069",
  "\u001b".repeat(50),
  "\u001b]".repeat(40),
  "\u001b[".repeat(40),
].map((text) => Buffer.from(text));

export const text: Target = {
  name: "text",
  cost: 1,
  async open() {
    return {
      input: (random) => damaged(random, random.pick(SEEDS), SEEDS),
      async run(input) {
        const given = Buffer.from(input).toString("utf8");
        demandPrintable(printable(given), "printable");
        demandPrintable(oneLine(given), "oneLine");
        demandPrintable(shownPath(given), "shownPath");
        demand(!oneLine(given).includes("\n"), "oneLine gave two lines.");
        demand(shorten(given, 20).length <= 20, "shorten gave more than it may.");
      },
    };
  },
};
