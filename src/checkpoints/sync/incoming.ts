/**
 * What a remote sends, which may be anything: received into a directory of its own, beside the repository's objects, checked there by
 * git and by size, and only then moved in. No ref is written by git, so nothing that is refused leaves a trace.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { namesIn } from "../../base/files.ts";
import { logError } from "../../base/log.ts";
import { oneLine, plural } from "../../base/text.ts";
import { farGit } from "../../git/remote.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { CHECKPOINT_BRANCH, CHECKPOINT_REFS, isCheckpointName } from "../layout.ts";
import { type Remote, refusal } from "./remote.ts";
import { directory } from "./state.ts";

const MIB = 1024 * 1024;
/** In all, as it is sent. */
const LARGEST_PACK = 2048 * MIB;
const LARGEST: Readonly<Record<string, number>> = { blob: 100 * MIB, tree: 16 * MIB, commit: MIB };
const MOST_OBJECTS = 5_000_000;
const MOST_REFS = 100_000;
/** What git and ssh say where somebody would have had to answer. */
const ASKS =
  /prompts disabled|could not read (?:Username|Password)|publickey|Permission denied|Authentication|Host key/i;
/** What git says of objects that it does not let in. */
const BROKEN =
  /fsck error|error in object|index-pack failed|did not send all necessary objects|bad pack|unpack-objects/i;

export interface Patience {
  seconds: number;
  signal?: AbortSignal | undefined;
}

/** What a remote has of checkpoints. */
export interface Offer {
  /** The branch's tip; null where there is none. */
  branch: string | null;
  /** Of the newer layout: ref → commit. */
  refs: Map<string, string>;
}

export async function offerOf(workspace: Workspace, remote: Remote, patience: Patience): Promise<Offer> {
  const result = await farGit(
    ["ls-remote", "--refs", "--quiet", "--", remote.fetchFrom, CHECKPOINT_BRANCH, `${CHECKPOINT_REFS}/*`],
    { cwd: workspace.root, timeoutMs: patience.seconds * 1000, signal: patience.signal },
  );
  const why = refusal(result, patience.seconds);
  if (why !== null) throw unreachable(remote, why, patience);
  const offer: Offer = { branch: null, refs: new Map() };
  for (const line of result.stdout.toString("utf8").split("\n")) {
    const [id = "", ref = ""] = line.split("\t");
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) continue;
    if (ref === CHECKPOINT_BRANCH) offer.branch = id;
    else if (isCheckpointRef(ref) && offer.refs.size < MOST_REFS) offer.refs.set(ref, id);
  }
  return offer;
}

/** Afterwards the commits `ids` and all that they need are in the repository. */
export async function receive(
  workspace: Workspace,
  remote: Remote,
  ids: readonly string[],
  patience: Patience,
): Promise<void> {
  if (ids.length === 0) return;
  removeAbandoned(workspace);
  // Of this process alone: a git that outlives a killed one still writes to its own.
  const place = join(directory(workspace), `incoming.${process.pid}.tmp`);
  mkdirSync(join(place, "pack"), { recursive: true, mode: 0o700 });
  try {
    await fetchInto(workspace, remote, ids, place, patience);
    await check(workspace, place, remote);
    moveIn(place, join(workspace.commonDir, "objects"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** What killed processes had received: whoever holds the lock is the only one who receives. */
function removeAbandoned(workspace: Workspace): void {
  for (const name of namesIn(directory(workspace)).filter((each) => each.startsWith("incoming."))) {
    try {
      rmSync(join(directory(workspace), name), { recursive: true, force: true });
    } catch (error) {
      // It is still being written to: the next one removes it.
      logError("sync", error);
    }
  }
}

async function fetchInto(
  workspace: Workspace,
  remote: Remote,
  ids: readonly string[],
  place: string,
  { seconds, signal }: Patience,
): Promise<void> {
  const settings = ["fetch.fsckObjects=true", "fetch.unpackLimit=1", "fetch.writeCommitGraph=false"];
  const args = settings.flatMap((setting) => ["-c", setting]);
  args.push("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-filter");
  args.push("--no-recurse-submodules", "--refmap=", "--", remote.fetchFrom, ...ids);
  const result = await farGit(args, {
    cwd: workspace.root,
    timeoutMs: seconds * 1000,
    signal,
    env: objectsAt(workspace, place),
    isTooMuch: () => sizeOf(join(place, "pack")) > LARGEST_PACK,
  });
  const why = refusal(result, seconds);
  if (why === null) return;
  if (result.ended === "size" || BROKEN.test(result.stderr)) throw refused(remote, why);
  throw unreachable(remote, why, { seconds, signal });
}

/** Everything that came, whether anything refers to it or not. */
async function check(workspace: Workspace, place: string, remote: Remote): Promise<void> {
  const format = "--batch-check=%(objecttype) %(objectsize)";
  const { code, stdout, stderr } = await tryGit(["cat-file", "--batch-all-objects", "--unordered", format], {
    cwd: workspace.root,
    env: { GIT_OBJECT_DIRECTORY: place },
  });
  if (code !== 0) throw refused(remote, oneLine(stderr));
  let count = 0;
  for (const line of stdout.toString("latin1").split("\n")) {
    if (line === "") continue;
    const [type = "", size = ""] = line.split(" ");
    const most = LARGEST[type];
    if (most === undefined) throw refused(remote, `It sends a ${type}, which no checkpoint has.`);
    if (Number(size) > most)
      throw refused(remote, `It sends a ${type} of ${plural(Math.ceil(Number(size) / MIB), "MiB", "MiB")}.`);
    if (++count > MOST_OBJECTS) throw refused(remote, `It sends more than ${MOST_OBJECTS} objects.`);
  }
}

/** The index goes last: a pack is there for git when its index is. */
function moveIn(place: string, objects: string): void {
  const names = readdirSync(join(place, "pack")).filter((name) => /^pack-[0-9a-f]+\.[a-z]+$/.test(name));
  mkdirSync(join(objects, "pack"), { recursive: true });
  faultPoint("sync:received");
  for (const last of [false, true]) {
    for (const name of names) {
      if (name.endsWith(".idx") === last) renameSync(join(place, "pack", name), join(objects, "pack", name));
    }
  }
}

function objectsAt(workspace: Workspace, place: string): Record<string, string> {
  // A path that begins with a quotation mark, or holds a colon, must be quoted for git.
  const own = JSON.stringify(join(workspace.commonDir, "objects"));
  return { GIT_OBJECT_DIRECTORY: place, GIT_ALTERNATE_OBJECT_DIRECTORIES: own };
}

function isCheckpointRef(ref: string): boolean {
  const [, shard = "", name = ""] = /^refs\/entire\/checkpoints\/([0-9A-Za-z]{2})\/([0-9A-Za-z]+)$/.exec(ref) ?? [];
  return isCheckpointName(name) && name.endsWith(shard);
}

function sizeOf(place: string): number {
  try {
    return readdirSync(place).reduce(
      (sum, name) => sum + (statSync(join(place, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch {
    return 0;
  }
}

export function unreachable(remote: Remote, why: string, { signal }: Patience): UserError {
  if (signal?.aborted) return new UserError("interrupted", "Interrupted.");
  return new UserError(
    "failed",
    `${remote.name} could not be reached: ${why}`,
    ASKS.test(why)
      ? "Nobody is asked for a password here: `git fetch` from there must work without one."
      : "`git ls-remote` shows whether git gets there.",
  );
}

function refused(remote: Remote, why: string): UserError {
  return new UserError(
    "refused",
    `What ${remote.name} has on the branch entire/checkpoints/v1 is refused: ${why}`,
    "Nothing of it was kept.",
  );
}
