/** `fork list`: the forks there are. */
import { now } from "../../../base/clock.ts";
import { oneLine, plural } from "../../../base/text.ts";
import { type ForkStanding, standings } from "../../../restore/fork/find.ts";
import type { Io } from "../../io.ts";
import { forkJson } from "../../render/fork.ts";
import { placeOf } from "../../render/place.ts";
import { table } from "../../render/table.ts";
import { age } from "../../render/time.ts";
import { lookIntoWorkspace } from "../../workspace.ts";

interface Options {
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await lookIntoWorkspace(io);
  const found = await standings(workspace);
  if (options.json) {
    io.json({ forks: found.map(({ record, ...rest }) => ({ ...forkJson(record), ...rest })) });
    return;
  }
  if (found.length === 0) {
    io.say("There are no forks. `backtrail fork <step>` makes one.");
    return;
  }
  const { paint } = io.out;
  const rows = found.map(({ record, state, turns, lastTime }) => [
    { text: record.name, paint: (text: string) => paint("bold", text) },
    age(lastTime, now()),
    state === "ready" ? plural(turns, "turn") : WORDS[state],
    oneLine(record.from.prompt ?? `from ${record.from.step ?? record.commit?.slice(0, 12) ?? "nothing"}`),
  ]);
  const lines = table(rows, io.out.columns);
  for (const [i, standing] of found.entries()) {
    io.print(lines[i] ?? "");
    io.print(paint("dim", `  ${whereabouts(standing)}`));
  }
}

const WORDS: Readonly<Record<Exclude<ForkStanding["state"], "ready">, string>> = {
  making: "being made",
  dropping: "being dropped",
  gone: "gone",
};

function whereabouts({ record, directory }: ForkStanding): string {
  const branch = record.branch === null ? "" : `branch ${oneLine(record.branch)}`;
  if (directory === null) return branch;
  return branch === "" ? placeOf(directory, null) : `${placeOf(directory, null)}, ${branch}`;
}
