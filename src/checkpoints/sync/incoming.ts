/**
 * Receives untrusted data from a remote: fetches it into a temporary object directory, has git check it, checks sizes,
 * and only then moves it into the repository. git writes no refs, so refused data leaves no trace.
 */

import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { oneLine } from "../../base/text.ts";
import { copyHistory } from "../../git/objects/copy-history.ts";
import { farGit } from "../../git/remote.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isHidden, whileObjectsStay } from "../branch/location.ts";
import { knownIn } from "../branch/relocate.ts";
import { CHECKPOINT_BRANCH, CHECKPOINT_REFS, isCheckpointName } from "../format/layout.ts";
import { CheckpointError, type RemoteFailure } from "../problems.ts";
import { failureOf, type Remote } from "./remote.ts";
import { directory } from "./state.ts";

const MIB = 1024 * 1024;
/** The total size as sent. */
const MAX_PACK = 2048 * MIB;
const MAX_BYTES: Readonly<Record<string, number>> = { blob: 100 * MIB, tree: 16 * MIB, commit: MIB };
const MAX_OBJECTS = 5_000_000;
const MAX_REFS = 100_000;
/** Messages of git and ssh that mean a prompt would have been necessary. */
const ASKS =
  /prompts disabled|could not read (?:Username|Password)|publickey|Permission denied|Authentication|Host key/i;
/** Messages of git about objects that it rejects. */
const BROKEN =
  /fsck error|error in object|index-pack failed|did not send all necessary objects|bad pack|unpack-objects/i;

export interface Patience {
  seconds: number;
  signal?: AbortSignal | undefined;
}

/** The checkpoints that a remote has. */
export interface Offer {
  /** The branch's tip; null if there is no branch. */
  branch: string | null;
  /** Refs of the newer layout: ref → commit. */
  refs: Map<string, string>;
}

export async function offerOf(workspace: Workspace, remote: Remote, patience: Patience): Promise<Offer> {
  const result = await farGit(
    ["ls-remote", "--refs", "--quiet", "--", remote.fetchFrom, CHECKPOINT_BRANCH, `${CHECKPOINT_REFS}/*`],
    { cwd: workspace.root, timeoutMs: patience.seconds * 1000, signal: patience.signal },
  );
  const why = failureOf(result, patience.seconds);
  if (why !== null) throw unreachable(remote, why, patience);
  const offer: Offer = { branch: null, refs: new Map() };
  for (const line of result.stdout.toString("utf8").split("\n")) {
    const [id = "", ref = ""] = line.split("\t");
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) continue;
    if (ref === CHECKPOINT_BRANCH) offer.branch = id;
    else if (isCheckpointRef(ref) && offer.refs.size < MAX_REFS) offer.refs.set(ref, id);
  }
  return offer;
}

/**
 * Adds the commits `ids` and everything they need to the repository. `hold` points refs at them; it is called
 * immediately if another process may delete unreferenced objects.
 */
export async function receive(
  workspace: Workspace,
  remote: Remote,
  ids: readonly string[],
  patience: Patience,
  hold: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  if (ids.length === 0) return;
  removeAbandoned(workspace);
  // The directory is specific to this process: a git that outlives its killed parent keeps writing to its own.
  const place = join(directory(workspace), `incoming.${process.pid}.tmp`);
  mkdirSync(join(place, "pack"), { recursive: true, mode: 0o700 });
  try {
    await fetchInto(workspace, remote, ids, place, patience);
    await check(workspace, place, remote);
    if (isHidden(workspace)) await copyIn(workspace, ids, place, hold);
    else moveIn(place, join(workspace.commonDir, "objects"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Deletes data received by killed processes: only the holder of the lock receives. */
function removeAbandoned(workspace: Workspace): void {
  for (const name of namesIn(directory(workspace)).filter((each) => each.startsWith("incoming."))) {
    try {
      rmSync(join(directory(workspace), name), { recursive: true, force: true });
    } catch (error) {
      // Another process is still writing to it: the next call removes it.
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
  // The user's refs do not reflect which objects the private repository has.
  if (isHidden(workspace)) args.push(...(await knownIn(workspace)).map((commit) => `--negotiation-tip=${commit}`));
  args.push("--no-recurse-submodules", "--refmap=", "--", remote.fetchFrom, ...ids);
  const result = await farGit(args, {
    cwd: workspace.root,
    timeoutMs: seconds * 1000,
    signal,
    env: objectsAt(workspace, place),
    isTooMuch: () => sizeOf(join(place, "pack")) > MAX_PACK,
  });
  const why = failureOf(result, seconds);
  if (why === null) return;
  if (result.ended === "size" || BROKEN.test(result.stderr)) throw refused(remote, why);
  throw unreachable(remote, why, { seconds, signal });
}

/** Checks every received object, whether or not anything refers to it. */
async function check(workspace: Workspace, place: string, remote: Remote): Promise<void> {
  const format = "--batch-check=%(objecttype) %(objectsize)";
  const { code, stdout, stderr } = await tryGit(["cat-file", "--batch-all-objects", "--unordered", format], {
    cwd: workspace.root,
    env: { GIT_OBJECT_DIRECTORY: place },
  });
  if (code !== 0) throw refused(remote, { kind: "said", text: oneLine(stderr) });
  let count = 0;
  for (const line of stdout.toString("latin1").split("\n")) {
    if (line === "") continue;
    const [type = "", size = ""] = line.split(" ");
    const max = MAX_BYTES[type];
    if (max === undefined) throw refused(remote, { kind: "unknown-object", type });
    if (Number(size) > max)
      throw refused(remote, { kind: "large-object", type, mebibytes: Math.ceil(Number(size) / MIB) });
    if (++count > MAX_OBJECTS) throw refused(remote, { kind: "too-many-objects", max: MAX_OBJECTS });
  }
}

/** git omits objects that the user's repository has; the private repository needs its own copies of them. */
async function copyIn(
  home: Workspace,
  ids: readonly string[],
  place: string,
  hold: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  faultPoint("sync:received");
  const known = await knownIn(home);
  await whileObjectsStay(home, async () => {
    await copyHistory(home, ids, known, objectsAt(home, place));
    await hold(ids);
  });
}

/** Moves the index last: git sees a pack only once its index exists. */
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
  // git requires quotes around a path that begins with a quotation mark or contains a colon.
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

export function unreachable(remote: Remote, why: RemoteFailure, { signal }: Patience): CheckpointError {
  if (signal?.aborted) return new CheckpointError("interrupted", { kind: "interrupted" });
  return new CheckpointError("failed", {
    kind: "remote-unreachable",
    remote: remote.name,
    reason: why,
    asks: why.kind === "said" && ASKS.test(why.text),
  });
}

function refused(remote: Remote, why: RemoteFailure): CheckpointError {
  return new CheckpointError("refused", { kind: "remote-refused", remote: remote.name, reason: why });
}
