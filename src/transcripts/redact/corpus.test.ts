/** How much is found, and how much of what is found is right. What is missed is named: some of it always will be. */
import { expect, test } from "bun:test";
import { HARMLESS, MISSED, SECRET } from "../../../test/redact/corpus.ts";
import { filled } from "../../../test/redact/fill.ts";
import { PlaceholderTable } from "./placeholders.ts";
import { createRedactor } from "./redactor.ts";

const SEEDS = 20;
const redactor = await createRedactor();

/** Plain, and inside a JSON record as agents write them. */
const FORMS = [(text: string) => text, (text: string) => JSON.stringify({ type: "user", message: { content: text } })];

test("recall and precision over the corpus", () => {
  let [hits, misses, wrong, right] = [0, 0, 0, 0];
  const complaints = new Set<string>();
  const known = new Set(MISSED);
  for (let seed = 0; seed < SEEDS; seed++) {
    for (const form of FORMS) {
      for (const template of [...Object.values(SECRET).flat(), ...MISSED]) {
        const secret = /«([\s\S]*)»/.exec(filled(template, seed))?.[1] ?? "";
        const after = redacted(form(filled(template, seed).replace(/[«»]/g, "")));
        // Not a part of it may be left: each line counts.
        const parts = secret.split("\n").filter((part) => part.length > 3);
        const leaked = parts.some((part) =>
          after.includes(form === FORMS[0] ? part : JSON.stringify(part).slice(1, -1)),
        );
        leaked ? misses++ : hits++;
        if (leaked !== known.has(template)) complaints.add(`${leaked ? "missed" : "found after all"}: ${template}`);
      }
      for (const template of Object.values(HARMLESS).flat()) {
        const text = form(filled(template, seed));
        const after = redacted(text);
        if (after !== text) complaints.add(`wrong: ${template} (${after})`);
        after === text ? right++ : wrong++;
      }
    }
  }
  console.log(
    `redaction: recall ${percent(hits / (hits + misses))} (${hits} of ${hits + misses}), ` +
      `precision ${percent(hits / (hits + wrong))} (${wrong} of ${wrong + right} harmless texts changed)`,
  );
  expect([...complaints]).toEqual([]);
});

test("the text around a secret stays", () => {
  for (const template of Object.values(SECRET).flat()) {
    const text = filled(template, 7);
    const [before = "", , after = ""] = text.split(/[«»]/);
    const result = redacted(text.replace(/[«»]/g, ""));
    expect(result.startsWith(before)).toBe(true);
    expect(result.endsWith(after)).toBe(true);
  }
});

function redacted(text: string): string {
  return redactor.redact(text, { placeholders: new PlaceholderTable() }).bytes.toString();
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
