import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { tomlDocuments } from "../../test/edit/toml-documents.ts";
import { quoted, readToml } from "./toml.ts";
import { type OurTables, tomlTablesEdit } from "./toml-tables.ts";
import { copyOf, isEqual, type Table } from "./value.ts";

const MARK = "ours";
const STATE = ["hooks", "state"];

function tables(owner: string, values: Record<string, string>, wanted: OurTables["wanted"] | undefined = undefined) {
  return tomlTablesEdit({
    mark: MARK,
    keys: ["hash", "level"],
    isOurs: ([first, second, third]) =>
      (first === "hooks" && String(third).startsWith(`${owner}:`)) || (first === "projects" && second === owner),
    wanted:
      wanted !== undefined
        ? wanted
        : () => [
            ...Object.entries(values).map(([key, value]) => ({
              table: [...STATE, `${owner}:${key}`],
              key: "hash",
              value,
            })),
            { table: ["projects", owner], key: "level", value: "trusted" },
          ],
  });
}

const a = tables('/a b/"c"/\u007f', { "stop:0:0": "one", "start:0:0": "two" });
const b = tables("/b", { "stop:0:0": "three" });
const bytes = (text: string) => Buffer.from(text);
const value = (found: Buffer | null) => readToml((found ?? "").toString().replace("\ufeff", "")).value;

describe("TOML", () => {
  test("is read as the runtime reads it", () => {
    const plain = 'a = "x"\nb.c = true\n[d."e f"]\ng = ["h", ["i"]]\n[[j]]\nk = "l"\n[[j]]\n[j.m]\nn = { o = "p" }\n';
    expect(isEqual(readToml(plain).value, copyOf(Bun.TOML.parse(plain) as Table))).toBe(true);
    expect(Object.keys(readToml("__proto__.a = true").value)).toEqual(["__proto__"]);
  });

  test("tells values apart that only look alike", () => {
    expect(isEqual(readToml("a = 1").value, readToml('a = "1"').value)).toBe(false);
    expect(isEqual(readToml("a = 1").value, readToml("a = 1.0").value)).toBe(false);
    expect(isEqual(readToml("a = 1979-05-27").value, readToml("a = 1979-05-28").value)).toBe(false);
  });

  test("that is not valid is refused, with the reason", () => {
    for (const text of [
      "a",
      "a = ",
      "[a\n",
      "a = 1\na = 2",
      "[a]\n[a]",
      "a = {}\n[a.b]",
      "[[a]]\n[a]",
      "a.b = 1\n[a]",
    ]) {
      expect(() => readToml(text)).toThrow("not-toml");
    }
  });

  test("quotes what it must", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(readToml(`${quoted(text)} = ${quoted(text)}`).value[text]).toBe(text);
      }),
    );
  });
});

describe("tables in TOML", () => {
  test("are added without touching a byte, and taken out by editing without leaving one", () => {
    fc.assert(
      fc.property(tomlDocuments, (text) => {
        const before = bytes(text);
        const after = a.add(before);
        expect(a.presence(before)).toBe("absent");
        expect(a.presence(after)).toBe("installed");
        expect(after.subarray(0, before.length).equals(before)).toBe(true);
        expect(a.remove(after, before)?.toString()).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test("of two owners come and go in any order", () => {
    fc.assert(
      fc.property(tomlDocuments, fc.boolean(), (text, isFirst) => {
        fc.pre(text === "" || text.endsWith("\n"));
        const both = b.add(a.add(bytes(text)));
        const [one, other] = isFirst ? [a, b] : [b, a];
        const left = one.remove(both, undefined);
        expect(one.presence(left ?? bytes(""))).toBe("absent");
        expect(other.presence(left ?? bytes(""))).toBe("installed");
        expect((other.remove(left ?? bytes(""), undefined) ?? "").toString()).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  test("edits made between install and uninstall stay", () => {
    fc.assert(
      fc.property(tomlDocuments, (text) => {
        fc.pre(text.endsWith("\n"));
        const addition = `\n[later]\n[later.x]\ny = "z"\n# said later\n`;
        const after = bytes(a.add(bytes(text)).toString() + addition);
        expect(a.remove(after, bytes(text))?.toString()).toBe(text + addition);
      }),
      { numRuns: 150 },
    );
  });

  test("are removed without a key and a comment that the user added to them", () => {
    const added = b.add(null).toString();
    const noted = added.replace('hash = "three"\n', '# mine\nhash = "three"\nenabled = false\n');
    const left = b.remove(bytes(noted), null)?.toString();
    expect(left).toBe('[hooks.state."/b:stop:0:0"]\n# mine\nenabled = false\n');
  });

  test("say what they are", () => {
    expect(b.add(bytes("a = 1")).toString()).toBe(
      'a = 1\n\n[hooks.state."/b:stop:0:0"] # ours\nhash = "three"\n\n[projects."/b"] # ours\nlevel = "trusted"\n',
    );
    expect(b.remove(b.add(null), null)).toBeNull();
    expect(b.remove(b.add(bytes("")), bytes(""))?.toString()).toBe("");
  });

  test("that the user has are enough, and a string in them is changed in place", () => {
    const own =
      '[hooks.state]\n[hooks.state."/b:stop:0:0"]\nhash = \'three\' # by me\n[projects]\n"/b" = { level = "trusted" }\n';
    expect(b.presence(bytes(own))).toBe("installed");
    const old = own.replace("'three'", '"older"');
    expect(b.presence(bytes(old))).toBe("absent");
    expect(b.add(bytes(old)).toString()).toBe(own.replace("'three'", '"three"'));
    expect(b.remove(bytes(own), undefined)?.toString()).toBe(own);
  });

  test("are outdated where one is missing, differs or is no longer wanted", () => {
    const added = b.add(null).toString();
    expect(b.presence(bytes(added.replace("three", "four")))).toBe("outdated");
    expect(tables("/b", { "stop:1:0": "three" }).presence(bytes(added))).toBe("outdated");
    expect(tables("/b", {}, null).presence(bytes(added))).toBe("outdated");
    expect(tables("/b", {}, null).presence(bytes("no TOML"))).toBe("absent");
    expect(tables("/b", {}, null).remove(bytes(added), null)).toBeNull();
  });

  test("have no room in a file that says it another way", () => {
    for (const text of [
      "hooks = {}",
      'hooks.state."/b:stop:0:0".hash = "other"',
      "hooks = 1",
      "[[hooks.state]]",
      "[hooks]\nstate = {}",
    ]) {
      expect(() => b.add(bytes(text))).toThrow("not-separable");
    }
    expect(() => b.add(Buffer.from([0xff]))).toThrow("not-utf8");
  });

  test("keep the meaning of everything else", () => {
    fc.assert(
      fc.property(tomlDocuments, (text) => {
        const after = copyOf(value(a.add(bytes(text)))) as { hooks: { state: Table }; projects: Table };
        const before = value(bytes(text));
        for (const key of Object.keys(before)) {
          if (key !== "hooks" && key !== "projects")
            expect(isEqual(before[key], (after as unknown as Table)[key])).toBe(true);
        }
        expect(after.hooks.state['/a b/"c"/\u007f:stop:0:0']).toEqual(copyOf({ hash: "one" }));
      }),
    );
  });
});
