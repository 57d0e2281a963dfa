import { expect, test } from "bun:test";
import { lstatSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type TemporaryRepository, temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome, runs } from "../../../test/support/own-process.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import { stageNumbered } from "./stage.ts";

ownHome();

const CONTENTS = ["", "a\nb\n", "a\r\nb\r\n", "a\r\nb\n", "a\0\r\n", "$Id$\n", "\xff\xfe\n", "long\n".repeat(300_000)];
const ATTRIBUTES = [
  "",
  "* text=auto\n",
  "* text eol=crlf\n",
  "*.c -text\n",
  "* ident\n",
  "* filter=shout\n",
  "* crlf\n",
];

/** Every file of a tree, as we stage it. */
async function staged(workspace: Workspace, tree: string): Promise<Map<string, { content: string; mode: number }>> {
  const directory = mkdtempSync(join(tmpdir(), "backtrail-stage-"));
  const reader = new ObjectReader(workspace);
  try {
    const trees = new TreeStore(reader, new ObjectWriter(workspace));
    const files = (await compareTrees(trees, null, tree)).flatMap(({ path, after }) =>
      after ? [{ path, entry: after, raw: null }] : [],
    );
    await stageNumbered(workspace, { trees, reader }, tree, files, directory);
    return new Map(files.map(({ path }, n) => [path, contentAt(join(directory, String(n)))]));
  } finally {
    reader.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The same, as `git checkout` writes it. */
function checkedOut(repository: TemporaryRepository, commit: string): Map<string, { content: string; mode: number }> {
  const directory = mkdtempSync(join(tmpdir(), "backtrail-stage-"));
  const place = join(directory, "tree");
  try {
    repository.git("worktree", "add", "--quiet", "--detach", place, commit);
    const names = repository.git("ls-tree", "-r", "--name-only", commit).split("\n");
    return new Map(names.map((name) => [name, contentAt(join(place, name))]));
  } finally {
    repository.git("worktree", "remove", "--force", place);
    rmSync(directory, { recursive: true, force: true });
  }
}

function contentAt(path: string): { content: string; mode: number } {
  return { content: readFileSync(path, "latin1"), mode: lstatSync(path).mode };
}

test("for any attributes, settings and contents, files are staged as git writes them", async () => {
  const file = fc.record({ content: fc.constantFrom(...CONTENTS), executable: fc.boolean() });
  const world = fc.record({
    files: fc.dictionary(fc.constantFrom("a.c", "b", "below/c.c", "below/d"), file, { minKeys: 1 }),
    attributes: fc.dictionary(
      fc.constantFrom(".gitattributes", "below/.gitattributes", ".git/info/attributes"),
      fc.constantFrom(...ATTRIBUTES),
    ),
    autocrlf: fc.constantFrom("true", "input", "false"),
    eol: fc.constantFrom("crlf", "lf", "native"),
  });
  const property = fc.asyncProperty(world, async ({ files, attributes, autocrlf, eol }) => {
    using repository = temporaryRepository();
    const workspace = await enabledWorkspace(repository.path);
    for (const [path, { content, executable }] of Object.entries(files)) {
      const blob = repository.git("hash-object", "-w", "--no-filters", repository.write(path, content));
      const mode = executable ? "100755" : "100644";
      repository.git("update-index", "--add", "--cacheinfo", `${mode},${blob},${path}`);
    }
    for (const [path, text] of Object.entries(attributes)) {
      repository.write(path, text);
      if (!path.startsWith(".git/")) repository.git("add", "--", path);
    }
    repository.git("config", "core.autocrlf", autocrlf);
    repository.git("config", "core.eol", eol);
    repository.git("config", "filter.shout.smudge", "tr a-z A-Z");
    repository.git("commit", "--quiet", "--no-verify", "--message", "files");
    const commit = repository.git("rev-parse", "HEAD");
    // What lies in the work tree says nothing about another tree.
    repository.write(".gitattributes", "* filter=nobody\n");
    const ours = await staged(workspace, repository.git("rev-parse", "HEAD^{tree}"));
    expect(ours).toEqual(checkedOut(repository, commit));
  });
  await fc.assert(property, runs(20));
});
