/** A conversation handed over to another agent: told in words, kept in a file, with the command that begins with it. */
import { isAbsolute, relative } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { requireAgent } from "../agents/registry.ts";
import { startCommand } from "../agents/resume.ts";
import { UserError } from "../base/errors.ts";
import { writeFileAtomic } from "../base/files.ts";
import { newStepId, sessionKey } from "../base/ids.ts";
import { isInside } from "../base/paths.ts";
import { openRedaction } from "../checkpoints/redacted.ts";
import type { Workspace } from "../git/workspace.ts";
import { handOverFile } from "../lifecycle/hand-overs.ts";
import type { Step } from "../steps/model.ts";
import { handOver } from "../transcripts/hand-over.ts";
import type { Conversation } from "../transcripts/model.ts";
import { conversationAt } from "./chat.ts";

export interface HandOverOptions {
  /** The agent that takes over, by its id or a short name. */
  agent: string;
  limit: number;
  /** Where the files are or were, so that they are named from there. */
  roots: readonly string[];
  /** Of the file with the words. */
  name?: string;
}

export interface HandedOver {
  agent: string;
  /** How the agent is started with it, word for word; empty where that is not known. */
  words: string[];
  command: string;
  file: string;
  text: string;
  cut: string[];
}

export async function handOverAt(workspace: Workspace, step: Step, options: HandOverOptions): Promise<HandedOver> {
  const found = await conversationAt(workspace, step);
  if (typeof found === "string") throw new UserError("not-found", `There is nothing to hand over: ${found}`);
  const { agent, bytes } = found;
  if (!agent.analyser) {
    throw new UserError("not-found", `What ${agent.profile.display_name} writes down can't be read.`);
  }
  return handOverConversation(workspace, agent.analyser.read(bytes), { agent, session: step.session }, options);
}

/** Without secrets: another agent's maker reads it. */
export async function handOverConversation(
  workspace: Workspace,
  conversation: Conversation,
  from: { agent: Agent; session: string | null },
  options: HandOverOptions,
): Promise<HandedOver> {
  const { profile } = await requireAgent(options.agent);
  const { id, display_name: agent } = from.agent.profile;
  const redaction = await openRedaction(workspace);
  const named = withRelativeFiles(conversation, options.roots);
  let told = handOver(named, { agent, limit: options.limit });
  let text = redaction.text(told.text);
  // A placeholder may be longer than what it stands for.
  for (let less = options.limit; text.length > options.limit && less > 0; ) {
    less -= text.length - options.limit;
    told = handOver(named, { agent, limit: less });
    const shorter = redaction.text(told.text);
    if (shorter.length >= text.length) break;
    text = shorter;
  }
  const file = handOverFile(workspace, options.name ?? newStepId(), sessionKey(id, from.session ?? ""));
  writeFileAtomic(file, text, { sync: true });
  const words = (profile.start ?? []).map((word) => (word === "{prompt}" ? text : word));
  return { agent: profile.id, words, command: startCommand(profile, file), file, text, cut: told.cut };
}

function withRelativeFiles(conversation: Conversation, roots: readonly string[]): Conversation {
  const named = (file: string) => {
    const root = isAbsolute(file) ? roots.find((each) => isInside(each, file) && each !== file) : undefined;
    return root === undefined ? file : relative(root, file);
  };
  const entries = conversation.entries.map((entry) => ({ ...entry, files: entry.files.map(named) }));
  return { ...conversation, entries };
}
