/** One entry in a settings file is added and taken out, and every other byte stays. */
import { describe, expect, test } from "bun:test";
import type { Edit } from "./edit.ts";
import { entryEdit, itemEdit } from "./entries.ts";
import { jsonc } from "./jsonc.ts";
import { tomlTablesEdit } from "./toml-tables.ts";

const VALUE = { command: "/bin/backtrail", args: ["mcp"] };
const server = entryEdit(jsonc, {
  path: ["mcpServers", "backtrail"],
  value: VALUE,
  isOurs: (value) => JSON.stringify(value).includes("backtrail"),
});
const approval = itemEdit(jsonc, ["enabled"], "backtrail");
const table = tomlTablesEdit({
  mark: "backtrail enable --mcp",
  keys: ["command", "args"],
  isOurs: ([first]) => first === "mcp_servers",
  wanted: () => [
    { table: ["mcp_servers", "backtrail"], key: "command", value: "/bin/backtrail" },
    { table: ["mcp_servers", "backtrail"], key: "args", value: ["mcp"] },
  ],
});

const JSON_TEXTS = [
  "{}",
  "{}\n",
  "// mine\n{}\n",
  '{"a": 1}',
  '{\n\t"a": 1, // one\n}\n',
  '{"mcpServers": {}}\n',
  '{\r\n  "mcpServers": {\r\n    "other": {"command": "x"}\r\n  }\r\n}\r\n',
  '{"enabled": ["other"], "mcpServers": {"other": {}}}',
];
const TOML_TEXTS = ["", 'model = "x"\n', "[mcp_servers.other]\ncommand = 'x'", "# mine\r\n[a]\r\nb = 1\r\n"];

function bytes(text: string): Buffer {
  return Buffer.from(text);
}

function check(edit: Edit, text: string): void {
  const before = bytes(text);
  const after = edit.add(before);
  expect(edit.presence(before)).toBe("absent");
  expect(edit.presence(after)).toBe("installed");
  const left = edit.remove(after, before)?.toString() ?? "";
  // A one-line object may be spread over lines; nothing but white space differs.
  expect(left.replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
}

describe("an entry is added and taken out again", () => {
  for (const [n, text] of JSON_TEXTS.entries()) {
    test(`of JSON ${n}`, () => check(server, text));
    test(`of a list in JSON ${n}`, () => check(approval, text));
  }
  for (const [n, text] of TOML_TEXTS.entries()) test(`of TOML ${n}`, () => check(table, text));
});

test("a file with no other entry is deleted with the entry", () => {
  for (const edit of [server, approval]) expect(edit.remove(edit.add(null), null)).toBeNull();
});

test("one TOML table holds both keys", () => {
  expect(table.add(null).toString()).toBe(
    '[mcp_servers.backtrail] # backtrail enable --mcp\ncommand = "/bin/backtrail"\nargs = ["mcp"]\n',
  );
});

test("an entry of that name that is not ours is left alone", () => {
  const foreign = bytes('{"mcpServers": {"backtrail": {"command": "other"}}}');
  const strict = entryEdit(jsonc, { path: ["mcpServers", "backtrail"], value: VALUE, isOurs: () => false });
  expect(() => strict.add(foreign)).toThrow("entry-not-ours");
  expect(strict.remove(foreign, undefined)).toBe(foreign);
});

test("keys that the user added to our entry don't make it outdated, another command does", () => {
  const withMore = bytes(JSON.stringify({ mcpServers: { backtrail: { ...VALUE, timeout: 5 } } }));
  expect(server.presence(withMore)).toBe("installed");
  const moved = bytes(JSON.stringify({ mcpServers: { backtrail: { ...VALUE, command: "/old/backtrail" } } }));
  expect(server.presence(moved)).toBe("outdated");
});

test("a text that the user had put into the list stays", () => {
  const before = bytes('{"enabled": ["backtrail"]}');
  expect(approval.presence(before)).toBe("installed");
  expect(approval.remove(before, before)).toBe(before);
});
