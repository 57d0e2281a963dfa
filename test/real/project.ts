/** The repository that stories play in, and how to say what is in it. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Rig } from "./rig.ts";

/** Every file with its mode and content, every link with its target; git's own directory aside. */
export type WorkTree = Record<string, string>;

const FILES: Record<string, string> = {
  ".gitignore": "*.log\n",
  "README.md": "# Example\n",
  "doc.txt": "Documentation\n",
  "run.sh": "#!/bin/sh\necho running\n",
  "src/app.txt": "alpha\nbeta\n",
};

export async function makeProject(rig: Rig): Promise<void> {
  for (const [path, content] of Object.entries(FILES)) writeIn(rig, path, content);
  chmodSync(join(rig.project, "run.sh"), 0o644);
  await rig.output(["git", "init", "--quiet", "--initial-branch=main"]);
  await rig.output(["git", "add", "--all"]);
  await rig.output(["git", "commit", "--quiet", "--message", "Begin"]);
  writeIn(rig, "notes.log", "the user's own notes\n");
}

export function writeIn(rig: Rig, path: string, content: string): void {
  const absolute = join(rig.project, path);
  mkdirSync(dirname(absolute), { recursive: true });
  writeFileSync(absolute, content);
}

export function readIn(rig: Rig, path: string): string {
  return readFileSync(join(rig.project, path), "utf8");
}

export function workTree(rig: Rig): WorkTree {
  const tree: WorkTree = {};
  collect(rig.project, "", tree);
  return tree;
}

/** Without the paths that a story looks at by themselves. */
export function except(tree: WorkTree, ...paths: string[]): WorkTree {
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !paths.includes(path)));
}

function collect(root: string, below: string, tree: WorkTree): void {
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = join(below, name);
    if (path === ".git") continue;
    const entry = lstatSync(join(root, path));
    if (entry.isDirectory()) collect(root, path, tree);
    else if (entry.isSymbolicLink()) tree[path] = `-> ${readlinkSync(join(root, path))}`;
    else tree[path] = `${(entry.mode & 0o777).toString(8)} ${readFileSync(join(root, path), "utf8")}`;
  }
}
