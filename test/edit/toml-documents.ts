/** For tests: TOML in every style that people and tools write it in. */
import fc from "fast-check";

const scalar = fc.constantFrom(
  "1",
  "-1_000",
  "0xff",
  "1e3",
  "nan",
  "-inf",
  "true",
  "1979-05-27T07:32:00Z",
  "1979-05-27",
  "07:32:00",
  '""',
  '"a # no comment"',
  "'C:\\path'",
  '"\\u00e9\\n"',
  '"""\n[hooks.state."x"] # ours\nmore"""',
  "'''\n[no.table]\n'''",
  "[]",
  "[1, 2]",
  '[\n  "a", # a note\n  "b",\n]',
  "{ a = 1, b.c = 'x' }",
);
const name = fc.constantFrom(
  "model",
  "a-b",
  '"ключ"',
  '"a b"',
  '"__proto__"',
  "constructor",
  '"a.b"',
  "'q\"q'",
  '""',
  "1",
);
const note = fc.constantFrom("", "", "", " # note", "\t# [hooks.state]");
const above = fc.constantFrom("", "", "\n", "# a note\n", "\n\n# [projects]\n");

const pairs = fc
  .uniqueArray(fc.tuple(name, scalar, note, above), { selector: ([key]) => key, maxLength: 4 })
  .map((list) => list.map(([key, value, after, before]) => `${before}${key} = ${value}${after}\n`).join(""));

const header = fc.constantFrom(
  "[model_providers.local]",
  '[projects."/other"]',
  '[hooks.state."/other:stop:0:0"]',
  "[hooks.state]",
  "[ features ]",
  '[tui."hooks".state]',
  "[[profiles]]",
  "[[mcp.servers]]",
);

const tables = fc
  .uniqueArray(fc.tuple(header, note, above, pairs), { selector: ([title]) => title, maxLength: 5 })
  .map((list) => list.map(([title, after, before, body]) => `${before}${title}${after}\n${body}`).join(""));

const shape = fc.record({
  newline: fc.constantFrom("\n", "\r\n"),
  mark: fc.constantFrom("", "", "\ufeff"),
  end: fc.constantFrom("", "\n", "\n\n", "  ", "# end", "\n# end\n", "cut"),
});

/** Valid TOML that has no tables of ours and leaves room for them. */
export const tomlDocuments: fc.Arbitrary<string> = fc.tuple(pairs, tables, shape).map(([top, rest, how]) => {
  const text = how.end === "cut" ? (top + rest).replace(/\n$/, "") : top + rest + how.end;
  return how.mark + text.replaceAll("\n", how.newline);
});
