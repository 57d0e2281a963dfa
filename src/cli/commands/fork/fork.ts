/** `fork`: starts another attempt from a step, beside the first. */

import { resolve } from "node:path";
import { requireAgent } from "../../../agents/registry/registry.ts";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { printable, shownPath } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type MadeFork, makeFork } from "../../../restore/fork/make.ts";
import type { PathsToBring } from "../../../restore/owned/bring.ts";
import { resolveTarget } from "../../../restore/targets/resolve.ts";
import type { StateTarget } from "../../../restore/types.ts";
import { DEFAULT_HANDOFF_CHARACTERS } from "../../../transcripts/handoff.ts";
import { checkedPath } from "../../../trials/bisect/bisect.ts";
import { TO_FORK } from "../../picker/purpose.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { madeJson } from "../../render/fork.ts";
import { placeOf } from "../../render/layout/location.ts";
import { targetLine } from "../../render/plan/plan.ts";
import { noteText } from "../../render/words/restore/notes.ts";
import { sideEffectRow } from "../../render/words/restore/side-effects.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { startAgent } from "../../shared/start-agent.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { forkCommand } from "./commands.ts";

type Options = OptionsOf<typeof forkCommand>;

const SHOWN_MISSING = 8;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const target = await targetOf(workspace, options, io);
  const own = target.kind === "step" ? target.step.agent : null;
  const other = options.agent === undefined ? own : await idOf(options.agent);
  const handOver =
    other === null || other === own ? null : { agent: other, limit: options.limit ?? DEFAULT_HANDOFF_CHARACTERS };
  const made = await withProgress(io, "Creating the fork", () =>
    makeFork(workspace, target, {
      branch: options.branch,
      directory: options.directory === undefined ? undefined : resolve(io.cwd, options.directory),
      branchOnly: options.branchOnly,
      executable: ownExecutable(),
      handOver,
      bring: checkedPaths(options),
    }),
  );
  if (options.json) io.json({ ...madeJson(made) });
  else tell(made, target, io);
  if (!options.run) return undefined;
  if (made.record.chat) return startAgent(made.record.chat.start, io.cwd);
  throw new UserError("not-found", "There is no conversation to start the agent with.", "Start the agent by hand.");
}

function checkedPaths({ link, copy }: Options): PathsToBring | undefined {
  const [linked, copied] = [link, copy].map((paths) => [...new Set((paths ?? []).map(checkedPath))].sort());
  return linked?.length || copied?.length ? { link: linked ?? [], copy: copied ?? [] } : undefined;
}

async function idOf(name: string): Promise<string> {
  return (await requireAgent(name)).profile.id;
}

async function targetOf(workspace: Workspace, options: Options, io: Io): Promise<StateTarget> {
  if (options.target !== undefined) return resolveTarget(workspace, options.target);
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No target was given, and there is no terminal to choose on.",
      "Give a step from `backtrail log`, `prev`, or a number of turns back: backtrail fork 1",
    );
  }
  const { pickStep } = await import("../../picker/pick.ts");
  return { kind: "step", step: await pickStep(workspace, io, TO_FORK) };
}

function tell({ record, missing, notes }: MadeFork, target: StateTarget, io: Io): void {
  const { paint, columns } = io.out;
  const { name, directory, branch, chat } = record;
  io.print(`${paint("green", "Forked")} ${targetLine(target, { columns, now: now() })}`);
  io.print(`  name       ${paint("bold", name)}`);
  if (directory !== null) io.print(`  directory  ${placeOf(directory, null)}`);
  if (branch !== null) io.print(`  branch     ${printable(branch)}`);
  if (chat) io.print(`\nContinue the conversation with:\n  ${paint("bold", printable(chat.command))}`);
  const say = (text: string) => io.say(`${io.err.paint("cyan", "note:")} ${printable(text)}`);
  for (const { what, why } of missing.slice(0, SHOWN_MISSING).map(sideEffectRow))
    say(`${shownPath(what)} is not in it: ${why}.`);
  if (missing.length > SHOWN_MISSING)
    say(`${missing.length - SHOWN_MISSING} more are not in it (--json lists them all).`);
  for (const note of notes) say(noteText(note));
  io.say(
    io.err.paint(
      "dim",
      `\n\`backtrail fork diff ${name}\` compares the fork with this work tree; \`fork take\` merges its changes.`,
    ),
  );
}
