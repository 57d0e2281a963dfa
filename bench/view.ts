/**
 * Measures the server of `backtrail view` on this machine: its start beside that of the bare program, the diff of a turn
 * of 500 files beside `git diff`, one file at one turn, and the memory of the server with a long timeline. Run it by
 * `npm run bench:view`.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import {
  bash,
  executable,
  ScriptedClaude,
  type TemporaryRepository,
  temporaryRepository,
} from "../test/support/index.ts";
import { startView, type ViewProcess } from "../test/support/view/server.ts";

const FILES = 500;
const STEPS = 10_000;
const RUNS = 15;

const repository = temporaryRepository();
try {
  await prepare(repository);
  await using view = await startView(repository);
  console.log(`server start / bare start     ${(await startRatio(repository)).toFixed(2)}  (goal: at most 3)`);
  console.log(
    `diff of ${FILES} files / git diff  ${(await diffRatio(repository, view)).toFixed(2)}  (goal: at most 2)`,
  );
  console.log(`one file at one turn          ${(await fileTime(view)).toFixed(0)} ms  (goal: at most 100)`);
  lengthen(repository);
  console.log(`first page of ${STEPS} steps    ${(await timelineTime(view)).toFixed(0)} ms`);
  console.log(`memory of the server          ${memoryOf(view.pid)} MB  (goal: at most 120)`);
} finally {
  repository.remove();
}

async function prepare(place: TemporaryRepository): Promise<void> {
  for (let i = 0; i < FILES; i++) place.write(`src/file-${i}.txt`, lines(i, "before"));
  place.commit("files");
  await place.run(["enable", "--agent", "claude-code"]);
  const agent = new ScriptedClaude(place);
  await agent.start();
  await agent.turn("Change everything", [bash("sed -i s/before/after/ src/*.txt")], "Done.");
}

function lines(seed: number, word: string): string {
  return Array.from({ length: 60 }, (_, i) => (i % 20 === 0 ? `${word} ${seed} ${i}` : `line ${seed} ${i}`)).join("\n");
}

/** Repeats the recorded steps under other ids and sessions, as a long history would have them. */
function lengthen(place: TemporaryRepository): void {
  const file = place.at(".git/backtrail/steps.jsonl");
  const recorded = readFileSync(file, "utf8").trim().split("\n");
  const files = { added: [], modified: ["src/file-1.txt", "src/file-2.txt"], deleted: [] };
  const turn = recorded.slice(-2).map((line) => ({ ...JSON.parse(line), files }));
  const text: string[] = [];
  for (let i = 0; i < STEPS / 2; i++) {
    const id = (n: number) =>
      [...n.toString(16).padStart(12, "0")].map((c) => String.fromCharCode(107 + Number.parseInt(c, 16))).join("");
    for (const [k, step] of turn.entries())
      text.push(
        JSON.stringify({
          ...step,
          id: id(2 * i + k + 1),
          session: `session-${i % 500}`,
          turn: Math.floor(i / 500) + 1,
        }),
      );
  }
  appendFileSync(file, `${text.join("\n")}\n`);
}

async function startRatio(place: TemporaryRepository): Promise<number> {
  const options = { cwd: place.path, env: place.environment() };
  const bare = await median(() => {
    spawnSync(executable(), ["--version"], options);
  });
  const starting = await median(async () => {
    const started = performance.now();
    const view = await startView(place, { signedOut: true });
    const took = performance.now() - started;
    await view.stop();
    return took;
  });
  return starting / bare;
}

async function diffRatio(place: TemporaryRepository, view: ViewProcess): Promise<number> {
  const turn = await newestTurn(view);
  const { from, to } = await view.get("changes", { turn });
  const steps = readFileSync(place.at(".git/backtrail/steps.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const treeOf = (id: string | null) => steps.find((step) => step.id === id)?.snapshot.work as string;
  const options = { cwd: place.path, env: place.environment(), maxBuffer: 1 << 28 };
  const git = await median(() => {
    spawnSync("git", ["diff", treeOf(from), treeOf(to)], options);
  });
  const ours = await median(async () => {
    await view.get("changes", { turn });
  });
  return ours / git;
}

async function fileTime(view: ViewProcess): Promise<number> {
  const step = await newestTurn(view);
  return median(async () => {
    await view.get("file", { step, path: "src/file-7.txt" });
  });
}

async function timelineTime(view: ViewProcess): Promise<number> {
  return median(async () => {
    await view.get("timeline");
  });
}

async function newestTurn(view: ViewProcess): Promise<string> {
  return (await view.get("timeline")).items.find((item) => item.kind === "turn")?.id ?? "";
}

/** Resident memory, in megabytes. */
function memoryOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

/** Milliseconds of a run, or what the run returns. */
async function median(run: () => Promise<unknown> | unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const started = performance.now();
    const told = await run();
    times.push(typeof told === "number" ? told : performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
}
