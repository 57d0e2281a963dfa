/**
 * What must hold at the end of a run: after git's garbage collection every step can still be gone back to and gives back what it
 * holds, and every conversation that was recorded can be exported, also when the agent has lost its own.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { unprotect } from "./actors/user-protection.ts";
import type { Execution } from "./execute.ts";
import type { Turn } from "./invocation.ts";
import type { Violation } from "./model.ts";
import { compare, type Moment } from "./moments.ts";
import type { StepContents } from "./steps.ts";
import type { World } from "./world.ts";

/** Directories of the agents are never touched. */
const AGENTS_OWN = /(^|\/)\.(claude|gemini|backtrail)\//;
/** Steps are tried newest first; more than these are not. */
const MAX_TRIED = 12;

export async function finish(execution: Execution): Promise<Violation[]> {
  const { world } = execution;
  const run = (...args: string[]) => execution.command({ name: args[0] ?? "", cwd: world.repository, args });
  world.script.comment("the end: everything is finished, garbage is collected");
  unprotect(world);
  for (const place of world.places()) {
    const found = await execution.command({ name: "log", cwd: place, args: ["log"] });
    if (found.length > 0) return found;
  }
  if (world.variant !== "folder") {
    world.git(world.repository, "gc", "-q", "--prune=now");
    const collected = execution.look();
    if (collected.length > 0) return collected;
  }
  const sound = [...(await run("enable", "--agent", "claude-code", "gemini")), ...(await run("doctor", "--fix"))];
  if (sound.length > 0) return sound;
  const check = await world.start({ name: "doctor", cwd: world.repository, args: ["doctor", "--check"] }, {});
  if (check.code !== 0) return [{ kind: "unsound", message: `${check.stdout}${check.stderr}` }];
  const log = await readLog(execution);
  return [...unlisted(execution, log), ...(await conversations(execution, log)), ...(await goBack(execution))];
}

interface Listed {
  id: string;
  session: string | null;
  kind: string;
  prompt: string | null;
}

async function readLog({ world }: Execution): Promise<Listed[]> {
  const args = ["log", "--json", "--all", "--limit", "0"];
  const ended = await world.start({ name: "log", cwd: world.repository, args }, {});
  return ended.code === 0 ? (JSON.parse(ended.stdout) as { steps: Listed[] }).steps : [];
}

/** Every step that a ref holds is in the log. */
function unlisted(execution: Execution, log: readonly Listed[]): Violation[] {
  const ids = new Set(log.map(({ id }) => id));
  return [...execution.census.steps.keys()]
    .filter((id) => !ids.has(id))
    .map((id) => ({ kind: "step", message: `The step ${id} is in no log.` }));
}

/** Every turn that was recorded whole can be exported after the agent has lost its own transcript. */
async function conversations(execution: Execution, log: readonly Listed[]): Promise<Violation[]> {
  const { world, agents } = execution;
  for (const folder of [".claude", ".gemini"]) {
    try {
      renameSync(join(world.home, folder), join(world.home, `${folder}-lost`));
    } catch {
      // That agent never wrote anything.
    }
  }
  execution.look();
  const isRecorded = (turn: Turn) =>
    log.some(({ session, kind, prompt }) => session === turn.session && kind === "turn-end" && prompt === turn.prompt);
  const recorded = agents.told.filter(isRecorded);
  const found: Violation[] = [];
  for (const session of new Set(recorded.map((turn) => turn.session))) {
    const args = ["export", session, "--format", "json", "--raw"];
    const { stdout, stderr } = await world.start({ name: "export", cwd: world.repository, args }, {});
    for (const { prompt, answer } of recorded.filter((turn) => turn.session === session)) {
      for (const said of [prompt, answer]) {
        if (stdout.includes(said)) continue;
        const message = `"${said}" of session ${session} is not exported. ${stderr.slice(0, 300)}`;
        found.push({ kind: "conversation", message });
      }
    }
  }
  return found;
}

/** Goes back to steps, and compares what comes with what was there then, or else with what they hold. */
async function goBack(execution: Execution): Promise<Violation[]> {
  const { world, moments } = execution;
  const age = (id: string) => world.steps.indexOf(id);
  const ids = [...execution.census.steps.keys()].sort((a, b) => age(b) - age(a));
  const saved = ids.filter((id) => moments.has(id));
  for (const id of [...saved, ...ids.filter((other) => !moments.has(other))].slice(0, MAX_TRIED)) {
    const moment = moments.get(id) ?? heldBy(world, execution.census.steps.get(id));
    const args = ["rewind", id, "--code-only", "--yes", "--json"];
    const found = await execution.command({ name: "rewind", cwd: world.repository, args });
    const { stdout = "", stderr = "" } = execution.ended ?? {};
    found.push(...compare(world, world.repository, moment, execution.census, `${exceptionsIn(stdout)}${stderr}`));
    if (found.length > 0) return found.map((one) => ({ ...one, message: `${one.message}\n    at step ${id}` }));
  }
  return [];
}

/** What a restore tells of files that it did not bring back; the files that it wrote are named as well, and do not count. */
function exceptionsIn(stdout: string): string {
  if (stdout === "") return "";
  const { plan, receipt } = JSON.parse(stdout) as { plan?: Record<string, unknown>; receipt?: Record<string, unknown> };
  const { conflicts, notUndone } = plan ?? {};
  const { kept, notes, facts } = receipt ?? {};
  return JSON.stringify([conflicts, notUndone, kept, notes, facts]);
}

/**
 * The contents of a step as a moment. Where attributes or settings for line ends are set, git may have written other bytes
 * than it stores (in the work tree of a new fork, for example), and only the moment of a save knows which.
 */
function heldBy(world: World, step: StepContents | undefined): Moment {
  const files = new Map<string, string>();
  const kinds = [...(step?.kinds.keys() ?? [])];
  const converts = world.ask(world.repository, "config", "--get-regexp", "^core\\.(autocrlf|eol)$") !== "";
  if (converts || kinds.some((path) => path.endsWith(".gitattributes"))) return { files, modes: new Map() };
  for (const [path, entry] of step?.kinds ?? []) {
    if (!path.startsWith("work/") || step?.entries.has(path.replace("work/", "raw/"))) continue;
    const name = path.slice("work/".length);
    if (!AGENTS_OWN.test(name)) files.set(name, entry);
  }
  return { files, modes: new Map() };
}
