/** The files that differ between two trees, with their line counts, from one git process. */
import { decodePath, splitAtNul } from "../../../base/fs/path-bytes.ts";
import { gitIn } from "../../../git/git.ts";
import { readingEnvironment } from "../../../git/private/store.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { ChangedFile } from "../../protocol.ts";

const STATUS: Readonly<Record<string, ChangedFile["status"]>> = { A: "added", D: "deleted", R: "renamed", C: "added" };
const NO_MODE = "000000";
const COLON = 58;

/** `before` null is the empty tree. */
export async function changedFiles(workspace: Workspace, before: string | null, after: string): Promise<ChangedFile[]> {
  if (before === after) return [];
  const options = ["-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--find-renames"];
  const output = await gitIn(workspace).run(["diff-tree", ...options, before ?? emptyTree(workspace), after], {
    env: readingEnvironment(workspace),
  });
  return parse(output);
}

function emptyTree({ hash }: Workspace): string {
  return hash === "sha1"
    ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    : "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
}

/** Records of `--raw` begin with a colon; those of `--numstat` follow, in the same order. */
function parse(output: Buffer): ChangedFile[] {
  const fields = splitAtNul(output);
  const files: ChangedFile[] = [];
  let at = 0;
  for (; fields[at]?.[0] === COLON; at++) {
    const [oldMode = "", newMode = "", oldId, newId, letter = ""] = (fields[at]?.toString("latin1") ?? "")
      .slice(1)
      .split(" ");
    const isRename = letter.startsWith("R") || letter.startsWith("C");
    const oldPath = decodePath(fields[++at] ?? Buffer.alloc(0));
    const path = isRename ? decodePath(fields[++at] ?? Buffer.alloc(0)) : oldPath;
    files.push({
      path,
      oldPath: isRename ? oldPath : null,
      status: STATUS[letter[0] ?? ""] ?? (oldId === newId ? "mode" : "modified"),
      lines: null,
      binary: false,
      oldMode: oldMode === NO_MODE ? null : oldMode,
      newMode: newMode === NO_MODE ? null : newMode,
    });
  }
  for (const file of files) {
    const [added = "", deleted = "", path = ""] = (fields[at++]?.toString("latin1") ?? "").split("\t");
    // The two paths of a rename are separate fields.
    if (path === "") at += 2;
    file.binary = added === "-";
    if (!file.binary) file.lines = { added: Number(added), deleted: Number(deleted) };
  }
  return files;
}
