/** For tests: JSON with comments in every style that people and tools write it in. */
import fc from "fast-check";
import type { Value } from "../../src/edit/value.ts";

export interface WrittenDocument {
  text: string;
  value: Value | undefined;
}

interface Style {
  newline: "\n" | "\r\n";
  indent: string;
  isOneLine: boolean;
  hasTrailingCommas: boolean;
  colon: string;
  /** Put before and after members, taken in turn. */
  comments: string[];
  mark: "" | "\ufeff";
  end: string;
}

const OWN_HOOK = { hooks: [{ type: "command", command: "say done" }] };

const key = fc.oneof(
  fc.constantFrom("permissions", "env", "model", "a b", "ключ", "__proto__", "constructor", "1", ""),
  fc.string({ maxLength: 6 }),
);

const anything = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Value>(null, true, false, 0, -1.5, 1e21, "", "{", "// no comment", '\n\t"\\', "😀"),
    fc.string({ maxLength: 8 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3 }),
  ),
})).value as fc.Arbitrary<Value>;

const hooks = fc.dictionary(
  fc.constantFrom("Stop", "SessionStart", "PreToolUse", "Notification"),
  fc.array(
    fc.constantFrom<Value>(OWN_HOOK, { matcher: "Edit", hooks: [] }, { hooks: [...OWN_HOOK.hooks, ...OWN_HOOK.hooks] }),
    {
      maxLength: 2,
    },
  ),
  { maxKeys: 3 },
);

const settings: fc.Arbitrary<Value> = fc
  .tuple(fc.dictionary(key, anything, { maxKeys: 4 }), fc.option(hooks, { nil: undefined }), fc.boolean())
  .map(([rest, own, first]): Value => {
    if (own === undefined) return rest;
    return first ? { hooks: own, ...rest } : { ...rest, hooks: own };
  });

const style: fc.Arbitrary<Style> = fc.record({
  newline: fc.constantFrom("\n" as const, "\r\n" as const),
  indent: fc.constantFrom("  ", "    ", "\t", " ", ""),
  isOneLine: fc.boolean(),
  hasTrailingCommas: fc.boolean(),
  colon: fc.constantFrom(": ", ":", " : "),
  comments: fc.array(fc.constantFrom("", "", "// a note", "/* { */", '// "hooks": {', "/* ü\n * long */"), {
    maxLength: 5,
  }),
  mark: fc.constantFrom("" as const, "\ufeff" as const),
  end: fc.constantFrom("", "\n", "\r\n", "\n\n", "  ", "\n// end"),
});

export const writtenDocuments: fc.Arbitrary<WrittenDocument> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(settings, style).map(([value, how]) => ({ text: written(value, how), value })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("", " ", "\n", "\r\n\r\n", "// only a note", "/* a */ // b\n", "\ufeff", "\ufeff\n")
      .map((text) => ({ text, value: undefined })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("{}", "{ }", "{\n}", "{\n\n}\n", "{ /* a */ }", "{\r\n\t// a\r\n}", "{ // a\n}", "\n\n{}")
      .map((text) => ({ text, value: {} })),
  },
);

function written(value: Value, how: Style): string {
  let used = 0;
  const comment = (): string => {
    const text = how.comments[used++ % Math.max(1, how.comments.length)] ?? "";
    return how.isOneLine && (text.startsWith("//") || text.includes("\n")) ? "/* one line */" : text;
  };
  const print = (item: Value, depth: number): string => {
    if (typeof item !== "object" || item === null) return JSON.stringify(item);
    const isList = Array.isArray(item);
    const [open, close] = isList ? "[]" : "{}";
    const members = isList
      ? item.map((element) => print(element, depth + 1))
      : Object.keys(item).map((name) => `${JSON.stringify(name)}${how.colon}${print(item[name] ?? null, depth + 1)}`);
    if (members.length === 0) return `${open}${close}`;
    const gap = how.isOneLine ? "" : how.newline + how.indent.repeat(depth + 1);
    const lines = members.map((member, index) => {
      const above = comment();
      const comma = index < members.length - 1 || how.hasTrailingCommas ? "," : "";
      const beside = comment();
      return `${gap}${above === "" ? "" : `${above}${gap}`}${member}${comma}${beside === "" ? "" : ` ${beside}`}`;
    });
    return `${open}${lines.join("")}${how.isOneLine ? "" : how.newline + how.indent.repeat(depth)}${close}`;
  };
  return `${how.mark}${print(value, 0)}${how.end}`;
}
