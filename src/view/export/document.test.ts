import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ExportedData } from "../protocol.ts";
import { embeddedJson, htmlDocument } from "./document.ts";

const NASTY = [
  "</script>",
  "</SCRIPT\t>",
  "<!--",
  "-->",
  "<script>",
  "]]>",
  "&lt;",
  "\u2028",
  "\u2029",
  "\ud800",
  "\0",
  "\u202e",
  "\\u003c",
];

const text = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary" })))
  .map((parts) => parts.join(""));

test("embedded data reads back unchanged and cannot end its element", () => {
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text))), (value) => {
      const embedded = embeddedJson(value);
      expect(embedded).not.toMatch(/[<>&\u2028\u2029]/);
      expect(JSON.parse(embedded)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("a hostile title and hostile data add no markup", () => {
  const files = { script: "run()", style: "a{}" };
  const tagsOf = (html: string) => [...html.matchAll(/<[\w/!]+/g)].map(([tag]) => tag);
  const usual = tagsOf(htmlDocument(files, { v: 1 } as ExportedData, ""));
  fc.assert(
    fc.property(text, (hostile) => {
      const data = { v: 1, state: { version: hostile } } as unknown as ExportedData;
      expect(tagsOf(htmlDocument(files, data, hostile))).toEqual(usual);
    }),
  );
});

test("the policy allows exactly the script and the style of the file", () => {
  const html = htmlDocument({ script: "run()", style: "a{}" }, { v: 1 } as ExportedData, "x");
  const hash = new Bun.CryptoHasher("sha256").update("run()").digest("base64");
  expect(html).toContain(`default-src 'none'; script-src 'sha256-${hash}'`);
  expect(html).not.toContain("unsafe-inline");
});
