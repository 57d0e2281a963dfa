/**
 * The fuzzer: `npm run fuzz -- [--seed <n>] [--cases <n>] [--only <target>]…`. Cases are of the cheapest target's cost;
 * dearer targets try as many fewer. What breaks is written below `test/fuzz/found/`; made small, it belongs into
 * `test/fuzz/corpus/<target>/`, which the tests replay. Ends with 1 if anything broke.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { tryTarget } from "./run.ts";
import { TARGETS } from "./targets/index.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Date.now() / 1000) % 1_000_000) },
    cases: { type: "string", default: "20000" },
    only: { type: "string", multiple: true },
  },
});
const seed = Number(values.seed);
const cases = Number(values.cases);
const chosen = TARGETS.filter(({ name }) => !values.only || values.only.includes(name));
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(cases) || cases < 1 || chosen.length === 0) {
  console.error(
    `usage: npm run fuzz -- [--seed <n>] [--cases <n>] [--only <${TARGETS.map(({ name }) => name).join("|")}>]…`,
  );
  process.exit(2);
}

const found = join(import.meta.dirname, "found");
mkdirSync(found, { recursive: true });
console.log(`seed ${seed}\n\n| target | inputs | slowest, ms | |\n| --- | --- | --- | --- |`);
let all = 0;
const failures: string[] = [];
for (const target of chosen) {
  // Alone, a target gets every case that was asked for.
  const count = values.only ? cases : Math.max(5, Math.ceil(cases / target.cost));
  const doing = join(found, `${target.name}.doing`);
  const tried = await tryTarget(target, seed, count, doing);
  rmSync(doing, { force: true });
  all += tried.cases;
  const { failure } = tried;
  console.log(
    `| ${target.name} | ${tried.cases} | ${Math.round(tried.slowestMs)} | ${failure ? "**broken**" : "holds"} |`,
  );
  if (!failure) continue;
  const file = join(found, `${target.name}-${failure.seed}`);
  writeFileSync(file, failure.input);
  failures.push(`${target.name}: ${failure.message}\n  ${file}`);
}
console.log(`\n${all} inputs tried, ${failures.length} broke something.`);
for (const failure of failures) console.log(failure);
process.exitCode = failures.length === 0 ? 0 : 1;
