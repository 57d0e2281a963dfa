/** `forget`: removes a conversation from everything that was recorded, and says where it still is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { oneLine, plural, shorten, shownPath } from "../../base/text.ts";
import { findSession } from "../../checkpoints/sessions.ts";
import type { Workspace } from "../../git/workspace.ts";
import { forget } from "../../lifecycle/forget.ts";
import { type ForgetPlan, planForget } from "../../lifecycle/forget-plan.ts";
import { freeRoom } from "../../lifecycle/pruning.ts";
import { readRestores } from "../../restore/records.ts";
import { findLog, logsDirectory } from "../../run/layout.ts";
import { confirm } from "../ask.ts";
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";
import { withProgress } from "../progress.ts";
import { shortSession } from "../render/story.ts";
import { openWorkspace } from "../workspace.ts";

interface Related {
  id: string;
  recorded: boolean;
}

interface Options {
  what: string;
  conversationOnly?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

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
    if (!options.yes && !(await confirm(io, "Forget it? This cannot be taken back.", "--yes"))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
    await withProgress(io, "Forgetting", async () => {
      await forget(workspace, plan);
      await freeRoom(workspace);
    });
  }
  const done = !options.dryRun;
  if (options.json) io.json({ plan: planJson(plan), related, done });
  else if (done) tellWhatIsLeft(plan, workspace, io);
  return undefined;
}

/** Directories of files that restores of this session kept. */
function keptBy(workspace: Workspace, session: string): string[] {
  return readRestores(workspace)
    .filter((record) => record.session?.id === session || record.fork?.id === session)
    .map(({ id }) => join(workspace.stateDir, "kept", id))
    .filter(existsSync);
}

/** Sessions that a rewind made from these: they begin with the same words. */
function relatedTo(workspace: Workspace, { sessions }: ForgetPlan): string[] {
  const ids = new Set(sessions.map(({ session }) => session));
  const forks = readRestores(workspace).flatMap(({ session, fork }) =>
    fork && session && ids.has(session.id) && !ids.has(fork.id) ? [fork.id] : [],
  );
  return [...new Set(forks)];
}

/** A copy that no agent has gone on with is known to nobody here: it can't be forgotten. */
async function recordedOf(workspace: Workspace, related: readonly string[]): Promise<Related[]> {
  return Promise.all(related.map(async (id) => ({ id, recorded: (await findSession(workspace, id))?.session === id })));
}

function tell(plan: ForgetPlan, related: readonly Related[], io: Io): void {
  const { paint } = io.out;
  for (const { agent, session, title, steps, imported, open } of plan.sessions) {
    io.print(
      `${paint("bold", `session ${shortSession(session)}`)}  ${oneLine(agent)}  ${shorten(oneLine(title ?? ""), 60)}`.trimEnd(),
    );
    const named = steps.flatMap(({ name }) => (name === null ? [] : [oneLine(name)]));
    const fate = plan.conversationOnly ? "lose what was said and keep their code" : "go, with their code";
    if (steps.length > 0) io.print(`  ${plural(steps.length, "step")}: they ${fate}`);
    if (named.length > 0 && !plan.conversationOnly) io.print(`  among them, by name: ${shorten(named.join(", "), 70)}`);
    if (imported) io.print("  imported: goes");
    if (open)
      io.print(
        paint("yellow", "  its agent may still be open: what it says next is recorded again, from the beginning"),
      );
  }
  for (const step of plan.steps) {
    io.print(`${paint("bold", `step ${step.id}`)}  ${shorten(oneLine(step.prompt ?? step.name ?? step.kind), 60)}`);
    io.print("  it goes, with its code; the conversation stays in the other steps of its session");
  }
  if (plan.checkpoints > 0) io.print(`${plural(plan.checkpoints, "checkpoint")}: a new commit takes it out`);
  for (const file of filesOf(plan)) io.print(`${shownPath(file)}: goes`);
  for (const name of plan.forks)
    io.print(
      paint(
        "yellow",
        `The fork ${name} was made from it: its files stay, but once git prunes it can't be compared or taken any more.`,
      ),
    );
  for (const { id, recorded } of related) {
    const what = `Session ${shortSession(id)} was made from it by a rewind and begins with the same words`;
    const fate = recorded ? "forget it too." : "nothing of it is recorded here, its agent has it.";
    io.print(paint("yellow", `${what}: ${fate}`));
  }
}

/** Where it still is, and how it goes from there. */
function tellWhatIsLeft(plan: ForgetPlan, workspace: Workspace, io: Io): void {
  io.print("Forgotten.");
  if (workspace.kind === "repository")
    io.say("git removes the objects when it next prunes what nothing refers to; `git gc --prune=now` does it at once.");
  else io.say("Its objects go with the next tidying that is a day from now or later.");
  if (plan.checkpoints > 0) {
    io.say("Earlier commits of the branch entire/checkpoints/v1 still hold it. Where nobody else has them:");
    io.say(
      '  git update-ref refs/heads/entire/checkpoints/v1 "$(git commit-tree -m Checkpoints entire/checkpoints/v1^{tree})"',
    );
    io.say("  and, if it was pushed: git push --force <remote> entire/checkpoints/v1");
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
