import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../../../test/support/captured.ts";
import { type TemporaryRepository, temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { fingerprint, treesByGit } from "../../../test/support/work-tree.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

ownHome();

async function expectLikeGit(repository: TemporaryRepository): Promise<Snapshot> {
  const workspace = await enabledWorkspace(repository.path);
  const before = fingerprint(repository.path);
  const snapshot = await captured(workspace);
  expect(fingerprint(repository.path)).toEqual(before);
  expect(snapshot.work).toBe(treesByGit(repository).work);
  return snapshot;
}

/** The files whose exact bytes are kept beside git's form of them, with those bytes. */
function raw(repository: TemporaryRepository, { raw }: Snapshot): Record<string, string> {
  if (raw === null) return {};
  const names = repository.git("ls-tree", "-r", "-z", "--name-only", raw).split("\0").filter(Boolean);
  return Object.fromEntries(names.map((name) => [name, repository.git("show", `${raw}:${name}`)]));
}

test("autocrlf=true: git restores CRLF; mixed line endings are kept as exact bytes", async () => {
  using repository = temporaryRepository();
  repository.git("config", "core.autocrlf", "true");
  repository.writeAll({ windows: "a\r\nb\r\n", unix: "a\nb\n", mixed: "a\r\nb\nc\r\n", binary: "a\0\r\n" });
  const snapshot = await expectLikeGit(repository);
  expect(Object.keys(raw(repository, snapshot))).toEqual(["README.md", "mixed", "unix"]);
});

test("autocrlf=input: what loses its CR is kept", async () => {
  using repository = temporaryRepository();
  repository.git("config", "core.autocrlf", "input");
  repository.writeAll({ windows: "a\r\nb\r\nend", unix: "a\n" });
  const snapshot = await expectLikeGit(repository);
  expect(raw(repository, snapshot)).toEqual({ windows: "a\r\nb\r\nend" });
});

test("attributes: text=auto, eol=crlf, -text, ident, in the root, below it, and in .git/info", async () => {
  using repository = temporaryRepository();
  repository.write(".gitattributes", "*.auto text=auto\n*.dos eol=crlf\n*.bin -text\n*.id ident\n");
  repository.write("below/.gitattributes", "*.auto -text\n[attr]odd text\n");
  repository.write(".git/info/attributes", "*.info text eol=lf\n");
  for (const name of ["x.auto", "x.dos", "x.bin", "x.id", "x.info", "below/x.auto", "below/x.dos"])
    repository.write(name, "$Id: 0123456789012345678901234567890123456789 $\r\nend");
  const snapshot = await expectLikeGit(repository);
  expect(Object.keys(raw(repository, snapshot)).sort()).toEqual(["x.auto", "x.id", "x.info"]);
});

test("a filter's program stores what it makes of a file, and a file that it would not give back is kept", async () => {
  using repository = temporaryRepository();
  repository.git("config", "filter.shout.clean", "tr a-z A-Z");
  repository.git("config", "filter.shout.smudge", "tr A-Z a-z");
  repository.writeAll({ ".gitattributes": "*.txt filter=shout\n", "lower.txt": "quiet", "Upper.txt": "Quiet" });
  const snapshot = await expectLikeGit(repository);
  expect(repository.git("show", `${snapshot.work}:lower.txt`)).toBe("QUIET");
  expect(raw(repository, snapshot)).toEqual({ "Upper.txt": "Quiet" });
});

test("a filter that fails loses nothing: the bytes are kept as they are, and the log says why", async () => {
  using repository = temporaryRepository();
  repository.git("config", "filter.broken.clean", "false");
  repository.git("config", "filter.broken.required", "true");
  repository.writeAll({ ".gitattributes": "*.txt filter=broken\n", "one.txt": "one", plain: "two" });
  const workspace = await enabledWorkspace(repository.path);
  const { logTo, logFile } = await import("../../base/log.ts");
  logTo(workspace.storeDir);
  const snapshot = await captured(workspace);
  expect(repository.git("show", `${snapshot.work}:one.txt`)).toBe("one");
  expect(raw(repository, snapshot)).toMatchObject({ "one.txt": "one" });
  expect(readFileSync(logFile(), "utf8")).toContain("converting files");
});

test("another encoding of the work tree", async () => {
  using repository = temporaryRepository();
  repository.write(".gitattributes", "*.txt working-tree-encoding=UTF-16LE-BOM\n");
  repository.write("wide.txt", Buffer.from("\ufeffwïde\n", "utf16le"));
  const snapshot = await expectLikeGit(repository);
  expect(repository.git("show", `${snapshot.work}:wide.txt`)).toBe("wïde");
});

test("a file with CRLF in the index stays so under text=auto, as git decides", async () => {
  using repository = temporaryRepository();
  repository.write("dos", "a\r\n");
  repository.commit("with CRLF");
  repository.write(".gitattributes", "* text=auto\n");
  repository.write("dos", "a\r\nb\r\n");
  repository.write("\u00fc dos", "a\r\nb\r\n");
  await expectLikeGit(repository);
  repository.commit("attributes");
  repository.git("rm", "--quiet", ".gitattributes");
  repository.write("other", "a\r\n");
  // Written again, so that git looks at them however long the commit took.
  for (const name of ["dos", "\u00fc dos"]) repository.write(name, "a\r\nb\r\n");
  await expectLikeGit(repository);
  repository.git("reset", "--quiet", "HEAD", ".gitattributes");
  // git's own answer depends on the order in which it adds; whichever it is, the bytes are there.
  const snapshot = await captured(await enabledWorkspace(repository.path));
  expect(raw(repository, snapshot)["other"] ?? repository.git("show", `${snapshot.work}:other`)).toBe("a\r");
});

test("names that are no UTF-8 are converted too", async () => {
  using repository = temporaryRepository();
  const { put } = await import("../../../test/support/work-tree.ts");
  repository.git("config", "core.autocrlf", "input");
  put(repository.path, "bad\udcff", "a\r\n");
  put(repository.path, "good", "a\r\n");
  const { raw } = await expectLikeGit(repository);
  expect(raw).not.toBeNull();
});

test("attributes and settings of the user's own count", async () => {
  using repository = temporaryRepository();
  const own = join(repository.home, "own-attributes");
  await Bun.write(own, "*.dos text\n");
  repository.git("config", "core.attributesFile", own);
  repository.write("x.dos", "a\r\n");
  const workspace = await enabledWorkspace(repository.path);
  const { raw } = await captured(workspace);
  expect(raw).not.toBeNull();
});
