import { expect, test } from "bun:test";
import { isSafePath } from "../../base/fs/tree-paths.ts";
import type { TreeDifference } from "../../git/objects/tree-diff.ts";
import { EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE } from "../../git/objects/trees.ts";
import { effectPath } from "../side-effects/model.ts";
import { type PathType, type PlanInput, planFiles, type WorkTreeView } from "./files.ts";

const entry = (id: string, mode = FILE_MODE) => ({ id, mode });

function added(path: string): TreeDifference {
  return { path, status: "added", before: null, after: entry("new") };
}

function deleted(path: string): TreeDifference {
  return { path, status: "deleted", before: entry("old"), after: null };
}

function changed(path: string, before = entry("old"), after = entry("new")): TreeDifference {
  return { path, status: "modified", before, after };
}

function viewOf(found: Record<string, PathType>): WorkTreeView {
  return {
    at: (path) => found[path] ?? "nothing",
    below: (path) => Object.keys(found).filter((inner) => inner.startsWith(`${path}/`)),
    hasOtherName: () => false,
  };
}

function plan(differences: TreeDifference[], found: Record<string, PathType> = {}, more: Partial<PlanInput> = {}) {
  return planFiles({
    differences,
    presentRaw: new Map(),
    targetRaw: new Map(),
    rawOnly: new Map(),
    uncapturedNow: [],
    uncapturedAtTarget: [],
    protectedDirectories: [],
    skipWorktreePaths: new Set(),
    isSelected: () => true,
    workTree: viewOf(found),
    ...more,
  });
}

test("paths that git itself would refuse are never touched", () => {
  const hostile = [
    ".git/hooks/post-checkout",
    "a/.GIT/config",
    "../up",
    "a/../../up",
    "/absolute",
    "a//b",
    "./a",
    "git~1/x",
    ".git./x",
    ".GIT  /x",
    ".git::$INDEX_ALLOCATION/x",
    ".g\u200cit/x",
  ];
  for (const path of hostile) expect(isSafePath(path)).toBe(false);
  for (const path of ["a", "a/b", ".gitignore", ".github/x", ".git.x", "a:b", "a..b", "..a"])
    expect(isSafePath(path)).toBe(true);
  const { files, notUndone } = plan([...hostile.map(added), deleted(".git/HEAD"), added("fine")]);
  expect(files.write.map(({ path }) => path)).toEqual(["fine"]);
  expect(files.delete).toEqual([]);
  expect(notUndone).toHaveLength(hostile.length + 1);
});

test("a change of mode alone is not a write, unless a link becomes a file with the same content", () => {
  const { files } = plan([
    changed("run", entry("x"), entry("x", EXECUTABLE_MODE)),
    changed("link", entry("x", SYMLINK_MODE), entry("x")),
  ]);
  expect(files.chmod).toEqual([{ path: "run", mode: EXECUTABLE_MODE }]);
  expect(files.write.map(({ path }) => path)).toEqual(["link"]);
});

test("bytes that git does not see are restored too", () => {
  const same = entry("x");
  const raw = new Map([["crlf", "exact"]]);
  const { files } = plan([], { crlf: "file" }, { targetRaw: raw, rawOnly: new Map([["crlf", same]]) });
  expect(files.write).toEqual([{ path: "crlf", entry: same, raw: "exact" }]);
});

test("on a file system that ignores case, a name's new case is not in its own way", () => {
  const found: Record<string, PathType> = { README: "file", readme: "file" };
  const insensitive = { workTree: { ...viewOf(found), hasOtherName: (path: string) => path === "README" } };
  const { files, notUndone } = plan([added("README"), deleted("readme")], found, insensitive);
  expect([files.delete, files.write.map(({ path }) => path), notUndone]).toEqual([["readme"], ["README"], []]);
});

test("on a case-sensitive file system, a name in another case is another file, and a conflict", () => {
  const found: Record<string, PathType> = { README: "file", readme: "file" };
  const { files, notUndone } = plan([added("README"), deleted("readme")], found);
  expect([files.delete, files.write, notUndone.map(effectPath)]).toEqual([["readme"], [], ["README"]]);
});

test("a directory gives way to a file only if all of it goes", () => {
  const found: Record<string, PathType> = { thing: "directory", "thing/a": "file" };
  expect(plan([added("thing"), deleted("thing/a")], found).files.write).toHaveLength(1);
  const { files, notUndone } = plan([added("thing"), deleted("thing/a")], { ...found, "thing/ignored": "file" });
  expect(files.write).toEqual([]);
  expect(notUndone.map(effectPath)).toEqual(["thing"]);
});

test("a recorded file is replaced by a directory; an unrecorded file is a conflict", () => {
  const found: Record<string, PathType> = { thing: "file" };
  expect(plan([deleted("thing"), added("thing/a")], found)).toMatchObject({ conflicts: [] });
  expect(plan([added("thing/a")], found).conflicts).toEqual([
    { path: "thing/a", reason: { kind: "obstacle", parent: "thing", type: "file" } },
  ]);
  const chosen = { isSelected: (path: string) => path.startsWith("thing/") };
  expect(plan([deleted("thing"), added("thing/a")], found, chosen).conflicts).toHaveLength(1);
});

test("untouched files are listed, up to a limit", () => {
  const many = Array.from({ length: 50 }, (_, i) => changed(`.agent/${i}`));
  const { notUndone } = plan(many, {}, { protectedDirectories: [".agent"] });
  expect(notUndone).toHaveLength(21);
  expect(notUndone.at(-1)).toMatchObject({ kind: "more", count: 30 });
});

test("what the target's own rules ignore is written, but never removed", () => {
  const differences = [deleted(".env"), deleted("new"), changed("both")];
  const { files, notUndone } = plan(differences, {}, { ignoredAtTarget: new Set([".env", "both"]) });
  expect([files.delete, files.write.map(({ path }) => path)]).toEqual([["new"], ["both"]]);
  expect(notUndone.map(effectPath)).toEqual([".env"]);
});
