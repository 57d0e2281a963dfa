/** `show`: shows one step with its prompt, files, tokens and the agent's answer. */

import { existsSync } from "node:fs";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { printable, shownPath } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Step } from "../../../model/step.ts";
import { groupTurns } from "../../../model/turn.ts";
import { resolveStep } from "../../../restore/targets/resolve.ts";
import { logsDirectory, nameOf } from "../../../run/log/layout.ts";
import { patch } from "../../../steps/diff.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { colorDiff } from "../../render/diff.ts";
import { wholeStepJson } from "../../render/step/json.ts";
import { stepDetails } from "../../render/step/step.ts";
import { openForReading } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import type { showCommand } from "./commands.ts";

type Options = OptionsOf<typeof showCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openForReading(io).catch((error: unknown) => error);
  if (!isWorkspace(workspace)) {
    // Search finds sessions of repositories in which nothing is recorded.
    if (!(await isShownFromIndex(options, io))) throw workspace;
    return;
  }
  const target = await resolveStep(workspace, options.target ?? "last").catch((error: unknown) => error);
  if (!isTarget(target)) {
    if (!(await isShownAsSession(options, target, io)) && !(await isShownFromIndex(options, io))) throw target;
    return;
  }
  if (target.kind !== "step") {
    throw new UserError(
      "usage",
      `${shownPath(options.target ?? "")} is a commit, not a step.`,
      "`git show` shows commits.",
    );
  }
  const { step } = target;
  const change = options.patch ? await patchOf(workspace, step) : undefined;
  if (options.json) {
    io.json({ step: wholeStepJson(step), ...(change === undefined ? {} : { patch: change }) });
    return;
  }
  const lines = stepDetails(step, ofSameTurn(workspace, step), {
    paint: io.out.paint,
    columns: io.out.columns,
    now: now(),
    run: await runOf(step, io),
  });
  if (change !== undefined)
    lines.push("", change === "" ? "Nothing changed." : colorDiff(change.trimEnd(), io.out.paint));
  await page(io, lines.join("\n"));
}

function isWorkspace(opened: unknown): opened is Workspace {
  return typeof opened === "object" && opened !== null && !(opened instanceof Error);
}

function isTarget(found: unknown): found is Awaited<ReturnType<typeof resolveStep>> {
  return typeof found === "object" && found !== null && !(found instanceof Error);
}

/** A run that was not recorded has a log but no steps. */
async function isShownAsSession(options: Options, error: unknown, io: Io): Promise<boolean> {
  if (!(error instanceof UserError) || error.kind !== "not-found" || options.target === undefined) return false;
  const [{ loadSessions }, { findSession }, { showSession }] = await Promise.all([
    import("../../shared/load-sessions.ts"),
    import("../../../run/sessions/find.ts"),
    import("../sessions/show.ts"),
  ]);
  const known = await loadSessions(io);
  const node = findSession(known.nodes, options.target.trim());
  if (node) await showSession(known, node, options.json === true, io);
  return node !== undefined;
}

async function isShownFromIndex({ target, json, patch: isPatch }: Options, io: Io): Promise<boolean> {
  if (target === undefined || isPatch) return false;
  const { showIndexedSession } = await import("../../shared/indexed-session.ts");
  return showIndexedSession(target.trim(), json === true, io);
}

async function runOf({ session, agent }: Step, io: Io) {
  const logs = logsDirectory(io.cwd, io.environment);
  if (session === null || agent === null || !existsSync(logs)) return undefined;
  const { nodesIn, readTree } = await import("../../../run/log/tree.ts");
  return nodesIn(await readTree(logs)).find(({ id }) => id === nameOf(session));
}

async function patchOf(workspace: Workspace, step: Step): Promise<string> {
  const before = stepBefore(workspace, step);
  if (!before) {
    throw new UserError(
      "not-found",
      `The state before ${step.id} is not recorded.`,
      "Leave --patch out, or name two steps for `backtrail diff`.",
    );
  }
  return printable(await patch(workspace, before.snapshot.work, step.snapshot.work));
}

/** The base of a step's diff: the turn's start for the end of a turn, otherwise the previous step. */
export function stepBefore(workspace: Workspace, step: Step): Step | undefined {
  const start =
    step.kind === "turn-end" ? ofSameTurn(workspace, step).find(({ kind }) => kind === "turn-start") : undefined;
  return start ?? (step.parent === null ? undefined : stepsIn(workspace).byId(step.parent));
}

function ofSameTurn(workspace: Workspace, step: Step): Step[] {
  const steps = step.session === null ? [step] : stepsIn(workspace).list({ session: step.session });
  return groupTurns(steps).find((turn) => turn.steps.some(({ id }) => id === step.id))?.steps ?? [step];
}
