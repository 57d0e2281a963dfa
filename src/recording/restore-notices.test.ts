import { expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { temporaryRepository } from "../../test/support/index.ts";
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

test("only the newest of many restores are reported", () => {
  using repository = temporaryRepository();
  const workspace = workspaceOf(repository.path);
  for (const restore of "abcdefgh") addNotice(workspace, KEY, notice(restore));
  expect(pendingNotices(workspace, KEY).text?.split("\n\n")).toEqual([..."defgh"].map((name) => `restored ${name}`));
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
