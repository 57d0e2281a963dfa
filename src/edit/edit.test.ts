import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { writtenDocuments } from "../../test/edit/jsonc-documents.ts";
import { hooksEdit, lineEdit } from "./edit.ts";
import { changeAndVerify, type Editor } from "./editor.ts";
import { claudeLayout } from "./hook-layouts.ts";
import { jsonc } from "./jsonc.ts";
import { applyChanges, copyOf, isEqual } from "./value.ts";

const ENTRIES = [
  { event: "SessionStart", command: "ours start" },
  { event: "Stop", command: "ours stop", timeout: 10 },
  { event: "PreToolUse", command: "ours tool", matcher: "Bash|Task" },
];
const isOurs = (command: string) => command.startsWith("ours ");
const hooks = hooksEdit(jsonc, { layout: claudeLayout, entries: ENTRIES, isOurs });
const text = (bytes: Buffer | null) => bytes?.toString("utf8") ?? null;
const read = (bytes: Buffer | null) => jsonc.read((text(bytes) ?? "").replace("\ufeff", ""));
const withoutSpace = (content: string | null) => content?.replace(/\s/g, "");

describe("hooks in JSON with comments", () => {
  test("the reader agrees with JSON.parse", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (document) => {
        expect(isEqual(jsonc.read(document), copyOf(JSON.parse(document)))).toBe(true);
      }),
    );
  });

  test("no key is magic", () => {
    const value = jsonc.read('{"__proto__": {"a": 1}, "constructor": 2}');
    expect(Object.keys(value ?? {})).toEqual(["__proto__", "constructor"]);
    expect(text(hooks.add(Buffer.from('{"__proto__": {"hooks": 1}}')))).toContain('"__proto__": {"hooks": 1},');
  });

  test("an added entry has the intended value, and no existing byte is lost", () => {
    fc.assert(
      fc.property(writtenDocuments, ({ text: before, value }) => {
        const after = hooks.add(Buffer.from(before));
        expect(hooks.presence(after)).toBe("installed");
        const mine = hooks.remove(after, Buffer.from(before));
        expect(isEqual(read(mine), copyOf(value ?? {}))).toBe(true);
        expect(after.toString().startsWith("\ufeff")).toBe(before.startsWith("\ufeff"));
      }),
      { numRuns: 150 },
    );
  });

  test("taken out by editing, only white space can differ", () => {
    fc.assert(
      fc.property(writtenDocuments, ({ text: before, value }) => {
        const left = text(hooks.remove(hooks.add(Buffer.from(before)), Buffer.from(before)));
        expect(withoutSpace(left)).toBe(withoutSpace(value === undefined ? `${before}{}` : before));
      }),
      { numRuns: 150 },
    );
  });

  test("edits made between adding and removing stay", () => {
    fc.assert(
      fc.property(writtenDocuments, fc.boolean(), ({ text: before, value }, isFirst) => {
        fc.pre(value !== undefined);
        const edited = (content: string) =>
          isFirst ? content.replace("{", '{ /* new */ "added": [1],') : `${content}\n/* new */`;
        fc.pre(!isFirst || Object.keys(value ?? {}).length > 0);
        const after = edited(hooks.add(Buffer.from(before)).toString());
        const left = text(hooks.remove(Buffer.from(after), Buffer.from(before)));
        expect(withoutSpace(left)).toBe(withoutSpace(edited(before)));
      }),
      { numRuns: 150 },
    );
  });

  test("a container stays only if it was there before", () => {
    const [bare, empty] = [
      Buffer.from('{\n  "a": 1\n}'),
      Buffer.from('{\n  "a": 1,\n  "hooks": {\n    "Stop": []\n  }\n}'),
    ];
    expect(text(hooks.remove(hooks.add(bare), bare))).toBe(text(bare));
    expect(text(hooks.remove(hooks.add(empty), empty))).toBe(text(empty));
    expect(text(hooks.remove(hooks.add(bare), undefined))).toBe(text(bare));
  });

  test("a container with a note of the user's stays", () => {
    const noted = hooks.add(null).toString().replace('"Stop": [', '"Stop": [ // my note');
    expect(text(hooks.remove(Buffer.from(noted), null))).toBe(
      '{\n  "hooks": {\n    "Stop": [ // my note\n    ]\n  }\n}\n',
    );
  });

  test("nothing is left of a file that held only ours", () => {
    expect(hooks.remove(hooks.add(null), null)).toBeNull();
    expect(hooks.remove(hooks.add(Buffer.from("{}")), Buffer.from("{}"))?.toString()).toBe("{}");
    const commented = Buffer.from(hooks.add(null).toString().replace("{", "{ // mine"));
    expect(text(hooks.remove(commented, null))).toContain("// mine");
    const headed = Buffer.from(`// mine\n${hooks.add(null)}`);
    expect(text(hooks.remove(headed, null))).toBe("// mine\n{}\n");
  });

  test("a group that the user shares with ours loses only ours", () => {
    const shared = '{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"ours stop"},{"command":"say"}]}]}}';
    expect(read(hooks.remove(Buffer.from(shared), undefined))).toEqual(
      copyOf({ hooks: { Stop: [{ matcher: "", hooks: [{ command: "say" }] }] } }),
    );
    const twice = '{"hooks":{"Stop":[{"hooks":[{"command":"ours a"},{"command":"say"},{"command":"ours b"}]}]}}';
    expect(read(hooks.remove(Buffer.from(twice), undefined))).toEqual(
      copyOf({ hooks: { Stop: [{ hooks: [{ command: "say" }] }] } }),
    );
    const labeled = '{"hooks":{"Stop":[{"label":"x","hooks":[{"command":"ours stop"}]}]}}';
    expect(read(hooks.remove(Buffer.from(labeled), undefined))).toEqual(
      copyOf({ hooks: { Stop: [{ label: "x", hooks: [] }] } }),
    );
  });

  test("doubled, missing or altered entries are outdated", () => {
    const installed = hooks.add(null).toString();
    expect(hooks.presence(Buffer.from(installed.replace('"timeout": 10', '"timeout": 9')))).toBe("outdated");
    expect(hooks.presence(Buffer.from(installed.replace("Bash|Task", "Bash")))).toBe("outdated");
    expect(hooks.presence(Buffer.from(installed.replace("ours start", "theirs")))).toBe("outdated");
    expect(hooks.presence(hooks.add(Buffer.from(installed)))).toBe("outdated");
    expect(hooks.presence(Buffer.from("{}"))).toBe("absent");
  });
});

test("an editor that disturbs anything is refused", () => {
  const careless: Editor = {
    ...jsonc,
    change: (before, changes) => jsonc.change(before, changes).replace("// note", ""),
  };
  const wrong: Editor = { ...jsonc, change: (before) => before };
  const changes = [{ do: "append", path: ["hooks", "Stop"], value: 1 }] as const;
  expect(() => changeAndVerify(careless, "{} // note", changes)).toThrow("not-separable");
  expect(() => changeAndVerify(wrong, "{}", changes)).toThrow("not-separable");
  expect(changeAndVerify(jsonc, "{} // note", changes)).toContain("// note");
});

test("changes to a value leave the original alone", () => {
  const before = copyOf({ a: { b: [1] } });
  expect(applyChanges(before, [{ do: "append", path: ["a", "b"], value: 2 }])).toEqual(copyOf({ a: { b: [1, 2] } }));
  expect(applyChanges(before, [{ do: "remove", path: ["a", "b", 0] }])).toEqual(copyOf({ a: { b: [] } }));
  expect(before).toEqual(copyOf({ a: { b: [1] } }));
  expect(() => applyChanges(before, [{ do: "remove", path: ["a", "c"] }])).toThrow("nothing-at");
  expect(() => applyChanges(before, [{ do: "append", path: ["a"], value: 1 }])).toThrow("wrong-type");
});

describe("a line below a comment", () => {
  const line = lineEdit("# ours", "/file");

  test("is appended at the end and removed completely, whatever bytes surround it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, isEnded) => {
        const before = Buffer.from(isEnded ? [...bytes, 10] : bytes);
        const after = line.add(before);
        expect(line.presence(after)).toBe("installed");
        expect(line.remove(after, before)?.equals(before)).toBe(true);
        const more = Buffer.concat([after, Buffer.from("*.log\n")]);
        expect(line.remove(more, before)?.toString("latin1").endsWith("*.log\n")).toBe(true);
      }),
    );
  });

  test("a line of the user's own is not ours", () => {
    expect(line.presence(Buffer.from("/file\n"))).toBe("absent");
    expect(line.presence(Buffer.from("x# ours\n/file\n"))).toBe("absent");
    expect(line.remove(line.add(null), null)).toBeNull();
  });
});
