import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { writtenDocuments } from "../../test/edit/jsonc-documents.ts";
import { hooksEdit, wholeFileEdit } from "./edit.ts";
import { claudeLayout, cursorLayout, geminiLayout, namedLayout } from "./hook-layouts.ts";
import { jsonc } from "./jsonc.ts";
import { copyOf, isEqual } from "./value.ts";

const ENTRIES = [
  { event: "start", command: "ours start", name: "ours-start" },
  { event: "tool", command: "ours tool", name: "ours-tool", matcher: "Shell", timeout: 10 },
];
const isOurs = (command: string) => command.startsWith("ours ");
const LAYOUTS = { claudeLayout, geminiLayout, cursorLayout, namedLayout };
const editWith = (layout: (typeof LAYOUTS)[keyof typeof LAYOUTS]) =>
  hooksEdit(jsonc, { layout, entries: ENTRIES, isOurs });
const json = (bytes: Buffer | null) => bytes && JSON.parse(bytes.toString());

test("Gemini's hooks have names and milliseconds", () => {
  expect(json(editWith(geminiLayout).add(null))).toEqual({
    hooks: {
      start: [{ hooks: [{ name: "ours-start", type: "command", command: "ours start" }] }],
      tool: [
        { matcher: "Shell", hooks: [{ name: "ours-tool", type: "command", command: "ours tool", timeout: 10_000 }] },
      ],
    },
  });
});

test("hooks under our name stand beside those of other programs, in a group only with a matcher", () => {
  const before = Buffer.from('{"linter": {"tool": [{"command": "theirs"}]}}');
  const edit = editWith(namedLayout);
  const after = edit.add(before);
  expect(json(after)).toEqual({
    linter: { tool: [{ command: "theirs" }] },
    backtrail: {
      start: [{ type: "command", command: "ours start" }],
      tool: [{ matcher: "Shell", hooks: [{ type: "command", command: "ours tool", timeout: 10 }] }],
    },
  });
  expect(edit.presence(after)).toBe("installed");
  expect(json(edit.remove(after, before))).toEqual(json(before));
  expect(edit.remove(edit.add(null), null)).toBeNull();
});

describe("Cursor's hooks", () => {
  const edit = editWith(cursorLayout);

  test("stand directly in the list of their event, in a file with a version", () => {
    expect(json(edit.add(null))).toEqual({
      version: 1,
      hooks: {
        start: [{ command: "ours start" }],
        tool: [{ command: "ours tool", matcher: "Shell", timeout: 10 }],
      },
    });
  });

  test("are removed completely from our own file; a version that the user relies on stays", () => {
    const after = edit.add(null);
    expect(edit.remove(after, null)).toBeNull();
    expect(edit.remove(after, undefined)).toBeNull();
    const used = json(after);
    used.hooks.stop = [{ command: "theirs" }];
    expect(json(edit.remove(Buffer.from(JSON.stringify(used)), null))).toEqual({
      version: 1,
      hooks: { stop: [{ command: "theirs" }] },
    });
    const before = Buffer.from('{"version": 1, "hooks": {}}');
    expect(json(edit.remove(edit.add(before), before))).toEqual({ version: 1, hooks: {} });
    const plain = Buffer.from('{"other": 1}');
    expect(json(edit.remove(edit.add(plain), plain))).toEqual({ other: 1 });
  });

  test("another version is not ours to change", () => {
    const added = json(edit.add(Buffer.from('{"version": 2}')));
    expect(added.version).toBe(2);
  });
});

test("a hook of another kind in our group keeps the group", () => {
  const theirs = { type: "prompt", prompt: "be kind" };
  const text = JSON.stringify({ hooks: { start: [{ hooks: [{ type: "command", command: "ours start" }, theirs] }] } });
  expect(json(editWith(claudeLayout).remove(Buffer.from(text), undefined))).toEqual({
    hooks: { start: [{ hooks: [theirs] }] },
  });
});

for (const [name, layout] of Object.entries(LAYOUTS)) {
  test(`in and out of any document: ${name}`, () => {
    const edit = editWith(layout);
    fc.assert(
      fc.property(writtenDocuments, ({ text, value }) => {
        const before = Buffer.from(text);
        const after = edit.add(before);
        expect(edit.presence(after)).toBe("installed");
        const left = edit.remove(after, before);
        expect(isEqual(jsonc.read((left?.toString() ?? "").replace("\ufeff", "")), copyOf(value ?? {}))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
}

describe("a whole file", () => {
  const edit = wholeFileEdit("// ours 2\n", (text) => text.startsWith("// ours"));

  test("belongs to Backtrail in any version, and to no other tool", () => {
    expect(edit.presence(edit.add(null))).toBe("installed");
    expect(edit.presence(Buffer.from("// ours 1\n"))).toBe("outdated");
    expect(edit.remove(Buffer.from("// ours 1\n"), null)).toBeNull();
    const theirs = Buffer.from("// theirs\n");
    expect(edit.presence(theirs)).toBe("absent");
    expect(edit.remove(theirs, undefined)).toEqual(theirs);
    expect(() => edit.add(theirs)).toThrow("not-ours");
  });
});
