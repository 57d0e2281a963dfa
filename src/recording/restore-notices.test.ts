import { expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { temporaryRepository } from "../../test/support/index.ts";
import { shorten } from "../base/text.ts";
import { findWorkspace, type Workspace } from "../git/workspace.ts";
import { addNotice, forgetNotices, pendingNotices } from "./restore-notices.ts";
import { noticesFile } from "./session/store.ts";

const KEY = "00aa";

function workspaceOf(path: string): Workspace {
  const workspace = findWorkspace(path);
  if (!workspace) throw new Error("There is no work tree.");
  return workspace;
}

function notice(restore: string, time = new Date().toISOString(), quotes: string[] = []) {
  return { restore, time, text: `restored ${restore}`, quotes };
}

test("each restore is reported once, in order, however often it was finished", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  for (const restore of ["a", "b", "a"]) addNotice(workspace, KEY, notice(restore));
  const pending = pendingNotices(workspace, KEY);
  expect(pending.text).toBe("restored a\n\nrestored b");
  // Until the agent has the text, a killed hook loses nothing.
  expect(pendingNotices(workspace, KEY).text).toBe(pending.text);
  pending.remove();
  expect(existsSync(noticesFile(workspace, KEY))).toBe(false);
  expect(pendingNotices(workspace, KEY).text).toBeNull();
});

test("a restore between the reply and the removal waits for the next prompt", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  addNotice(workspace, KEY, notice("a"));
  const pending = pendingNotices(workspace, KEY);
  addNotice(workspace, KEY, notice("b"));
  pending.remove();
  expect(pendingNotices(workspace, KEY).text).toBe("restored b");
});

test("old notices expire, and lines that can't be read are skipped", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  addNotice(workspace, KEY, notice("a", "2020-01-01T00:00:00.000Z"));
  const expired = pendingNotices(workspace, KEY);
  expect(expired.text).toBeNull();
  appendFileSync(noticesFile(workspace, KEY), '{"restore":1}\nnull\n{"rest');
  addNotice(workspace, KEY, notice("b"));
  expect(pendingNotices(workspace, KEY).text).toBe("restored b");
});

test("a restore and its reversal cancel out, unless one of them is told already", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  const redo = (restore: string, takesBack: string) => ({ ...notice(restore), takesBack });
  const told = () => pendingNotices(workspace, KEY).text;
  addNotice(workspace, KEY, notice("a"));
  addNotice(workspace, KEY, notice("b"));
  addNotice(workspace, KEY, redo("c", "b"));
  expect(told()).toBe("restored a");
  // The reversal is reverted: b is in force again.
  addNotice(workspace, KEY, redo("d", "c"));
  expect(told()).toBe("restored a\n\nrestored b");
  addNotice(workspace, KEY, redo("e", "a"));
  expect(told()).toBe("restored b");
  pendingNotices(workspace, KEY).remove();
  addNotice(workspace, KEY, redo("f", "b"));
  expect(told()).toBe("restored f");
});

test("of many restores in force the newest are told whole, and none is dropped silently", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  const text = (name: string | number) => `restored ${name}\n${"x".repeat(500)}\nadvice`;
  const add = (name: string | number) => addNotice(workspace, KEY, { ...notice(`${name}`), text: text(name) });
  for (const name of "abcdefgh") add(name);
  const short = (name: string | number) => `restored ${name}\n${shorten("x".repeat(500), 240)}`;
  const told = () => pendingNotices(workspace, KEY).text?.split("\n\n") ?? [];
  expect(told()).toEqual([...[..."abc"].map(short), ...[..."defgh"].map(text)]);
  for (let i = 0; i < 100; i++) add(i);
  expect(told().slice(0, 2)).toEqual(["[Backtrail] … and 88 more (backtrail ops)", short(80)]);
  expect(told()).toHaveLength(21);
});

test("forgetting a session keeps other sessions' notices that do not quote it", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  addNotice(workspace, KEY, notice("a"));
  addNotice(workspace, "00bb", notice("a", undefined, [KEY]));
  addNotice(workspace, "00bb", notice("b"));
  forgetNotices(workspace, KEY);
  expect(existsSync(noticesFile(workspace, KEY))).toBe(false);
  expect(readFileSync(noticesFile(workspace, "00bb"), "utf8")).not.toContain("restored a");
  expect(pendingNotices(workspace, "00bb").text).toBe("restored b");
});
