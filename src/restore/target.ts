/** What a person means by a target: a step, `last`, `prev`, a number of turns back, a name, a commit, a checkpoint. */
import { UserError } from "../base/errors.ts";
import { looksLikeStepId } from "../base/ids.ts";
import { closest, oneLine, plural, shorten } from "../base/text.ts";
import { commitsNaming } from "../checkpoints/history.ts";
import { isCheckpointName } from "../checkpoints/layout.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { findStep } from "../steps/list.ts";
import type { Step } from "../steps/model.ts";
import { requireGreen } from "./check/stamps.ts";
import type { Place } from "./model.ts";
import { turnsBack } from "./timeline.ts";

const NEAR = 3;
/** Of a session's id; anything shorter may be meant otherwise. */
export const SHORTEST_SESSION = 6;

export async function resolveTarget(workspace: Workspace, text: string): Promise<Place> {
  const wanted = text.trim();
  if (wanted === "") throw new UserError("usage", "The target is empty.", "`backtrail log` shows what there is.");
  if (wanted === "last") return found(newest(workspace), workspace);
  if (wanted === "prev") return back(workspace, 1);
  if (wanted === "last-green") return { kind: "step", step: requireGreen(workspace) };
  const named = namedStep(workspace, wanted);
  if (named) return { kind: "step", step: named };
  if (/^\d{1,5}$/.test(wanted)) {
    // Longer rows of digits are commits.
    return Number(wanted) === 0 ? found(newest(workspace), workspace) : back(workspace, Number(wanted));
  }
  const step = looksLikeStepId(wanted) ? findStep(workspace, wanted) : undefined;
  if (step) return { kind: "step", step };
  const commit = (await findCommit(workspace, wanted)) ?? (await commitOfCheckpoint(workspace, wanted));
  if (commit) return commit;
  const ofSession = sessionStep(workspace, wanted);
  if (ofSession) return { kind: "step", step: ofSession };
  throw notFound(workspace, wanted);
}

function found(step: Step | undefined, workspace: Workspace): Place {
  if (!step) throw new UserError("not-found", "Nothing is recorded here yet.", nearby(workspace));
  return { kind: "step", step };
}

function newest(workspace: Workspace): Step | undefined {
  for (const step of stepsNewestFirst(workspace)) {
    if (step.worktree === workspace.worktree && step.kind !== "safety") return step;
  }
  return undefined;
}

function back(workspace: Workspace, count: number): Place {
  const result = turnsBack(workspace, count);
  if ("step" in result) return { kind: "step", step: result.step };
  const { available } = result;
  if (available === 0)
    throw new UserError("not-found", "No turn is recorded that could be gone back from.", nearby(workspace));
  throw new UserError(
    "not-found",
    `There are not ${count} turns to go back: ${plural(available, "turn")} can be taken back.`,
    nearby(workspace),
  );
}

/** The newest step of that name, in this work tree before others. */
function namedStep(workspace: Workspace, name: string): Step | undefined {
  let elsewhere: Step | undefined;
  for (const step of stepsNewestFirst(workspace, `"name":${JSON.stringify(name)}`)) {
    if (step.name !== name || step.kind === "safety") continue;
    if (step.worktree === workspace.worktree) return step;
    elsewhere ??= step;
  }
  return elsewhere;
}

/** The newest step of the one session whose id begins so. */
function sessionStep(workspace: Workspace, beginning: string): Step | undefined {
  if (beginning.length < SHORTEST_SESSION) return undefined;
  const found = new Map<string, Step>();
  for (const step of stepsNewestFirst(workspace, `"session":${JSON.stringify(beginning).slice(0, -1)}`)) {
    if (step.session === null || step.kind === "safety" || !step.session.startsWith(beginning)) continue;
    if (!found.has(step.session)) found.set(step.session, step);
  }
  const exact = found.get(beginning);
  if (exact || found.size <= 1) return exact ?? [...found.values()][0];
  throw new UserError("usage", `"${beginning}" begins several sessions' ids.`, "Give a few more letters.");
}

async function findCommit(workspace: Workspace, text: string): Promise<Place | undefined> {
  if (workspace.kind === "private" || text.includes("\0")) return undefined;
  const { args, cwd } = gitLocation(workspace);
  const ask = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
  const commit = await tryGit([...args, ...ask, `${text}^{commit}`], { cwd });
  const id = commit.stdout.toString("latin1").trim();
  if (commit.code !== 0 || !/^[0-9a-f]{40,64}$/.test(id)) return undefined;
  const tree = await tryGit([...args, ...ask, `${id}^{tree}`], { cwd });
  if (tree.code !== 0) return undefined;
  return { kind: "commit", commit: id, tree: tree.stdout.toString("latin1").trim() };
}

/** The newest of the commits that a checkpoint belongs to. */
async function commitOfCheckpoint(workspace: Workspace, id: string): Promise<Place | undefined> {
  const [commit] = isCheckpointName(id) ? await commitsNaming(workspace, id) : [];
  return commit && findCommit(workspace, commit.id);
}

function notFound(workspace: Workspace, text: string): UserError {
  const shown = shorten(oneLine(text), 60);
  return new UserError(
    "not-found",
    `There is no step, name, commit or checkpoint "${shown}".`,
    nearby(workspace, text),
  );
}

/** What the person may have meant. */
function nearby(workspace: Workspace, text?: string): string {
  const steps: Step[] = [];
  const names: string[] = [];
  for (const step of stepsNewestFirst(workspace)) {
    if (step.name !== null) names.push(step.name);
    if (steps.length < NEAR && step.worktree === workspace.worktree && step.kind !== "safety") steps.push(step);
  }
  const alike = text === undefined ? undefined : closest(text, ["last", "prev", "last-green", ...names]);
  if (alike !== undefined) return `Did you mean "${shorten(oneLine(alike), 60)}"?`;
  if (steps.length === 0) return "Start an agent here, or keep the present state with `backtrail save`.";
  return `The newest steps are ${steps.map(({ id }) => id).join(", ")}; \`backtrail log\` shows them all.`;
}
