/** `resume`: goes on with a conversation, or hands it over to another agent. */
import { resolve } from "node:path";
import type { Profile } from "../../agents/profile.ts";
import { requireAgent } from "../../agents/registry.ts";
import { startCommand } from "../../agents/resume.ts";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { writeFileAtomic } from "../../base/files.ts";
import { oneLine, plural, printable, shownPath } from "../../base/text.ts";
import { CheckpointReader } from "../../checkpoints/read.ts";
import { readStore, type Workspace } from "../../git/workspace.ts";
import { type HandedOver, handOverConversation } from "../../restore/hand-over.ts";
import { conversationOf, type ResumedConversation } from "../../restore/resume/conversation.ts";
import { planResume, type ResumePlan } from "../../restore/resume/plan.ts";
import { applyResume, type Resumed } from "../../restore/resume/resume.ts";
import { atStep, type Found, findSource, recentSessions } from "../../restore/resume/source.ts";
import { USUAL_HAND_OVER } from "../../transcripts/hand-over.ts";
import { confirm } from "../ask.ts";
import { EXIT } from "../exit.ts";
import { lookIntoHistory } from "../history.ts";
import type { Io } from "../io.ts";
import { pickSession } from "../picker/sessions.ts";
import { withProgress } from "../progress.ts";
import { placeOf } from "../render/place.ts";
import { fit } from "../render/text.ts";
import { age } from "../render/time.ts";
import { startAgent } from "../start-agent.ts";

interface Options {
  target?: string;
  session?: string;
  copy?: boolean;
  agent?: string;
  limit?: number;
  output?: string;
  run?: boolean;
  yes?: boolean;
  json?: boolean;
}

const RECENT = 20;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await lookIntoHistory(io);
  const reader = new CheckpointReader(workspace);
  try {
    const { source, notes } = await sourceOf(workspace, reader, options, io);
    const conversation = await withProgress(io, "Reading the conversation", () =>
      conversationOf(workspace, reader, source),
    );
    conversation.notes.unshift(...notes);
    const to = options.agent === undefined ? undefined : (await requireAgent(options.agent)).profile;
    // An agent need not be told what it has said itself.
    if (to && to.id !== conversation.agent.profile.id) return await handOver(workspace, conversation, to, options, io);
    const plan = planResume(workspace, source, conversation, { copy: options.copy === true });
    return await goOn(workspace, conversation, plan, options, io);
  } finally {
    reader.close();
  }
}

async function sourceOf(workspace: Workspace, reader: CheckpointReader, options: Options, io: Io): Promise<Found> {
  if (options.target !== undefined) return findSource(workspace, reader, options.target, options.session);
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No target was given, and there is no terminal to pick a session on.",
      "`backtrail status` lists the sessions; the beginning of an id is enough.",
    );
  }
  return { source: atStep(workspace, await pickSession(recentSessions(workspace, RECENT), io)), notes: [] };
}

async function goOn(
  workspace: Workspace,
  conversation: ResumedConversation,
  plan: ResumePlan,
  options: Options,
  io: Io,
): Promise<number | undefined> {
  if (plan.replaces && !options.yes) {
    const { path, isNewer } = plan.replaces;
    io.say(`${placeOf(path, null)} holds ${isNewer ? "a newer" : "another"} conversation of this session.`);
    const flags = "--yes to replace it (it is kept), or --copy to put this one beside it";
    if (!(await confirm(io, "Replace it?", flags))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  const resumed = applyResume(workspace, plan);
  if (options.json) io.json({ ...resumed, session: conversation.session });
  else tell(conversation, resumed, io);
  return options.run ? startAgent(resumed.chat.command, workspace.root) : undefined;
}

function tell(conversation: ResumedConversation, resumed: Resumed, io: Io): void {
  const { paint } = io.out;
  const { agent, time, title } = conversation;
  const head = `${agent.profile.display_name} (${age(time, now())}): `;
  io.print(paint("bold", head) + fit(oneLine(title), Math.max(20, io.out.columns - head.length)));
  if (resumed.written !== null) io.print(`  put in ${placeOf(resumed.written, null)}`);
  if (resumed.kept !== null) io.print(`  the one that was there is kept in ${placeOf(resumed.kept, null)}`);
  io.print(`\nIt goes on with:\n  ${paint("bold", printable(resumed.chat.command))}`);
  for (const note of resumed.notes) io.say(`${io.err.paint("cyan", "note:")} ${printable(note)}`);
}

async function handOver(
  workspace: Workspace,
  conversation: ResumedConversation,
  profile: Profile,
  options: Options,
  io: Io,
): Promise<number | undefined> {
  const { agent, session, bytes, notes } = conversation;
  if (!agent.analyser)
    throw new UserError("not-found", `What ${agent.profile.display_name} writes down can't be read.`);
  const limit = options.limit ?? USUAL_HAND_OVER;
  const handed = await withProgress(io, "Writing it down", () =>
    handOverConversation(
      workspace,
      agent.analyser?.read(bytes) ?? NOTHING,
      { agent, session },
      {
        agent: profile.id,
        limit,
        roots: [workspace.root],
      },
    ),
  );
  if (options.output !== undefined) {
    handed.file = resolve(io.cwd, options.output);
    writeFileAtomic(handed.file, handed.text);
    handed.command = startCommand(profile, handed.file);
  }
  const recorded = readStore(workspace)?.agents[profile.id] !== undefined;
  if (!recorded)
    notes.push(`${profile.display_name} is not recorded here: \`backtrail enable --agent ${profile.id}\`.`);
  if (options.json) {
    const { agent: id, command, file, text, cut } = handed;
    io.json({
      handOver: { agent: id, command, file, characters: text.length, cut },
      session: conversation.session,
      notes,
    });
  } else tellHandOver(conversation, handed, profile.display_name, notes, io);
  if (!options.run) return undefined;
  if (handed.command !== "") return startAgent(handed.command, workspace.root);
  throw new UserError("not-found", `It is not known how ${profile.display_name} is started with a prompt.`);
}

const NOTHING = { entries: [], title: null, model: null, tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };

function tellHandOver(
  { agent }: ResumedConversation,
  { text, cut, file, command }: HandedOver,
  to: string,
  notes: readonly string[],
  io: Io,
): void {
  const { paint } = io.out;
  io.print(`${paint("bold", agent.profile.display_name)} → ${paint("bold", to)}, ${plural(text.length, "character")}`);
  io.print(`  in ${placeOf(file, null)}`);
  for (const each of cut) io.print(`  ${paint("yellow", "!")} ${oneLine(each)}`);
  if (command === "") io.print(`\nGive ${to} ${shownPath(file)} as its first prompt.`);
  else io.print(`\nIt goes on with:\n  ${paint("bold", printable(command))}`);
  for (const note of notes) io.say(`${io.err.paint("cyan", "note:")} ${printable(note)}`);
}
