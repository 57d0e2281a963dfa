import { expect, test } from "bun:test";
import { scriptEdit } from "./edit.ts";
import { tomlHooksEdit } from "./toml-hooks.ts";

const entries = [
  { event: "Stop", command: "ours stop" },
  { event: "PreToolUse", command: "ours pre", matcher: "Bash", timeout: 5 },
];
const edit = tomlHooksEdit({ table: "hooks", names: {}, entries, isOurs: (command) => command.startsWith("ours ") });
const DOCUMENTS = [
  "",
  'model = "x" # mine',
  'model = "x"\n\n[[hooks]]\nevent = "Stop"\ncommand = "theirs"\n\n# the end\n',
  "[other]\r\na = 1\r\n",
];

test("hooks are added behind everything else, seen, and taken out again", () => {
  for (const text of DOCUMENTS) {
    const added = edit.add(text === "" ? null : Buffer.from(text));
    expect(added.toString()).toStartWith(text);
    expect(edit.presence(added)).toBe("installed");
    const left = edit.remove(added, Buffer.from(text));
    expect((left ?? Buffer.alloc(0)).toString().trimEnd()).toBe(text.trimEnd());
  }
  expect(edit.remove(edit.add(null), undefined)).toBeNull();
});

test("a hook has a name if the agent wants one, under its key", () => {
  const isOurs = (command: string) => command.startsWith("ours ");
  const named = [{ event: "post_agent", command: "ours stop", name: "ours-stop", timeout: 5 }];
  const ours = { table: "hooks", names: { event: "type", name: "title" }, entries: named, isOurs };
  const added = tomlHooksEdit(ours).add(null);
  expect(added.toString()).toBe(
    '[[hooks]]\ntitle = "ours-stop"\ntype = "post_agent"\ncommand = "ours stop"\ntimeout = 5\n',
  );
  expect(tomlHooksEdit(ours).presence(added)).toBe("installed");
  const nameless = tomlHooksEdit({ ...ours, names: { event: "type" } });
  expect(nameless.add(null).toString()).not.toContain("ours-stop");
  expect(nameless.presence(added)).toBe("outdated");
  expect(nameless.remove(added, null)).toBeNull();
});

test("hooks of another version are outdated, and other people's are never ours", () => {
  expect(edit.presence(Buffer.from('[[hooks]]\nevent = "Stop"\ncommand = "ours old"\n'))).toBe("outdated");
  expect(edit.presence(Buffer.from('[[hooks]]\nevent = "Stop"\ncommand = "theirs"\n'))).toBe("absent");
});

test("a list that is written as a value is left alone", () => {
  for (const text of ["hooks = []\n", "[hooks]\na = 1\n"])
    expect(() => edit.add(Buffer.from(text))).toThrow("not-array-of-tables");
});

test("a script is ours by its last line, and another one is never replaced", () => {
  const script = scriptEdit("ours stop", (command) => command.startsWith("ours "));
  const added = script.add(null);
  expect(script).toMatchObject({ executable: true });
  expect(script.presence(added)).toBe("installed");
  expect(script.remove(added, null)).toBeNull();
  expect(() => script.add(Buffer.from("#!/bin/sh\ntheirs\n"))).toThrow("not-ours");
});
