/** Headless runs: what was logged stays, `--list` says what became of it, and it can be gone on with. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { standIn } from "../../support/stand-in.ts";
import type { World } from "../killed-world.ts";
import type { Operation, Start } from "./operation.ts";

export const WORKING = `init "$SESSION"; i=0; while [ $i -lt 8 ]; do say "line $i"; sleep 0.02; i=$((i+1)); done; done_ 'All done.'`;
const SEPARATOR = "----------";
const BEGINNING = ["run:noted", "run:opened", "run:started"];
const NAMING = ["run:linked", "run:named"];

/** What was in the logs before. */
const logged = new WeakMap<World, string>();

export const runs: readonly Operation[] = [
  {
    name: "run",
    points: [...BEGINNING, ...NAMING, "run:ended"],
    async prepare(world) {
      standIn(binOf(world), "claude", WORKING);
    },
    start: (world) => run(world, "a1", "fix it"),
    wrong: (world) => wrong(world, 1),
  },
  {
    name: "run of a child",
    points: ["run:noted", "run:folder", "run:moved", "run:opened", "run:started", ...NAMING, "run:ended"],
    async prepare(world) {
      standIn(binOf(world), "claude", WORKING);
      await go(world, "p1", "first");
      logged.set(world, textOf(world));
    },
    start: (world) => run(world, "a1", "fix it", "--parent", "p1"),
    wrong: (world) => wrong(world, 2),
  },
  {
    name: "run that goes on",
    points: [...BEGINNING, "run:named", "run:ended"],
    async prepare(world) {
      standIn(binOf(world), "claude", WORKING);
      await go(world, "a1", "first");
      logged.set(world, textOf(world));
    },
    start: (world) => run(world, "a1", "go on", "--session", "a1"),
    wrong: (world) => wrong(world, 1),
  },
  {
    name: "run into a log that is there",
    points: [...BEGINNING, "run:copied", "run:named", "run:ended"],
    async prepare(world) {
      standIn(binOf(world), "claude", WORKING);
      await go(world, "a1", "first");
      logged.set(world, textOf(world));
    },
    start: (world) => run(world, "a1", "go on"),
    // Killed before all of it is copied, it has a log of its own beside the other.
    wrong: (world) => wrong(world, 2),
  },
];

async function wrong(world: World, most: number): Promise<string | null> {
  const torn = unreadable(world);
  if (torn !== null) return torn;
  const listed = await list(world);
  if (listed.length > most) return `There are too many: ${listed.join("; ")}`;
  if (listed.some((row) => !/\[(?:completed|failed|interrupted)\]/.test(row)))
    return `Not said dead: ${listed.join("; ")}`;
  const lost = missing(logged.get(world) ?? "", textOf(world));
  if (lost !== null) return lost;
  const logs = Object.keys(logsOf(world)).length;
  if (logs !== listed.length) return `There are ${logs} logs, and ${listed.length} are listed.`;
  const before = textOf(world);
  for (const row of listed) {
    const id = /(\S+) {2}\[claude\]/.exec(row)?.[1] ?? "";
    // An agent that has told no id can't be asked to go on; another is told what happened.
    await go(world, id.startsWith("run-") ? "b1" : id, "more", id.startsWith("run-") ? "--resume" : "--session", id);
  }
  return missing(before, textOf(world)) ?? unreadable(world);
}

/** Every line but the last of a run is JSON or a separator; a kill may tear that one, and what follows begins a new line. */
function unreadable(world: World): string | null {
  for (const [name, text] of Object.entries(logsOf(world)))
    for (const stretch of text.split(`\n${SEPARATOR}\n`)) {
      const broken = stretch
        .split("\n")
        .slice(0, -1)
        .filter((line) => line !== SEPARATOR && !isWhole(line));
      if (broken.length > 0) return `${name} can't be read: ${broken.join("; ")}`;
    }
  return null;
}

function missing(before: string, now: string): string | null {
  const lost = before.split("\n").filter((line) => isWhole(line) && !now.includes(line));
  return lost.length === 0 ? null : `Lines were lost: ${lost.join("; ")}`;
}

function textOf(world: World): string {
  return Object.values(logsOf(world)).join("");
}

function isWhole(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

async function list(world: World): Promise<string[]> {
  const { stdout } = await world.repository.run(["run", "--list"]);
  return stdout.split("\n").filter((line) => /\[claude\]/.test(line));
}

export async function go(world: World, session: string, ...args: string[]): Promise<void> {
  const start = run(world, session, ...args);
  const { code, stderr } = await world.repository.run(start.args, start.env ? { env: start.env } : {});
  if (code !== 0) throw new Error(`run ${args.join(" ")}: ${code} ${stderr}`);
}

function run(world: World, session: string, ...args: string[]): Start {
  const PATH = `${binOf(world)}:${process.env["PATH"]}`;
  return { args: ["run", ...args], env: { PATH, SESSION: session } };
}

export function binOf({ repository }: World): string {
  return join(repository.home, "bin");
}

function logsOf({ repository }: World): Record<string, string> {
  const logs = repository.at(".aiwr/logs");
  if (!repository.exists(".aiwr/logs")) return {};
  const names = readdirSync(logs, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".jsonl") && !name.startsWith("."));
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(logs, name), "utf8")]));
}
