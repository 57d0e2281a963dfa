/**
 * Measures the hub on a separate PostgreSQL server: ingest, search and activity at two sizes of the index, and many
 * clients at once. `npm run bench:hub -- [turns] [minutes]`: it stops loading after that many minutes; each turn has
 * ten messages. The hub is the built executable in a separate process, and all requests use HTTP. With `--write`,
 * the table goes to docs/performance.md.
 */
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { Database } from "../src/hub/database/connect.ts";
import { addPerson, grant } from "../src/hub/people/people.ts";
import { invite, join } from "../src/hub/people/tokens.ts";
import { HubClient } from "../src/team/client.ts";
import { Team } from "../test/hub/team.ts";
import { PostgresCluster } from "../test/support/postgres.ts";
import { writeApart } from "./apart.ts";
import { DAYS, Load, REPOSITORIES } from "./hub-load.ts";

const [TURNS = 200_000, MINUTES = 20] = process.argv
  .slice(2)
  .filter((word) => /^\d+$/.test(word))
  .map(Number);
const MESSAGES = 10;
const BATCH = 200;
const CLIENTS = 4;
const MANY = 200;
const DAY_MS = 86_400_000;
const SEARCH_MS = 300;
const ACTIVITY_MS = 1000;
const GROWTH = 2;

interface Row {
  what: string;
  value: string;
  goal: string;
  met: boolean | null;
}

const rows: Row[] = [];
const began = performance.now();
await using cluster = await PostgresCluster.start([
  "fsync=on",
  "synchronous_commit=on",
  "full_page_writes=on",
  "shared_buffers=1GB",
  "max_wal_size=4GB",
]);
await using team = await Team.start(cluster);
const database = new Database({ url: team.database });
const load = new Load(1);
/** The same at both sizes. */
const queries = {
  three: Array.from({ length: 100 }, () => load.words(3)),
  two: Array.from({ length: 100 }, () => load.words(2)),
  one: Array.from({ length: 100 }, () => load.words(1)),
  absent: Array.from({ length: 20 }, (_, i) => `qzxv${i}`),
  common: ["function", "return", "const", "import", "the"].flatMap((word) => [word, word, word, word]),
};
const clients: HubClient[] = [];
for (let i = 0; i < CLIENTS; i++) clients.push(await joined(`person${i}`));
for (const client of clients)
  for (let r = 0; r < REPOSITORIES; r++)
    await client.share({ repository: `example.com/r${r}`, level: "everything", chosenAt: new Date().toISOString() });

const deadline = performance.now() + MINUTES * 60_000;
await ingest("counts", 20_000, 0, null);
await ingest("everything, the first tenth", TURNS / 10, MESSAGES, 2000);
const small = await report("at 10 %");
await ingest("everything, the rest", (TURNS * 9) / 10, MESSAGES, 2000);
const large = await report("at 100 %");
for (const name of ["three words", "two words", "no turn"]) {
  const ratio = (large.get(name) ?? 0) / (small.get(name) ?? 1);
  row(`search, ${name}: median at 100 % / at 10 %`, `${ratio.toFixed(2)} ×`, `≤ ${GROWTH} ×`, ratio <= GROWTH);
}
await manyClients();
const [counted = ""] = cluster.query(
  team.database,
  "SELECT (SELECT count(*) FROM backtrail.turns), (SELECT count(*) FROM backtrail.messages), pg_size_pretty(pg_database_size(current_database()))",
);
const [turns, messages, size] = counted.split("|");
row(
  "turns, messages, size of the database",
  `${Number(turns).toLocaleString("en")}, ${Number(messages).toLocaleString("en")}, ${size}`,
  "",
  null,
);
await database.close();
const text = [
  `One run of ${Math.round((performance.now() - began) / 60_000)} minutes. The load of the two cores was ${loadavg()[2]?.toFixed(0)} at its end, this run included: times are of a machine`,
  "that was busy with other work, processor times are not. Texts are pieces of real prose and code; fsync is on.",
  "",
  "| what | measured | goal |  |",
  "| --- | --- | --- | --- |",
  ...rows.map(
    ({ what, value, goal, met }) => `| ${what} | ${value} | ${goal} | ${met === null ? "" : met ? "pass" : "misses"} |`,
  ),
].join("\n");
if (process.argv.includes("--write")) writeApart("The hub: `npm run bench:hub`", text);
console.log(`\n${text}`);

function row(what: string, value: string, goal: string, met: boolean | null): void {
  rows.push({ what, value, goal, met });
  console.log(`${what}: ${value}`);
}

/** A machine of a new person, who may read everything, or one repository. */
async function joined(name: string, only?: string): Promise<HubClient> {
  await addPerson(database, { name, email: null, role: "member", readsAll: only === undefined ? "everything" : null });
  if (only !== undefined) await grant(database, name, only, "everything");
  const { invitation } = await invite(database, name);
  const device = await join(database, invitation, "bench");
  return new HubClient(team.url, device?.token ?? null);
}

/** Sends turns through HTTP from several clients at once, until there are enough or the time is over. */
async function ingest(name: string, count: number, messages: number, goal: number | null): Promise<void> {
  const revision = Date.now();
  const batches = Math.ceil(count / BATCH);
  const before = { hub: cpuOf("hub"), database: cpuOf("database") };
  const began = performance.now();
  let next = 0;
  let sent = 0;
  /** The number of turns that were there at each second. */
  const seconds: number[] = [];
  const clock = setInterval(() => seconds.push(sent), 1000);
  await Promise.all(
    clients.map(async (client) => {
      for (let batch = next++; batch < batches && performance.now() < deadline; batch = next++) {
        const turns = load.turns(`s-${messages}-${count}-${batch}`, BATCH, messages);
        await patiently(() => client.turns({ repository: load.repository(), revision, turns }));
        sent += BATCH;
      }
    }),
  );
  clearInterval(clock);
  const rate = (sent * 1000) / (performance.now() - began);
  const best = Math.max(rate, ...seconds.map((at, i) => (at - (seconds[i - 10] ?? 0)) / (i >= 10 ? 10 : i + 1)));
  const each = (part: "hub" | "database") => (((cpuOf(part) - before[part]) * 1000) / sent).toFixed(2);
  row(
    `ingest of ${name}: ${sent.toLocaleString("en")} turns in batches of ${BATCH}, ${CLIENTS} clients`,
    `${rate.toFixed(0)} turns/s; in the best ten seconds ${best.toFixed(0)}`,
    goal === null ? "" : `≥ ${goal}/s`,
    goal === null ? null : rate >= goal,
  );
  row(`processor time of one of these turns`, `hub ${each("hub")} ms, database ${each("database")} ms`, "", null);
}

/** The hub lets a device ask only so often. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { kind?: string }).kind !== "busy") throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Seconds of processor time since the start. */
function cpuOf(part: "hub" | "database"): number {
  const ticks = (pid: string) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      parent: fields[1],
      own: Number(fields[11]) + Number(fields[12]),
      waited: Number(fields[13]) + Number(fields[14]),
    };
  };
  const hub = String(team.hubProcess.pid);
  if (part === "hub") return ticks(hub).own / 100;
  const server = readFileSync(`${cluster.data}/postmaster.pid`, "utf8").split("\n")[0] ?? "";
  const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  let sum = ticks(server).waited;
  for (const pid of running) {
    try {
      const { parent, own } = ticks(pid);
      if (parent === server) sum += own;
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum / 100;
}

/** Returns the medians of searches, by what was searched for. */
async function report(part: string): Promise<Map<string, number>> {
  cluster.query(team.database, "VACUUM ANALYZE backtrail.turns, backtrail.turn_texts, backtrail.messages");
  const all = await joined(`all ${part}`);
  const little = await joined(`little ${part}`, "example.com/r3");
  const medians = new Map<string, number>();
  const searches = async (name: string, client: HubClient, words: readonly string[]) => {
    const times = await measure(words, (q) => client.search({ q, limit: 20 }));
    medians.set(name, quantile(times, 0.5));
    timesRow(`search, ${name}, ${part}`, times, SEARCH_MS);
  };
  await searches("three words", all, queries.three);
  await searches("two words", await joined(`two ${part}`), queries.two);
  await searches("one word", await joined(`one ${part}`), queries.one);
  await searches("a very common word", await joined(`common ${part}`), queries.common);
  await searches("no turn", await joined(`absent ${part}`), queries.absent);
  await searches("two words, by a person who may read one repository of 20", little, queries.two);
  await searches("a very common word, by that person", await joined(`few ${part}`, "example.com/r3"), queries.common);
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  for (const [name, days] of [
    ["a week", 7],
    ["half a year", DAYS],
  ] as const) {
    const times = await measure(
      Array.from({ length: 20 }, () => ""),
      () => all.activity({ from: day(days), to: day(0) }),
    );
    timesRow(`activity of ${name} by day, repository and agent, ${part}`, times, ACTIVITY_MS);
  }
  timesRow(`the newest 50 turns, ${part}`, await measure(queries.absent, () => all.listTurns({ limit: 50 })), null);
  return medians;
}

async function measure(words: readonly string[], work: (words: string) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (const one of words) {
    const start = performance.now();
    await work(one);
    times.push(performance.now() - start);
  }
  return times;
}

function timesRow(what: string, times: readonly number[], goal: number | null): void {
  const p95 = quantile(times, 0.95);
  const value = `p50 ${quantile(times, 0.5).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`;
  row(what, value, goal === null ? "" : `p95 ≤ ${goal} ms`, goal === null ? null : p95 <= goal);
}

function quantile(times: readonly number[], share: number): number {
  const ordered = times.toSorted((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? 0;
}

/** Many machines that each send one turn and search once, at the same moment. */
async function manyClients(): Promise<void> {
  const many: HubClient[] = [];
  for (let i = 0; i < MANY; i++) many.push(await joined(`many${i}`, `example.com/r${i % REPOSITORIES}`));
  const repository = "example.com/r0";
  const times = await Promise.all(
    many.map(async (client, i) => {
      const began = performance.now();
      await client.share({ repository, level: "prompts", chosenAt: new Date().toISOString() });
      await client.turns({ repository, revision: 1, turns: load.turns(`many-${i}`, 1, 1) });
      await client.search({ q: load.words(2), limit: 20 });
      return performance.now() - began;
    }),
  );
  timesRow(`${MANY} clients at once, each shares, sends a turn and searches: all three`, times, null);
  row("lines in the hub's log", String(team.log.split("\n").length - 1), "0", team.log === "");
}
