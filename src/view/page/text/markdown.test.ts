import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Block, parseMarkdown, parseSpans, safeAddress } from "./markdown.ts";

const kinds = (text: string) => parseMarkdown(text).map(({ kind }) => kind);

test("blocks", () => {
  expect(kinds("# Title\n\ntext\nmore\n\n- a\n- b\n\n> quote\n\n```ts\n# code\n```\n\n---\n")).toEqual([
    "heading",
    "paragraph",
    "list",
    "quote",
    "code",
    "rule",
  ]);
  expect(parseMarkdown("```js\nconst a = 1;\n\n# not a heading")).toEqual([
    { kind: "code", language: "js", text: "const a = 1;\n\n# not a heading" },
  ]);
});

test("nested lists, numbered lists, code in an item", () => {
  const [list] = parseMarkdown("3. one\n   - inner\n   - inner two\n4. two\n\n   ```\n   code\n   ```\n") as [
    Extract<Block, { kind: "list" }>,
  ];
  expect([list.ordered, list.start, list.items.length]).toEqual([true, 3, 2]);
  expect(list.items[0]?.map(({ kind }) => kind)).toEqual(["paragraph", "list"]);
  expect(list.items[1]?.[1]).toEqual({ kind: "code", language: "", text: "code" });
});

test("tables", () => {
  const [table] = parseMarkdown("| a | b |\n|---|---|\n| 1 | `x` |\n") as [Extract<Block, { kind: "table" }>];
  expect(table.head).toHaveLength(2);
  expect(table.rows[0]?.[1]).toEqual([{ kind: "code", text: "x" }]);
});

test("spans", () => {
  expect(parseSpans("a **b `c`** _d_ ~~e~~ snake_case_name \\*f\\*").map(({ kind }) => kind)).toEqual([
    "text",
    "strong",
    "text",
    "emphasis",
    "text",
    "strike",
    "text",
    "text",
    "text",
    "text",
  ]);
  expect(parseSpans("see https://a.example/b.")[1]).toMatchObject({ kind: "link", href: "https://a.example/b" });
});

test("nothing that could run is a link, and tags are text", () => {
  for (const address of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc"])
    expect(safeAddress(address)).toBeNull();
  expect(parseSpans("[x](javascript:alert`1`)").some(({ kind }) => kind === "link")).toBe(false);
  expect(parseMarkdown("<script>alert(1)</script>")).toEqual([
    { kind: "paragraph", spans: [{ kind: "text", text: "<script>alert(1)</script>" }] },
  ]);
  expect(parseSpans("![p](https://evil.example/pixel.png)")[0]).toMatchObject({ kind: "link" });
});

test("any text is read, and hostile repetition takes no time", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => Array.isArray(parseMarkdown(text))));
  for (const bit of ["[", "*", "_", "`", "> ", "- ", "~", "|", "(", "#", "![["])
    expect(parseMarkdown(bit.repeat(20_000)).length).toBeGreaterThan(0);
}, 20_000);
