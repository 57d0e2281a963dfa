/** Hands a conversation off to another agent: as text in a file, with the command that starts the agent with it. */

import { isAbsolute, relative } from "node:path";
import type { Agent } from "../../agents/contract/agent.ts";
import { requireAgent } from "../../agents/registry/registry.ts";
import { startCommand } from "../../agents/shared/resume.ts";
import { writeFileAtomic } from "../../base/fs/files.ts";
import { newStepId, sessionKey } from "../../base/ids.ts";
import { isInside } from "../../base/paths.ts";
import { openRedaction } from "../../checkpoints/write/redaction.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import { type ShownCommand, shownCommand } from "../../model/command.ts";
import type { Conversation } from "../../model/conversation.ts";
import type { Step } from "../../model/step.ts";
import { handoffFile } from "../../steps/handoff-files.ts";
import { stepsIn } from "../../steps/log.ts";
import { handOver } from "../../transcripts/handoff.ts";
import { RestoreError } from "../problems.ts";
import { conversationAt } from "./fork.ts";

export interface HandoffOptions {
  /** The receiving agent, by id or short name. */
  agent: string;
  limit: number;
  /** Current and former roots of the files; the text names files relative to these. */
  roots: readonly string[];
  /** The name of the handoff file. */
  name?: string;
  /** Files recorded as changed, relative to the root: shell commands change files that no conversation names. */
  files?: readonly string[];
}

export interface HandoffResult extends ShownCommand {
  agent: string;
  /** The command line that starts the agent; empty if unknown. */
  words: string[];
  file: string;
  text: string;
  cut: string[];
}

export async function handoffAt(workspace: Workspace, step: Step, options: HandoffOptions): Promise<HandoffResult> {
  const found = await conversationAt(workspace, step);
  if ("kind" in found) throw new RestoreError("not-found", { kind: "nothing-to-hand-off", reason: found });
  const { agent, bytes } = found;
  if (!agent.analyzer) {
    throw new RestoreError("not-found", { kind: "transcript-unreadable", agent: agent.profile.display_name });
  }
  const source = { agent, session: step.session };
  const files = filesChangedBy(workspace, step);
  return handOffConversation(workspace, agent.analyzer.read(bytes), source, { ...options, files });
}

/** The files that the session's turns changed up to the step, oldest first. */
export function filesChangedBy(workspace: Workspace, { id, session, agent }: Step): string[] {
  const turns = stepsIn(workspace).newestFirst({ from: id, agent, session, kinds: ["turn-end"] });
  const files = turns.map((turn) => changedPaths(turn.files)).toArray();
  return [...new Set(files.reverse().flat())];
}

/** Redacts secrets, because another vendor will read the text. */
export async function handOffConversation(
  workspace: Workspace,
  conversation: Conversation,
  from: { agent: Agent; session: string | null },
  options: HandoffOptions,
): Promise<HandoffResult> {
  const { profile } = await requireAgent(options.agent);
  const { id, display_name: agent } = from.agent.profile;
  const named = withRelativeFiles(conversation, options.roots);
  const files = [...new Set([...named.entries.flatMap((entry) => entry.files), ...(options.files ?? [])])];
  const redaction = (await openRedaction(workspace)).withNames(files);
  let handoff = handOver(named, { agent, files, limit: options.limit });
  let text = redaction.text(handoff.text);
  // A placeholder may be longer than the secret it replaces.
  for (let less = options.limit; text.length > options.limit && less > 0; ) {
    less -= text.length - options.limit;
    handoff = handOver(named, { agent, files, limit: less });
    const shorter = redaction.text(handoff.text);
    if (shorter.length >= text.length) break;
    text = shorter;
  }
  const file = handoffFile(workspace, options.name ?? newStepId(), sessionKey(id, from.session ?? ""));
  writeFileAtomic(file, text, { sync: true });
  const words = (profile.start ?? []).map((word) => (word === "{prompt}" ? text : word));
  return { agent: profile.id, words, ...shownCommand(startCommand(profile, file)), file, text, cut: handoff.cut };
}

function withRelativeFiles(conversation: Conversation, roots: readonly string[]): Conversation {
  const named = (file: string) => {
    const root = isAbsolute(file) ? roots.find((each) => isInside(each, file) && each !== file) : undefined;
    return root === undefined ? file : relative(root, file);
  };
  const entries = conversation.entries.map((entry) => ({ ...entry, files: entry.files.map(named) }));
  return { ...conversation, entries };
}
