/** The cost of many checkpoints: none at a commit, and little more space than the conversations themselves. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contender, compare, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, enable, settle } from "../session.ts";

const FILES = 1_000;
const FLAT = "What must not matter (a commit with our hooks, one session's file in it)";
const WRITTEN = "What must not matter (the worker writes a checkpoint)";
const ROOM = "Room on disk, after `git gc` (in MB, not ms)";
const FEW = 10;
const BRANCH = "refs/heads/entire/checkpoints/v1";

export interface CheckpointSizes {
  checkpoints: number;
  sessions: number;
  /** A conversation that grows to `megabytes` over `commits`. */
  conversation: { megabytes: number; commits: number };
}

export function checkpointRows(executable: string, place: string, sizes: CheckpointSizes, pairs: number): Row[] {
  const begin = (name: string): BenchSession => {
    const repository = new Repository(join(place, name), FILES);
    enable(executable, repository);
    return new BenchSession(executable, repository);
  };
  const short = begin("few-checkpoints");
  fill(short.repository, FEW);
  const long = begin("many-checkpoints");
  fill(long.repository, sizes.checkpoints);
  const alone = begin("one-committer");
  const crowded = begin("many-committers");
  for (let i = 1; i < sizes.sessions; i++) {
    const other = new BenchSession(executable, crowded.repository);
    other.turn();
    timed(other.end());
  }
  for (const session of [short, long, alone, crowded]) {
    ready(session, 0);
    commit(session.repository);
    settle(executable, session.repository);
  }
  const many = sizes.checkpoints.toLocaleString("en");
  return [
    flat(`${many} checkpoints`, commits(long), `${FEW} checkpoints`, commits(short), pairs, FLAT),
    flat(`${sizes.sessions} sessions`, commits(crowded), "1 session", commits(alone), pairs, FLAT),
    flat(`${many} checkpoints`, writing(executable, long), `${FEW}`, writing(executable, short), pairs, WRITTEN),
    room(executable, place, sizes.conversation),
  ];
}

function flat(what: string, ours: Contender, base: string, other: Contender, pairs: number, group: string): Row {
  return { group, what, base, goal: { kind: "flat" }, times: compare(other, ours, pairs) };
}

function commits(session: BenchSession): Contender {
  let count = 0;
  return { prepare: () => ready(session, ++count), run: () => commit(session.repository) };
}

function writing(executable: string, session: BenchSession): Contender {
  let count = 0;
  const written = () => checkpointsIn(session.repository);
  return {
    prepare: () => {
      settle(executable, session.repository);
      ready(session, --count);
      commit(session.repository);
    },
    run: () => {
      const before = written();
      const began = performance.now();
      settle(executable, session.repository);
      const time = performance.now() - began;
      // A worker that had nothing to do would look fast.
      if (written() !== before + 1) throw new Error("The worker wrote no checkpoint.");
      return time;
    },
  };
}

/** A turn that changed a file, staged. */
function ready(session: BenchSession, count: number): void {
  const { repository } = session;
  timed(session.prompt());
  writeFileSync(join(repository.path, "committed.txt"), `${count} ${randomUUID()}\n`);
  session.answer();
  timed(session.stop());
  repository.git("add", "--all");
}

function commit(repository: Repository): number {
  const args = ["commit", "--quiet", "--message", "one more"];
  return timed({ program: "git", args, cwd: repository.path, env: repository.environment() });
}

/** All objects of the repository against the conversation as the agent has it. */
function room(executable: string, place: string, { megabytes, commits: count }: CheckpointSizes["conversation"]): Row {
  const repository = new Repository(join(place, "conversation"), FILES);
  repository.git("gc", "--quiet");
  const before = sizeOf(repository);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  session.growInWords(megabytes * 1e6);
  for (let i = 0; i < count; i++) {
    ready(session, i);
    commit(repository);
    settle(executable, repository);
  }
  if (checkpointsIn(repository) !== count) throw new Error("Checkpoints are missing.");
  repository.git("gc", "--quiet");
  const times = { base: [session.transcriptBytes / 1e6], ours: [(sizeOf(repository) - before) / 1e6] };
  const what = `${count} checkpoints of a conversation of ${megabytes} MB, and its steps`;
  return { group: ROOM, what, base: "the conversation at its end", goal: { kind: "ratio", most: 3 }, times };
}

/** Checkpoints as another machine would have written them, packed. */
function fill(repository: Repository, count: number): void {
  const lines = [`commit ${BRANCH}`, "committer Ada <ada@example.com> 1767600000 +0000", "data 5", "first"];
  for (let i = 0; i < count; i++) {
    const id = Bun.hash(String(i)).toString(16).padStart(16, "0").slice(0, 12);
    const path = `${id.slice(0, 2)}/${id.slice(2)}`;
    const file = (name: string, text: string) =>
      lines.push(`M 100644 inline ${path}/${name}`, `data ${Buffer.byteLength(text)}`, text);
    file("metadata.json", JSON.stringify({ checkpoint_id: id, sessions: [{}] }));
    file(
      "0/metadata.json",
      JSON.stringify({ checkpoint_id: id, session_id: id, agent: "Claude Code", checkpoints_count: 1 }),
    );
    file("0/full.jsonl", JSON.stringify({ type: "user", message: { content: `Prompt ${i}` } }));
    file("0/prompt.txt", `Prompt ${i}`);
  }
  const env = repository.environment();
  const input = `${lines.join("\n")}\n`;
  const result = spawnSync("git", ["fast-import", "--quiet"], { cwd: repository.path, env, input, encoding: "utf8" });
  if (result.status !== 0) throw new Error(`The checkpoints could not be imported: ${result.stderr}`);
}

function checkpointsIn(repository: Repository): number {
  const args = ["ls-tree", "-r", "-d", "--name-only", BRANCH];
  const options = {
    cwd: repository.path,
    env: repository.environment(),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  } as const;
  return execFileSync("git", args, options)
    .split("\n")
    .filter((name) => /^..\/.{10}$/.test(name)).length;
}

function sizeOf(repository: Repository): number {
  const objects = join(repository.path, ".git", "objects");
  return readdirSync(objects, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    const found = statSync(join(objects, name));
    return sum + (found.isFile() ? found.size : 0);
  }, 0);
}
