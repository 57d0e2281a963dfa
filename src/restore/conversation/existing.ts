/** Finds conversations that already end at a rewind's target: the agent can continue them without a copy. */

import { existsSync } from "node:fs";
import type { Agent } from "../../agents/contract/agent.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import type { Workspace } from "../../git/workspace.ts";
import { shownCommand } from "../../model/command.ts";
import type { Step, TranscriptPosition } from "../../model/step.ts";
import { TURN_KINDS } from "../../model/turn.ts";
import { stepsIn } from "../../steps/log.ts";

import { readRange, withFile } from "../../transcripts/file-bytes.ts";
import { activeRestores } from "../apply/restore-log.ts";
import type { ChatPlan } from "../types.ts";
import { positionOf } from "./fork.ts";

/** If more than this follows the step, it is not searched: a copy is made instead. */
const MAX_READ = 4 * 1024 * 1024;

/** Undefined if the conversation continued after the step, or can't be read. */
export async function existingConversation(workspace: Workspace, step: Step): Promise<ChatPlan | undefined> {
  if (step.session === null || step.agent === null) return undefined;
  const agent = await getAgent(step.agent);
  const position = positionOf(workspace, step, agent);
  if (!agent?.forker || !position || position.offset === 0) return undefined;
  const copy = unusedCopy(workspace, step, position, agent);
  if (copy) return copy;
  if (wentOn(workspace, step) || !endsAt(agent, position)) return undefined;
  return continued(agent, step.session, position.path);
}

function continued(agent: Agent, session: string, transcript: string): ChatPlan | undefined {
  const command = agent.forker?.resumeCommand(session);
  return command && { kind: "resume", agent: agent.profile.id, session, transcript, ...shownCommand(command) };
}

/** The copy made by the last rewind, if it ends at the same position and is unused since. */
function unusedCopy(workspace: Workspace, step: Step, position: TranscriptPosition, agent: Agent) {
  const last = activeRestores(workspace).findLast(({ fork }) => fork !== null);
  if (!last?.fork?.transcript || !("step" in last.target) || last.fork.agent !== agent.profile.id) return undefined;
  const target = stepsIn(workspace).byId(last.target.step);
  if (target?.session !== step.session || target.agent !== step.agent) return undefined;
  const there = positionOf(workspace, target, agent);
  const isSame =
    there?.generation === position.generation &&
    there.offset === position.offset &&
    (!agent.forker?.branching || there.lastId === position.lastId);
  const { id, transcript } = last.fork;
  if (stepsIn(workspace).has({ session: id })) return undefined;
  return isSame && existsSync(transcript) ? continued(agent, id, transcript) : undefined;
}

/** True if the session has a later step that belongs to a turn. */
function wentOn(workspace: Workspace, { id, agent, session }: Step): boolean {
  const log = stepsIn(workspace);
  return log.has({ after: id, agent, session, kinds: TURN_KINDS }) || !log.has({ id });
}

/** True if the agent's transcript has no message after the position. */
function endsAt(agent: Agent, { path, offset }: TranscriptPosition): boolean {
  const rest = withFile(path, (fd, size) =>
    size < offset || size - offset > MAX_READ ? undefined : readRange(fd, offset, size),
  );
  if (!rest || !agent.analyzer) return false;
  return !agent.analyzer.read(rest).entries.some(({ type }) => type === "prompt" || type === "compaction");
}
