/** `forget`: removes a conversation from everything that was recorded, and reports where copies remain. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { oneLine, plural, shortSession, shownPath } from "../../../base/text.ts";
import { findSession } from "../../../checkpoints/read/sessions.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { collectGarbage } from "../../../maintenance/expiry.ts";
import { forget } from "../../../maintenance/forget/forget.ts";
import { type ForgetLeft, leftAfterForgetting } from "../../../maintenance/forget/leftovers.ts";
import { type ForgetPlan, planForget } from "../../../maintenance/forget/plan.ts";
import { readRestores } from "../../../restore/apply/restore-log.ts";
import { findLog, logsDirectory } from "../../../run/log/layout.ts";
import { forgetInIndex } from "../../../search/forget.ts";
import { listForks } from "../../../steps/forks.ts";
import { hubMustForget, sendInBackground } from "../../../team/background.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { table } from "../../render/layout/table.ts";
import { fit, wrapAfter } from "../../render/layout/text.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { forgetCommand } from "./commands.ts";

const LEFT: Readonly<Record<ForgetLeft["inObjectStore"][number], string>> = {
  code: "the code of the steps",
  checkpoints: "earlier versions of the checkpoints",
  conversation: "conversations that were kept there before",
};

interface Related {
  id: string;
  recorded: boolean;
}

type Options = OptionsOf<typeof forgetCommand>;

const STILL_FOUND =
  "The search index could not be changed, so search may still find it. Rebuild it with `backtrail search --rebuild`.";

const ON_THE_HUB =
  "Your team's hub forgets it too, within a minute of being reached. `backtrail team status` shows what waits.";

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const conversationOnly = options.conversationOnly === true;
  const logs = logsDirectory(io.cwd, io.environment);
  const how = {
    conversationOnly,
    keptFor: (session: string) => keptBy(workspace, session),
    runsOf: (session: string) => [findLog(logs, session)?.path ?? []].flat(),
  };
  const plan = await withProgress(io, "Looking", () => planForget(workspace, options.what, how));
  const related = relatedTo(workspace, plan);
  if (!options.json) tell(plan, await recordedOf(workspace, related), io);
  if (!options.dryRun) {
    if (!options.yes && !(await confirm(io, "Forget it? This cannot be undone.", "--yes"))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
    await withProgress(io, "Forgetting", async () => {
      await forget(workspace, plan);
      await collectGarbage(workspace);
    });
    const { sessions, steps } = plan;
    if (!forgetInIndex({ sessions, steps: steps.map(({ id }) => id), conversationOnly })) io.say(STILL_FOUND);
    // The team's hub forgets it too, as soon as it can be reached.
    await sendInBackground(workspace.root);
  }
  const done = !options.dryRun;
  const left = done ? await leftAfterForgetting(workspace, plan) : null;
  if (options.json) io.json({ plan: planJson(plan), related, done, left });
  else if (left) {
    tellWhatIsLeft(plan, left, workspace, io);
    if (await hubMustForget(workspace)) io.say(ON_THE_HUB);
  }
  return undefined;
}

/** Directories of the files that this session's restores kept. */
function keptBy(workspace: Workspace, session: string): string[] {
  return readRestores(workspace)
    .filter((record) => record.session?.id === session || record.fork?.id === session)
    .map(({ id }) => join(workspace.stateDir, "kept", id))
    .filter(existsSync);
}

/** Sessions that a rewind or a fork made from these: their conversations start the same. */
function relatedTo(workspace: Workspace, { sessions }: ForgetPlan): string[] {
  const ids = new Set(sessions.map(({ session }) => session));
  const steps = new Set(sessions.flatMap((session) => session.steps.map(({ id }) => id)));
  const byRewinds = readRestores(workspace).flatMap(({ session, fork }) =>
    fork && session && ids.has(session.id) ? [fork.id] : [],
  );
  const byForks = listForks(workspace).flatMap(({ from, chat }) =>
    from.step !== null && steps.has(from.step) ? [chat?.session ?? []].flat() : [],
  );
  return [...new Set([...byRewinds, ...byForks])].filter((id) => !ids.has(id));
}

const OPEN = "its agent may still be open, and would record the conversation again";

/** A copy that no agent has continued is not recorded here, so it cannot be forgotten. */
async function recordedOf(workspace: Workspace, related: readonly string[]): Promise<Related[]> {
  return Promise.all(related.map(async (id) => ({ id, recorded: (await findSession(workspace, id))?.session === id })));
}

function tell(plan: ForgetPlan, related: readonly Related[], io: Io): void {
  const { paint, columns } = io.out;
  const bold = (text: string) => paint("bold", text);
  for (const { agent, session, title, steps, imported, open } of plan.sessions) {
    const cells = [{ text: `session ${shortSession(session)}`, paint: bold }, oneLine(agent), oneLine(title ?? "")];
    for (const line of table([cells], columns)) io.print(line);
    const named = steps.flatMap(({ name }) => (name === null ? [] : [oneLine(name)]));
    const fate = plan.conversationOnly ? "lose the conversation and keep their code" : "are deleted, with their code";
    if (steps.length > 0) io.print(`  ${plural(steps.length, "step")}: they ${fate}`);
    if (named.length > 0 && !plan.conversationOnly)
      io.print(fit(`  among them, by name: ${named.join(", ")}`, columns));
    if (imported) io.print("  imported: goes");
    if (open) for (const line of wrapAfter("  ", OPEN, columns)) io.print(paint("yellow", line));
  }
  for (const step of plan.steps) {
    const cells = [{ text: `step ${step.id}`, paint: bold }, oneLine(step.prompt ?? step.name ?? step.kind)];
    for (const line of table([cells], columns)) io.print(line);
    io.print("  it is deleted, with its code; the other steps of its session keep the conversation");
  }
  if (plan.checkpoints > 0) io.print(`${plural(plan.checkpoints, "checkpoint")}: what was said is taken out`);
  for (const file of filesOf(plan)) io.print(`${shownPath(file)}: goes`);
  for (const name of plan.forks)
    io.printMessage(
      paint(
        "yellow",
        `The fork ${name} was made from it: its files stay, but after git prunes, it can no longer be compared or taken.`,
      ),
    );
  for (const { id, recorded } of related) {
    const what = `A fork, session ${shortSession(id)}, has the same beginning.`;
    const fate = recorded ? "Forget it too." : "Only its agent has it; delete it there.";
    io.printMessage(paint("yellow", `${what} ${fate}`));
  }
}

/** Reports where copies remain and how to remove them. */
function tellWhatIsLeft(plan: ForgetPlan, left: ForgetLeft, workspace: Workspace, io: Io): void {
  io.print("Forgotten.");
  if (workspace.kind === "private") io.say("Its objects are removed by the next cleanup, in a day or later.");
  if (left.inObjectStore.length > 0) {
    const what = left.inObjectStore.map((kind) => LEFT[kind]).join(" and ");
    io.say(`git still has ${what}, until it prunes unreachable objects.`);
  }
  if (left.shared)
    io.say(
      "Earlier commits of the branch entire/checkpoints/v1 still hold it, because other repositories have them too.",
    );
  if (left.commands.length > 0) {
    io.say("Delete it now with:");
    for (const command of left.commands) io.say(`  ${command}`);
  }
  for (const { transcript } of plan.sessions)
    if (transcript !== null && existsSync(transcript))
      io.say(`The agent's own transcript is still there: ${shownPath(transcript)}`);
}

function planJson({ sessions, steps, conversationOnly, checkpoints, forks, files }: ForgetPlan) {
  return {
    sessions: sessions.map(({ agent, session, steps: own, imported, open, transcript }) => ({
      agent,
      session,
      steps: own.map(({ id }) => id),
      imported,
      open,
      transcript,
    })),
    steps: steps.map(({ id }) => id),
    conversationOnly,
    checkpoints,
    forks,
    files: filesOf({ conversationOnly, files }),
  };
}

function filesOf({ conversationOnly, files }: Pick<ForgetPlan, "conversationOnly" | "files">): string[] {
  return [...files.transcripts, ...files.runs, ...(conversationOnly ? [] : files.kept)];
}
