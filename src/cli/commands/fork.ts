/** `fork`: another attempt beside the first, from a step. */
import { resolve } from "node:path";
import { requireAgent } from "../../agents/registry.ts";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { printable, shownPath } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type MadeFork, makeFork } from "../../restore/fork/make.ts";
import type { Place } from "../../restore/model.ts";
import { resolveTarget } from "../../restore/target.ts";
import { USUAL_HAND_OVER } from "../../transcripts/hand-over.ts";
import { ownExecutable } from "../executable.ts";
import type { Io } from "../io.ts";
import { TO_FORK } from "../picker/purpose.ts";
import { withProgress } from "../progress.ts";
import { forkJson } from "../render/fork.ts";
import { placeOf } from "../render/place.ts";
import { targetLine } from "../render/plan.ts";
import { startAgent } from "../start-agent.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  target?: string;
  branch?: string;
  directory?: string;
  branchOnly?: boolean;
  agent?: string;
  limit?: number;
  run?: boolean;
  json?: boolean;
}

const SHOWN_MISSING = 8;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const target = await targetOf(workspace, options, io);
  const own = target.kind === "step" ? target.step.agent : null;
  const other = options.agent === undefined ? own : await idOf(options.agent);
  const handOver = other === null || other === own ? null : { agent: other, limit: options.limit ?? USUAL_HAND_OVER };
  const made = await withProgress(io, "Making the fork", () =>
    makeFork(workspace, target, {
      branch: options.branch,
      directory: options.directory === undefined ? undefined : resolve(io.cwd, options.directory),
      branchOnly: options.branchOnly,
      executable: ownExecutable(),
      handOver,
    }),
  );
  if (options.json) io.json({ fork: forkJson(made.record), missing: made.missing, notes: made.notes });
  else tell(made, target, io);
  if (!options.run) return undefined;
  if (made.record.chat) return startAgent(made.record.chat.command, io.cwd);
  throw new UserError("not-found", "There is no conversation to start the agent with.", "Start the agent by hand.");
}

async function idOf(name: string): Promise<string> {
  return (await requireAgent(name)).profile.id;
}

async function targetOf(workspace: Workspace, options: Options, io: Io): Promise<Place> {
  if (options.target !== undefined) return resolveTarget(workspace, options.target);
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No target was given, and there is no terminal to pick one on.",
      "Name a step from `backtrail log`, `prev`, or a number of turns: backtrail fork 1",
    );
  }
  const { pickStep } = await import("../picker/pick.ts");
  return { kind: "step", step: await pickStep(workspace, io, TO_FORK) };
}

function tell({ record, missing, notes }: MadeFork, target: Place, io: Io): void {
  const { paint, columns } = io.out;
  const { name, directory, branch, chat } = record;
  io.print(`${paint("green", "Forked")} ${targetLine(target, { columns, now: now() })}`);
  io.print(`  name       ${paint("bold", name)}`);
  if (directory !== null) io.print(`  directory  ${placeOf(directory, null)}`);
  if (branch !== null) io.print(`  branch     ${printable(branch)}`);
  if (chat) io.print(`\nIt goes on with:\n  ${paint("bold", printable(chat.command))}`);
  const say = (text: string) => io.say(`${io.err.paint("cyan", "note:")} ${printable(text)}`);
  for (const { what, why } of missing.slice(0, SHOWN_MISSING)) say(`${shownPath(what)} is not in it: ${why}.`);
  if (missing.length > SHOWN_MISSING)
    say(`${missing.length - SHOWN_MISSING} more are not in it (--json lists them all).`);
  for (const note of notes) say(note);
  io.say(io.err.paint("dim", `\n\`backtrail fork diff ${name}\` compares it with this; \`fork take\` brings it back.`));
}
