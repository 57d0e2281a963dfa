/** `resume`: continues a conversation, or hands it off to another agent. */

import { resolve } from "node:path";
import type { Profile } from "../../../agents/contract/profile.ts";
import { requireAgent } from "../../../agents/registry/registry.ts";
import { startCommand } from "../../../agents/shared/resume.ts";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural, printable, shownPath } from "../../../base/text.ts";
import { readAs } from "../../../checkpoints/blame/line-rationale.ts";
import { CheckpointReader } from "../../../checkpoints/read/read.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { shownCommand } from "../../../model/command.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { type HandoffResult, handOffConversation } from "../../../restore/conversation/handoff.ts";
import type { ResumeNote } from "../../../restore/notes.ts";
import { conversationOf, type ResumedConversation } from "../../../restore/resume/conversation.ts";
import { type KeptSession, keptByAgent } from "../../../restore/resume/kept-by-agent.ts";
import { planResume, type ResumePlan } from "../../../restore/resume/plan.ts";
import { applyResume, type Resumed } from "../../../restore/resume/resume.ts";
import { atStep, type Found, findSource, recentSessions } from "../../../restore/resume/source.ts";
import { isCompactTranscript } from "../../../transcripts/compact.ts";
import { DEFAULT_HANDOFF_CHARACTERS } from "../../../transcripts/handoff.ts";
import { pickSession } from "../../picker/sessions.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { fit } from "../../render/layout/text.ts";
import { age } from "../../render/layout/time.ts";
import { resumeNoteText } from "../../render/words/restore/notes.ts";
import { openRepository } from "../../shared/open-repository.ts";
import { startAgent } from "../../shared/start-agent.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { requireFree, writeOutput } from "../../terminal/output-file.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { resumeCommand } from "./commands.ts";

type Options = OptionsOf<typeof resumeCommand>;

const RECENT = 20;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  if (options.agent !== undefined && options.output !== undefined)
    requireFree(resolve(io.cwd, options.output), options.yes);
  try {
    return await resume(await openRepository(io), options, io);
  } catch (error) {
    if (!(await isResumedFromIndex(error, options, io))) throw error;
    return undefined;
  }
}

/** Search finds sessions that Backtrail did not record: the agent itself can still continue them. */
async function isResumedFromIndex(error: unknown, options: Options, io: Io): Promise<boolean> {
  const { target, agent, copy, run: isRun, json } = options;
  if (!(error instanceof UserError) || error.kind !== "not-found") return false;
  if (target === undefined || agent !== undefined || copy || isRun) return false;
  const { resumeIndexedSession } = await import("../../shared/indexed-session.ts");
  return resumeIndexedSession(target.trim(), json === true, io);
}

async function resume(workspace: Workspace, options: Options, io: Io): Promise<number | undefined> {
  const reader = new CheckpointReader(workspace);
  try {
    const { source, notes } = await sourceOf(workspace, reader, options, io);
    const kept = options.agent === undefined && !options.copy ? await keptByAgent(workspace, source) : null;
    if (kept) return await goOnByItself(workspace, kept, options, io);
    const conversation = await withProgress(io, "Reading the conversation", () =>
      conversationOf(workspace, reader, source),
    );
    conversation.notes.unshift(...notes);
    const to = options.agent === undefined ? undefined : (await requireAgent(options.agent)).profile;
    const own = conversation.agent.profile;
    // The same agent needs no handoff text, unless only a compact transcript of the conversation is left.
    const isCompact = isCompactTranscript(conversation.bytes);
    if (isCompact) conversation.notes.push({ kind: "compact" });
    if (isCompact || (to && to.id !== own.id)) return await handOver(workspace, conversation, to ?? own, options, io);
    const plan = planResume(workspace, source, conversation, { copy: options.copy === true });
    return await continueSession(workspace, conversation, plan, options, io);
  } finally {
    reader.close();
  }
}

async function sourceOf(workspace: Workspace, reader: CheckpointReader, options: Options, io: Io): Promise<Found> {
  if (options.target !== undefined) return findSource(workspace, reader, options.target, options.session);
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No target was given, and there is no terminal to choose a session on.",
      "`backtrail status` lists the sessions. Give an id or the beginning of one.",
    );
  }
  return { source: atStep(workspace, await pickSession(recentSessions(workspace, RECENT), io)), notes: [] };
}

async function continueSession(
  workspace: Workspace,
  conversation: ResumedConversation,
  plan: ResumePlan,
  options: Options,
  io: Io,
): Promise<number | undefined> {
  if (plan.replaces && !options.yes) {
    const { path, isNewer } = plan.replaces;
    io.say(`${placeOf(path, null)} holds ${isNewer ? "a newer" : "another"} conversation of this session.`);
    const flags = "--yes to replace it (it is kept), or --copy to restore this one beside it";
    if (!(await confirm(io, "Replace it?", flags))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  const resumed = applyResume(workspace, plan);
  if (options.json) io.json({ ...resumed, ...notesJson(resumed.notes), session: conversation.session });
  else tell(conversation, resumed, io);
  return options.run ? startAgent(resumed.chat.start, workspace.root) : undefined;
}

/** Backtrail has nothing to add: the agent has the session. */
async function goOnByItself(
  workspace: Workspace,
  { agentName, time, prompt, ...kept }: KeptSession,
  options: Options,
  io: Io,
): Promise<number | undefined> {
  const { agent, session, command, start } = kept;
  if (options.json) {
    const chat = { agent, session, transcript: null, command, start };
    io.json({ chat, written: null, kept: null, ...notesJson([]), session });
  } else {
    const head = `${agentName} (${age(time, now())}): `;
    io.print(io.out.paint("bold", head) + fit(oneLine(prompt ?? session), Math.max(20, io.out.columns - head.length)));
    io.print(`\nContinue the conversation with:\n  ${io.out.paint("bold", printable(command))}`);
  }
  return options.run ? startAgent(start, workspace.root) : undefined;
}

function tell(conversation: ResumedConversation, resumed: Resumed, io: Io): void {
  const { paint } = io.out;
  const { agent, time, title, prompt } = conversation;
  const head = `${agent.profile.display_name} (${age(time, now())}): `;
  io.print(paint("bold", head) + fit(oneLine(prompt ?? title), Math.max(20, io.out.columns - head.length)));
  if (resumed.written !== null) io.print(`  put in ${placeOf(resumed.written, null)}`);
  if (resumed.kept !== null) io.print(`  the previous one is kept in ${placeOf(resumed.kept, null)}`);
  if (resumed.chat.command !== "") {
    io.print(`\nContinue the conversation with:\n  ${paint("bold", printable(resumed.chat.command))}`);
  }
  for (const note of resumed.notes) io.say(`${io.err.paint("cyan", "note:")} ${printable(resumeNoteText(note))}`);
}

async function handOver(
  workspace: Workspace,
  conversation: ResumedConversation,
  profile: Profile,
  options: Options,
  io: Io,
): Promise<number | undefined> {
  const { agent, session, bytes, files, notes } = conversation;
  const said = await readAs(agent.profile.id, bytes);
  if (said === null) throw new UserError("not-found", `Transcripts of ${agent.profile.display_name} can't be read.`);
  const limit = options.limit ?? DEFAULT_HANDOFF_CHARACTERS;
  const handed = await withProgress(io, "Writing the handoff", () =>
    handOffConversation(
      workspace,
      said,
      { agent, session },
      {
        agent: profile.id,
        limit,
        roots: [workspace.root],
        files,
      },
    ),
  );
  if (options.output !== undefined) {
    handed.file = resolve(io.cwd, options.output);
    writeOutput(handed.file, handed.text, options.yes);
    Object.assign(handed, shownCommand(startCommand(profile, handed.file)));
  }
  const recorded = connectedAgents(workspace)[profile.id] !== undefined;
  if (!recorded) notes.push({ kind: "agent-not-recorded", agent: profile.id, name: profile.display_name });
  if (options.json) {
    const { agent: id, command, file, text, cut } = handed;
    io.json({
      handOver: { agent: id, command, file, characters: text.length, cut },
      session: conversation.session,
      ...notesJson(notes),
    });
  } else tellHandOver(conversation, handed, profile.display_name, notes, io);
  if (!options.run) return undefined;
  if (handed.command !== "") return startAgent(handed.start, workspace.root);
  throw new UserError("not-found", `Backtrail does not know how to start ${profile.display_name} with a prompt.`);
}

function tellHandOver(
  { agent }: ResumedConversation,
  { text, cut, file, command }: HandoffResult,
  to: string,
  notes: readonly ResumeNote[],
  io: Io,
): void {
  const { paint } = io.out;
  io.print(`${paint("bold", agent.profile.display_name)} → ${paint("bold", to)}, ${plural(text.length, "character")}`);
  io.print(`  in ${placeOf(file, null)}`);
  for (const each of cut) io.print(`  ${paint("yellow", "!")} ${oneLine(each)}`);
  if (command === "") io.print(`\nGive ${to} ${shownPath(file)} as its first prompt.`);
  else io.print(`\nContinue the conversation with:\n  ${paint("bold", printable(command))}`);
  for (const note of notes) io.say(`${io.err.paint("cyan", "note:")} ${printable(resumeNoteText(note))}`);
}

/** Notes as sentences for people, and as data for programs. */
function notesJson(notes: readonly ResumeNote[]) {
  return { notes: notes.map(resumeNoteText), facts: notes };
}
