/**
 * `explain --summarize`: lets an agent that the user chooses summarize sessions without a summary, and stores the
 * result with the checkpoint.
 */
import { UserError } from "../../../base/errors.ts";
import { printable, shortSession } from "../../../base/text.ts";
import { readAs } from "../../../checkpoints/blame/line-rationale.ts";
import type { CheckpointReader, StoredCheckpoint, StoredSession } from "../../../checkpoints/read/read.ts";
import { openRedaction, type Redaction } from "../../../checkpoints/write/redaction.ts";
import { writeSummary } from "../../../checkpoints/write/summaries.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { requireProgram, requireRunner } from "../../../run/agents.ts";
import { ask, type Question, requireAskable } from "../../../run/ask.ts";
import { summaryFrom, summaryQuestion } from "../../../run/summarize.ts";
import { settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";

const TIMEOUT_MS = 180_000;

export async function summarizeAll(
  workspace: Workspace,
  reader: CheckpointReader,
  checkpoints: readonly StoredCheckpoint[],
  agent: string | undefined,
  io: Io,
): Promise<void> {
  const askable = await questioner(workspace, agent, io);
  const wanted = checkpoints.flatMap((checkpoint) =>
    checkpoint.sessions.filter(({ metadata }) => !metadata.summary).map((session) => ({ checkpoint, session })),
  );
  if (checkpoints.length === 0) {
    throw new UserError(
      "not-found",
      "There is no checkpoint to store a summary in.",
      "A session gets one with the commit of its files.",
    );
  }
  const redaction = wanted.length > 0 ? await openRedaction(workspace) : undefined;
  for (const { checkpoint, session } of wanted) {
    if (!redaction) return;
    const what = `${askable.runner.name} summarizes ${shortSession(session.metadata.session_id)}`;
    await withProgress(io, printable(what), () =>
      summarize(workspace, reader, checkpoint, session, askable, redaction),
    );
  }
}

async function questioner(workspace: Workspace, agent: string | undefined, io: Io): Promise<Omit<Question, "text">> {
  const { config } = settingsOf(workspace);
  const name = agent ?? config.summarise.agent ?? undefined;
  if (name === undefined) {
    throw new UserError(
      "usage",
      "No agent is set for summaries.",
      "Give --agent claude, or `backtrail config set --user summarise.agent claude`.",
    );
  }
  const runner = await requireRunner(name, workspace);
  await requireAskable(runner);
  const own = config.run.agents[runner.name] ?? config.run.agents[runner.profile.id];
  return {
    runner,
    program: requireProgram(runner, io.environment["PATH"]),
    model: own?.model ?? runner.run.model?.default ?? null,
    timeoutMs: TIMEOUT_MS,
    environment: io.environment,
  };
}

/** Ctrl-C stops the agent and cancels the question. */
async function answerTo(question: Question): Promise<string> {
  let interrupt = () => {};
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const onSignal = () => {
    interrupt();
    reject(new UserError("interrupted", "Interrupted."));
  };
  process.once("SIGINT", onSignal);
  try {
    const answer = ask(question, (stop) => {
      interrupt = stop;
    });
    return await Promise.race([
      answer,
      interrupted.catch(async (error: unknown) => {
        await answer.catch(() => {});
        throw error;
      }),
    ]);
  } finally {
    process.off("SIGINT", onSignal);
  }
}

async function summarize(
  workspace: Workspace,
  reader: CheckpointReader,
  checkpoint: StoredCheckpoint,
  { index, metadata, record }: StoredSession,
  question: Omit<Question, "text">,
  redaction: Redaction,
): Promise<void> {
  const transcript = checkpoint.layout === "branch" ? await reader.transcript(checkpoint.id, index) : undefined;
  const conversation = transcript && (await readAs(record?.agent || metadata.agent, transcript.bytes));
  if (!conversation) {
    checkpoint.defects.push({ kind: "conversation-missing", session: metadata.session_id });
    return;
  }
  const answer = await answerTo({ ...question, text: summaryQuestion(conversation, redaction.again) });
  const summary = summaryFrom(answer, redaction.again);
  const kept = await writeSummary(workspace, checkpoint.id, { index, id: metadata.session_id }, summary);
  if (!kept) checkpoint.defects.push({ kind: "summary-not-kept" });
  metadata.summary = summary;
}
