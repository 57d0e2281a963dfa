/** A local copy of a remote's checkpoints: fetched incrementally, and checked as `sync fetch` checks them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { dataDirectory } from "../../base/paths.ts";
import { checkpointHome } from "../../checkpoints/branch/location.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/format/layout.ts";
import { CheckpointReader } from "../../checkpoints/read/read.ts";
import { differing } from "../../checkpoints/sync/merge-trees.ts";
import { findRemote } from "../../checkpoints/sync/remote.ts";
import { fetch } from "../../checkpoints/sync/sync.ts";
import { treeOf } from "../../checkpoints/write/commit.ts";
import { openObjects } from "../../checkpoints/write/write.ts";
import { gitIn } from "../../git/git.ts";
import { readRef } from "../../git/refs.ts";
import { git } from "../../git/run.ts";
import { createWorkspace, type Workspace } from "../../git/workspace.ts";

const PATIENCE_SECONDS = 600;

export class Mirror {
  readonly #workspace: Workspace;
  readonly #home: Workspace;
  readonly #address: string;

  private constructor(workspace: Workspace, address: string) {
    this.#workspace = workspace;
    this.#home = checkpointHome(workspace);
    this.#address = address;
  }

  static async open(address: string): Promise<Mirror> {
    const directory = join(dataDirectory(), "hub", "sources", hexDigest("sha256", address).slice(0, 20));
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await git(["init", "--quiet"], { cwd: directory });
    return new Mirror(await createWorkspace(directory), address);
  }

  /** Returns the commit of the checkpoint branch; null if the remote has none. */
  async fetch(): Promise<string | null> {
    const remote = await findRemote(this.#workspace, this.#address);
    await fetch(this.#workspace, remote, { seconds: PATIENCE_SECONDS });
    return readRef(this.#home, CHECKPOINT_BRANCH);
  }

  /** The checkpoints that differ between two commits of the branch; all if the earlier one is null or unknown. */
  async changedSince(commit: string, before: string | null): Promise<string[]> {
    const objects = openObjects(this.#home);
    try {
      const tree = await treeOf(objects.reader, commit);
      const earlier = before === null ? null : await treeOf(objects.reader, before).catch(() => null);
      return await differing(objects, tree, earlier);
    } finally {
      objects.reader.close();
    }
  }

  reader(): CheckpointReader {
    return new CheckpointReader(this.#workspace);
  }

  /** Who wrote each checkpoint: the author of the first commit that has it, by e-mail address in lower case. */
  async authors(commit: string): Promise<Map<string, string>> {
    const listed = await gitIn(this.#home).run(["log", "--reverse", "--format=%ae%x00%s", commit]);
    const authors = new Map<string, string>();
    for (const line of listed.toString("utf8").split("\n")) {
      const [email = "", subject = ""] = line.split("\0");
      const id = /^Checkpoint: (\S+)$/.exec(subject)?.[1];
      if (id !== undefined && !authors.has(id)) authors.set(id, email.toLowerCase());
    }
    return authors;
  }
}
