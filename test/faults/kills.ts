/**
 * The long suite: `npm run faults -- [--kills <n>] [--seed <n>] [--jobs <n>] [--only <operation>]…`. It kills at every fault point
 * of every operation, then at random moments until there were so many kills, and ends with 1 if anything was lost.
 */
import { parseArgs } from "node:util";
import { Random } from "../fuzz/random.ts";
import type { Operation } from "./operations/operation.ts";
import { OPERATIONS } from "./operations.ts";
import { type End, Scene } from "./scene.ts";
import { TwoMachines } from "./two-machines.ts";

interface Counts {
  points: number;
  random: number;
  late: number;
  lost: number;
}

interface Row {
  name: string;
  points: readonly string[];
  /** Kills at every point, then so often at random moments. */
  kill(times: number, random: Random): Promise<Counts>;
}

const ROWS: readonly Row[] = [
  ...OPERATIONS.map((operation) => ({
    name: operation.name,
    points: operation.points,
    kill: (times: number, random: Random) => killOften(operation, times, random),
  })),
  { name: "two machines syncing at once", points: [], kill: killBoth },
];
/** Two machines settle after so many rounds. */
const ROUNDS = 4;
const MAX_ROUNDS_A_KILL = 4;

async function killOften(operation: Operation, times: number, random: Random): Promise<Counts> {
  const counts: Counts = { points: 0, random: 0, late: 0, lost: 0 };
  using scene = await Scene.set(operation);
  const attempt = async (what: string, kill: () => Promise<End>): Promise<boolean> => {
    try {
      return (await kill()) === "killed";
    } catch (error) {
      counts.lost++;
      console.error(`${operation.name}, ${what}: ${error instanceof Error ? error.message : error}`);
      return true;
    }
  };
  for (const point of operation.points) if (await attempt(point, () => scene.killAt(point))) counts.points++;
  for (let tries = 0; counts.random < times && tries < times * 4; tries++) {
    const part = random.below(10_000) / 9_000;
    const alone = random.once(2);
    const what = `${alone ? "alone " : ""}after ${Math.round(part * 100)} %`;
    if (await attempt(what, () => scene.killAfter(part, alone))) counts.random++;
    else counts.late++;
  }
  return counts;
}

async function killBoth(times: number, random: Random): Promise<Counts> {
  const counts: Counts = { points: 0, random: 0, late: 0, lost: 0 };
  for (let n = 0; counts.random < times && n < times * MAX_ROUNDS_A_KILL; ) {
    using two = await TwoMachines.updateFromEvent(random);
    try {
      // Nobody works in one pair of repositories for ever.
      for (let round = 1; round <= 4 * ROUNDS && counts.random + two.kills < times; round++, n++) {
        await two.round();
        if (round % ROUNDS === 0) await two.settle();
      }
      await two.settle();
    } catch (error) {
      counts.lost++;
      console.error(`two machines: ${error instanceof Error ? error.message : error}`);
    }
    counts.random += two.kills;
    counts.late += two.late;
  }
  return counts;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: "2" },
      only: { type: "string", multiple: true },
    },
  });
  const chosen = ROWS.filter(({ name }) => !values.only || values.only.includes(name));
  const [kills, seed, jobs] = [values.kills, values.seed, values.jobs].map(Number) as [number, number, number];
  if (chosen.length === 0 || ![kills, seed, jobs].every(Number.isSafeInteger) || jobs < 1) {
    const names = ROWS.map(({ name }) => name).join("|");
    console.error(`usage: npm run faults -- [--kills <n>] [--seed <n>] [--jobs <n>] [--only <${names}>]…`);
    return 2;
  }
  const points = chosen.reduce((sum, row) => sum + row.points.length, 0);
  const each = Math.max(0, Math.ceil((kills - points) / chosen.length));
  console.log("| operation | at fault points | at random moments | too late | lost |\n| --- | --- | --- | --- | --- |");
  const total = { kills: 0, lost: 0 };
  const waiting = [...chosen];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const row = next;
      // Random numbers of its own, so that `--only` repeats what the whole run did.
      const random = new Random(seed * ROWS.length + ROWS.indexOf(row));
      const counts = await row.kill(each, random).catch((error) => {
        console.error(`${row.name}: ${error instanceof Error ? error.message : error}`);
        return { points: 0, random: 0, late: 0, lost: 1 };
      });
      total.kills += counts.points + counts.random;
      total.lost += counts.lost;
      const atPoints = `${counts.points} of ${row.points.length}`;
      console.log(`| ${row.name} | ${atPoints} | ${counts.random} | ${counts.late} | ${counts.lost} |`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  console.log(`\n${total.kills} kills, ${total.lost} of them lost something.`);
  return total.lost === 0 ? 0 : 1;
}

process.exitCode = await main();
