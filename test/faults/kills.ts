/**
 * The long suite: `npm run faults -- [--kills <n>] [--seed <n>] [--jobs <n>] [--only <operation>]…`. It kills at every fault point
 * of every operation, then at random moments until there were so many kills, and ends with 1 if anything was lost.
 */
import { parseArgs } from "node:util";
import { Random } from "../fuzz/random.ts";
import type { Operation } from "./operations/operation.ts";
import { OPERATIONS } from "./operations.ts";
import { type End, Scene } from "./scene.ts";

interface Counts {
  points: number;
  random: number;
  late: number;
  lost: number;
}

/** Random kills of one operation. Each has random numbers of its own, so that `--only` repeats what the whole run did. */
async function killOften(operation: Operation, times: number, seed: number): Promise<Counts> {
  const random = new Random(seed + OPERATIONS.indexOf(operation));
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
  for (let tries = 0; counts.random < times && tries < times * 2; tries++) {
    const part = random.below(10_000) / 9_000;
    const alone = random.once(2);
    const what = `${alone ? "alone " : ""}after ${Math.round(part * 100)} %`;
    if (await attempt(what, () => scene.killAfter(part, alone))) counts.random++;
    else counts.late++;
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
  const chosen = OPERATIONS.filter(({ name }) => !values.only || values.only.includes(name));
  const [kills, seed, jobs] = [values.kills, values.seed, values.jobs].map(Number) as [number, number, number];
  if (chosen.length === 0 || ![kills, seed, jobs].every(Number.isSafeInteger) || jobs < 1) {
    const names = OPERATIONS.map(({ name }) => name).join("|");
    console.error(`usage: npm run faults -- [--kills <n>] [--seed <n>] [--jobs <n>] [--only <${names}>]…`);
    return 2;
  }
  const points = chosen.reduce((sum, operation) => sum + operation.points.length, 0);
  const each = Math.max(0, Math.ceil((kills - points) / chosen.length));
  console.log("| operation | at fault points | at random moments | too late | lost |\n| --- | --- | --- | --- | --- |");
  const total = { kills: 0, lost: 0 };
  const waiting = [...chosen];
  const work = async () => {
    for (let operation = waiting.shift(); operation; operation = waiting.shift()) {
      const counts = await killOften(operation, each, seed);
      total.kills += counts.points + counts.random;
      total.lost += counts.lost;
      const atPoints = `${counts.points} of ${operation.points.length}`;
      console.log(`| ${operation.name} | ${atPoints} | ${counts.random} | ${counts.late} | ${counts.lost} |`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  console.log(`\n${total.kills} kills, ${total.lost} of them lost something.`);
  return total.lost === 0 ? 0 : 1;
}

process.exitCode = await main();
