/**
 * Adds files to a finished snapshot and stores each one in the repository or, if it is private, in the private store.
 */
import { statIfPresent } from "../../base/fs/files.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { readConversionConfig } from "../conversion/config-cache.ts";
import { type Conversion, type ConversionOptions, type Converted, storeConverted } from "../conversion/conversion.ts";
import { ObjectReader } from "../objects/reader.ts";
import { storeFile } from "../objects/store-file.ts";
import type { TreeChanges, TreeStore } from "../objects/trees.ts";
import type { ObjectWriter } from "../objects/writer.ts";
import { privateWritingEnvironment } from "../private/store.ts";
import type { Workspace } from "../workspace.ts";
import { PermissionNotes } from "./permissions.ts";
import type { Capture, Snapshot } from "./snapshot.ts";

const LARGE_TIMEOUT_MS = 600_000;

export class SnapshotAdditions {
  readonly #workspace: Workspace;
  readonly #capture: Capture;
  readonly #permissions: PermissionNotes;

  constructor(workspace: Workspace, capture: Capture) {
    this.#workspace = workspace;
    this.#capture = capture;
    this.#permissions = new PermissionNotes(workspace.root);
  }

  writerFor(path: string): ObjectWriter {
    return this.#isPrivate(path) ? this.#capture.privateWriter : this.#capture.writer;
  }

  /** Stores the exact bytes of a large file straight from disk. Returns undefined if that fails. */
  storeFile(path: string): Promise<string | undefined> {
    const file = onDisk(this.#workspace.root, path);
    return storeFile(this.#workspace, file, this.#isPrivate(path), LARGE_TIMEOUT_MS);
  }

  /** Stores files in the form that `git add` would give them. */
  async storeConverted(index: string, files: ReadonlyMap<string, Buffer>): Promise<Map<string, Converted>> {
    const all = [...files];
    const [own, shared] = [true, false].map((isPrivate) => all.filter(([path]) => this.#isPrivate(path) === isPrivate));
    const workspace = this.#workspace;
    const how = { facts: await readConversionConfig(workspace) };
    const stored = shared?.length ? (await storeConverted(workspace, index, new Map(shared), how)).stored : [];
    const writer = this.#capture.privateWriter;
    const hidden = own?.length ? (await storePrivately(workspace, writer, index, new Map(own), how)).stored : [];
    return new Map([...stored, ...hidden]);
  }

  /** Returns the snapshot with these entries applied. The entries must name objects of the writers above. */
  async apply(snapshot: Snapshot, work: TreeChanges, raw: TreeChanges): Promise<Snapshot> {
    const isPrivate = ([path]: [string, unknown]) => this.#isPrivate(path);
    const { trees, privateWriter } = this.#capture;
    if (!snapshot.shared && ![...work, ...raw].some(isPrivate))
      return { ...snapshot, ...(await applied(trees, snapshot, work, raw)) };
    const others = (changes: TreeChanges) => new Map([...changes].filter((change) => !isPrivate(change)));
    const shared = await applied(trees, snapshot.shared ?? snapshot, others(work), others(raw));
    return { ...snapshot, ...(await applied(trees.writingTo(privateWriter), snapshot, work, raw)), shared };
  }

  #isPrivate(path: string): boolean {
    if (this.#workspace.kind === "private") return false;
    if (this.#capture.isIncluded(path)) return true;
    const stat = statIfPresent(onDisk(this.#workspace.root, path));
    return this.#permissions.isPrivate(path, stat?.isFile() ? stat.mode : null);
  }
}

async function applied(
  trees: TreeStore,
  state: Pick<Snapshot, "work" | "raw">,
  work: TreeChanges,
  raw: TreeChanges,
): Promise<Pick<Snapshot, "work" | "raw">> {
  return {
    work: work.size > 0 ? await trees.apply(state.work, work) : state.work,
    raw: raw.size > 0 ? await trees.apply(state.raw, raw) : state.raw,
  };
}

/** Like `storeConverted`, but for private files: writes the converted objects to the private store. */
export async function storePrivately(
  workspace: Workspace,
  writer: ObjectWriter,
  index: string,
  files: ReadonlyMap<string, Buffer>,
  how: ConversionOptions,
): Promise<Conversion> {
  const objects = privateWritingEnvironment(workspace);
  const conversion = await storeConverted(workspace, index, files, { ...how, objects });
  // git skips objects that the repository already has. Copy them anyway: the repository may prune its own.
  const reader = new ObjectReader(workspace);
  try {
    for (const { entry } of conversion.stored.values()) writer.add("blob", await reader.require(entry.id, "blob"));
  } finally {
    reader.close();
  }
  return conversion;
}
