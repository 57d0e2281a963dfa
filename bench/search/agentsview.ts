/**
 * The same transcripts in agentsview, a local viewer for agents' sessions with its own search. Nothing in Backtrail
 * needs it: `pip install agentsview` brings the program, which runs here offline in a separate home directory.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Corpus } from "../corpus.ts";
import { compare, type Program, timed } from "../measure.ts";
import { differenceOf, ratioOf, spreadOf } from "../statistics.ts";
import { program, started, type Taken, taken } from "./program.ts";

const PAIRS = 15;
const NEEDLES = 50;
const COMMON = "return";
/** What agentsview calls the fields of the needles. */
const LOCATIONS = {
  prompt: "message",
  answer: "message",
  thinking: "thinking",
  command: "tool_input",
  output: "tool_result",
};

/** `place` is the home with the corpus; `ours` is what indexing it took. */
export async function besideAgentsview(
  path: string,
  place: string,
  corpus: Corpus,
  ours: Taken,
  print: (line: string) => void,
): Promise<void> {
  const data = join(place, ".agentsview");
  const theirs = (...args: string[]): Program => ({
    ...{ program: path, args, cwd: place },
    env: { PATH: process.env["PATH"] ?? "", HOME: place, AGENTSVIEW_DATA_DIR: data, DO_NOT_TRACK: "1" },
  });
  const version = /v[\d.]+/.exec((await taken(theirs("--version"))).stdout)?.[0] ?? "";
  const alone = theirs("sync");
  const sync = await taken({ ...alone, env: { ...alone.env, AGENTSVIEW_NO_DAEMON: "1" } });
  await taken(theirs("daemon", "start"));
  try {
    const row = (...cells: string[]) => print(`| ${cells.join(" | ")} |`);
    print(`\n#### Beside agentsview ${version}, on the same transcripts\n`);
    print("It also keeps an archive for its page, and its searches ask a server that stays in the background.\n");
    row("what", "Backtrail", "agentsview");
    row("---", "---", "---");
    row("indexing everything, from start to end", seconds(ours.seconds), seconds(sync.seconds));
    row("… by processor time", seconds(ours.cpu), seconds(sync.cpu));
    row("… peak memory", megabytes(ours.memory), megabytes(sync.memory));
    const share = (folder: string) => `${((sizeOf(folder) / corpus.bytes) * 100).toFixed(0)} %`;
    row("size on disk, of the transcripts", share(join(place, "backtrail", "state", "search")), share(data));
    const word = corpus.needles[0]?.word ?? "";
    for (const [what, ...args] of [
      ["a search for a rare word, in everything", word],
      ["a search for a rare word, in messages only", word, "--fts"],
      ["a search for a common word, 20 hits, in everything", COMMON, "--limit", "20"],
    ] as const) {
      const fields = (args as readonly string[]).includes("--fts") ? ["field:prompt,answer"] : [];
      const times = compare(
        { run: () => timed(theirs("session", "search", "--json", ...args)) },
        { run: () => timed(program(place, ["search", "--json", args[0], ...fields])) },
        PAIRS,
      );
      const ratio = ratioOf(times).median.toFixed(2);
      const [our, their] = [spreadOf(times.ours).median, spreadOf(times.base).median];
      row(
        what,
        `${our.toFixed(0)} ms (${ratio} ×, ${differenceOf(times).median.toFixed(0)} ms)`,
        `${their.toFixed(0)} ms`,
      );
    }
    const [our, their] = [
      await started(place, "--json", word),
      await taken(theirs("session", "search", "--json", word)),
    ];
    const memory = `${megabytes(their.memory)}, and ${megabytes(serverMemory(data))} of its server`;
    row("peak memory of a search", megabytes(our.memory), memory);
    const needles = corpus.needles.filter((_, at) => at % Math.ceil(corpus.needles.length / NEEDLES) === 0);
    const found = { ours: 0, theirs: 0 };
    for (const { word, field } of needles) {
      if (isOurs((await started(place, "--json", word)).stdout, field)) found.ours++;
      if (isTheirs((await taken(theirs("session", "search", "--json", word))).stdout, field)) found.theirs++;
    }
    row(
      "planted needles found in their field",
      `${found.ours} of ${needles.length}`,
      `${found.theirs} of ${needles.length}`,
    );
  } finally {
    await taken(theirs("daemon", "stop"));
  }
}

function isOurs(output: string, field: string): boolean {
  const { hits } = JSON.parse(output) as { hits: { field: string }[] };
  return hits.length === 1 && hits[0]?.field === field;
}

function isTheirs(output: string, field: keyof typeof LOCATIONS): boolean {
  const { matches } = JSON.parse(output) as { matches: { location: string }[] | null };
  return matches?.length === 1 && matches[0]?.location === LOCATIONS[field];
}

function sizeOf(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const stats = names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false }));
  return stats.reduce((sum, stat) => sum + (stat?.isFile() ? stat.size : 0), 0);
}

/** At its peak, in megabytes. The server is the process with this directory. */
function serverMemory(data: string): number {
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
      if (!environment.includes(`AGENTSVIEW_DATA_DIR=${data}`)) continue;
      const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
      return (Number(kilobytes) * 1024) / 1e6;
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
  return Number.NaN;
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}
