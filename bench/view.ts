/**
 * Measures `backtrail view` on this machine: the server by its answers, the page by what a browser sees of it. Things
 * that are compared are measured by turns. `npm run bench:view` prints the table; with `-- --write` it goes to
 * docs/performance.md.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { closeBrowser, open, type Person, program } from "../test/browser/support/browser.ts";
import { bash, executable, ScriptedClaude, temporaryRepository } from "../test/support/index.ts";
import { startView, type ViewProcess } from "../test/support/view/server.ts";
import { writeApart } from "./apart.ts";
import { ratioOf, spreadOf } from "./statistics.ts";
import { lengthen, openSteps } from "./view/history.ts";

const FILES = 500;
const STEPS = 10_000;
const SESSIONS = 500;
const PAIRS = 15;
const IDLE_SECONDS = 20;
/** For half a minute after the last event, Bun itself looks once a second whether there is garbage. */
const SETTLE_MS = 45_000;
const FRAME_MS = 1000 / 60;
const SCROLLS = 7;
/** As high as the timeline's rows, and nothing to do for them. */
const PLAIN_PAGE = `<div class="list-pane" style="height: 100vh; overflow-y: auto">${'<p style="height: 60px; margin: 0">A row</p>'.repeat(3_000)}</div>`;

interface Figure {
  what: string;
  value: number;
  digits: number;
  unit: string;
  /** At most. */
  goal: number;
}

const figures: Figure[] = [];
const repository = temporaryRepository();
try {
  const agent = await prepare();
  {
    await using view = await startView(repository);
    figure("server start / bare start", await startRatio(), "×", 3);
    figure(`files of a turn of ${FILES} / \`git diff\` of it, each asked for once`, await diffRatio(view), "×", 2);
    figure("one file at one turn", await medianOf(() => fileAt(view)), "ms", 100, 0);
  }
  lengthen(repository, STEPS, SESSIONS);
  await using view = await startView(repository, { signedOut: true });
  if (program === undefined) throw new Error("There is no Chromium.");
  await using person = await open(view);
  await person.page.locator("[data-turn]").first().waitFor();
  figure("the page, gzipped, for the first screen", (await pageSize(person, view)) / 1000, "kB", 150, 1);
  figure(
    `first rows of ${STEPS} steps in ${SESSIONS} sessions, from navigation on`,
    await firstRows(person, view),
    "ms",
    400,
    0,
  );
  const scroll = await lateFrames(person);
  figure(
    "frames of a scroll through the timeline that came late, beyond those of a plain page",
    scroll.late,
    "%",
    1,
    1,
  );
  figure("work of the page for each frame of it", scroll.work, "ms", 8, 1);
  figure("a live turn in the page, from the start of its hook on", await liveTurn(person, agent), "ms", 1000, 0);
  figure("memory of the server after all that", memoryOf(view.pid), "MB", 120, 0);
  figure("CPU of the server without events, a tab open, of one core", await idleCpu(view.pid), "%", 0, 1);
} finally {
  await closeBrowser();
  repository.remove();
}
const text = table();
console.log(text);
if (process.argv.includes("--write")) writeApart("The page: `npm run bench:view`", text);

function figure(what: string, value: number, unit: string, goal: number, digits = 2): void {
  figures.push({ what, value, unit, goal, digits });
  console.error(`${what}: ${value.toFixed(digits)} ${unit}`);
}

function table(): string {
  const rows = figures.map(({ what, value, digits, unit, goal }) => {
    const shown = Number(value.toFixed(digits));
    return `| ${what} | ${shown.toFixed(digits)} ${unit} | ≤ ${goal} ${unit} | ${shown <= goal ? "pass" : "**fail**"} |`;
  });
  return ["| what | median | goal |  |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

async function prepare(): Promise<ScriptedClaude> {
  for (let i = 0; i < FILES; i++) repository.write(`src/file-${i}.txt`, lines(i, "before"));
  repository.commit("files");
  await repository.run(["enable", "--agent", "claude-code"]);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  for (let i = 0; i <= PAIRS; i++)
    await agent.turn(
      `Change everything ${i}`,
      [bash(`sed -i 's/^\\(before\\|after[0-9]*\\) /after${i} /' src/*.txt`)],
      "Done.",
    );
  return agent;
}

function lines(seed: number, word: string): string {
  return Array.from({ length: 60 }, (_, i) => (i % 20 === 0 ? `${word} ${seed} ${i}` : `line ${seed} ${i}`)).join("\n");
}

async function startRatio(): Promise<number> {
  const options = { cwd: repository.path, env: repository.environment() };
  return ratio(
    () => void spawnSync(executable(), ["--version"], options),
    async () => {
      const began = performance.now();
      const view = await startView(repository, { signedOut: true });
      const took = performance.now() - began;
      await view.stop();
      return took;
    },
  );
}

/** Another turn each time, so that nothing is remembered. */
async function diffRatio(view: ViewProcess): Promise<number> {
  const steps = openSteps(repository);
  const turns = (await view.get("timeline", { limit: "50" })).items.filter(({ kind }) => kind === "turn");
  const options = { cwd: repository.path, env: repository.environment(), maxBuffer: 1 << 28 };
  let next = 0;
  let asked = 0;
  const treesOf = (id: string) => {
    const end = steps.find((step) => step.id === id);
    const start = steps.find(
      ({ kind, session, turn }) => kind === "turn-start" && session === end?.session && turn === end?.turn,
    );
    return [start?.snapshot.work ?? "", end?.snapshot.work ?? ""];
  };
  return ratio(
    () => void spawnSync("git", ["diff", ...treesOf(turns[next++]?.id ?? "")], options),
    async () => {
      const { files } = await view.get("changes", { turn: turns[asked++]?.id ?? "" });
      if (files.length !== FILES) throw new Error(`${files.length} files`);
    },
  );
}

async function fileAt(view: ViewProcess): Promise<void> {
  const step = (await view.get("timeline")).items.find(({ kind }) => kind === "turn")?.id ?? "";
  await view.get("file", { step, path: "src/file-7.txt" });
}

async function pageSize({ page }: Person, view: ViewProcess): Promise<number> {
  const answers: Promise<number>[] = [];
  const count = (response: { url(): string; body(): Promise<Buffer> }) => {
    if (response.url().includes("/api/")) return;
    answers.push(response.body().then((body) => gzipSync(body).length));
  };
  page.on("response", count);
  await page.goto("about:blank");
  await page.goto(`${view.base}#/`);
  await page.locator("[data-turn]").first().waitFor();
  page.off("response", count);
  return (await Promise.all(answers)).reduce((sum, size) => sum + size, 0);
}

/** Until the frame in which the rows are painted. */
async function firstRows({ page }: Person, view: ViewProcess): Promise<number> {
  await page.addInitScript(`
    new MutationObserver((_, observer) => {
      if (!document.querySelector("[data-turn]")) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => { window.firstRows = performance.now(); }));
    }).observe(document, { childList: true, subtree: true });`);
  return medianOf(async () => {
    await page.goto("about:blank");
    await page.goto(`${view.base}#/`);
    await page.locator("[data-turn]").first().waitFor();
    return page.evaluate<number>(
      "new Promise((done) => { const wait = () => window.firstRows ? done(window.firstRows) : setTimeout(wait, 5); wait(); })",
    );
  });
}

/**
 * Scrolls the timeline and a plain page by turns: a busy machine makes both late. `late` is the difference of the
 * medians, in percent; `work` is what the page's main thread did for each frame, by the browser's own count.
 */
async function lateFrames({ page, context }: Person): Promise<{ late: number; work: number }> {
  const plain = await context.newPage();
  await plain.setContent(PLAIN_PAGE);
  const counter = await context.newCDPSession(page);
  await counter.send("Performance.enable");
  const busy = async () => {
    const { metrics } = await counter.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
  };
  const [own, other, work]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < SCROLLS; i++) {
    await plain.bringToFront();
    other.push((await scrollThrough(plain)).late);
    await page.bringToFront();
    const before = await busy();
    const { late, frames } = await scrollThrough(page);
    own.push(late);
    work.push(((await busy()) - before) / frames);
  }
  await plain.close();
  return { late: Math.max(0, spreadOf(own).median - spreadOf(other).median), work: spreadOf(work).median };
}

/** Scrolls for three seconds as a wheel does; a frame is late that took more than one and a half. */
async function scrollThrough(page: Person["page"]): Promise<{ late: number; frames: number }> {
  const times = await page.evaluate<number[]>(`new Promise((done) => {
    const pane = document.querySelector(".list-pane");
    pane.scrollTop = 0;
    const times = [];
    let last = performance.now();
    const end = last + 3000;
    const frame = (now) => {
      times.push(now - last);
      last = now;
      pane.scrollTop += 40;
      if (now < end) requestAnimationFrame(frame);
      else done(times.slice(1));
    };
    requestAnimationFrame(frame);
  })`);
  const late = times.filter((time) => time > 1.5 * FRAME_MS).length;
  return { late: (late / times.length) * 100, frames: times.length };
}

async function liveTurn({ page }: Person, agent: ScriptedClaude): Promise<number> {
  let n = 0;
  return medianOf(async () => {
    const prompt = `Live turn ${n++}`;
    const seen = page.evaluate<number>(`new Promise((done) => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector(".turns")?.textContent.includes(${JSON.stringify(prompt)})) return;
        observer.disconnect();
        done(Date.now());
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    })`);
    await page.locator(".list-pane").evaluate((pane) => pane.scrollTo(0, 0));
    const began = Date.now();
    await agent.begin(prompt);
    const at = await seen;
    await agent.finish();
    return at - began;
  }, 5);
}

/** Resident memory, in megabytes. */
function memoryOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

async function idleCpu(pid: number): Promise<number> {
  await Bun.sleep(SETTLE_MS);
  const before = busyOf(pid);
  await Bun.sleep(IDLE_SECONDS * 1000);
  return ((busyOf(pid) - before) / (IDLE_SECONDS * 1000)) * 100;
}

/** Milliseconds that the threads of a process have run, to the nanosecond. */
function busyOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

type Run = () => unknown;

/** Ours against the base, by turns. The first pair only warms up. */
async function ratio(base: Run, ours: Run): Promise<number> {
  const times = { base: [] as number[], ours: [] as number[] };
  for (let i = -1; i < PAIRS; i++)
    for (const side of ["base", "ours"] as const) {
      const took = await timed(side === "base" ? base : ours);
      if (i >= 0) times[side].push(took);
    }
  return ratioOf(times).median;
}

async function medianOf(run: Run, times = PAIRS): Promise<number> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) taken.push(await timed(run));
  return spreadOf(taken).median;
}

/** Milliseconds of a run, or what the run returns. */
async function timed(run: Run): Promise<number> {
  const began = performance.now();
  const told = await run();
  return typeof told === "number" ? told : performance.now() - began;
}
