/** Renders a step as JSON. The first thirteen fields are stable; `show` adds more. */
import type { Step } from "../../../model/step.ts";
import { costOf } from "./step.ts";

export function stepJson(step: Step) {
  return {
    id: step.id,
    session: step.session,
    agent: step.agent,
    kind: step.kind,
    turn: step.turn,
    time: step.time,
    prompt: step.prompt,
    name: step.name,
    parent: step.parent,
    files: step.files,
    hasTranscript: step.transcript !== null,
    head: step.head,
    branch: step.branch,
  };
}

export function wholeStepJson(step: Step) {
  return {
    ...stepJson(step),
    worktree: step.worktree,
    model: step.model,
    tokens: step.tokens,
    cost: costOf(step),
    response: step.response,
    toolUseId: step.toolUseId,
    command: step.command,
    subagent: step.subagent,
    transcript: step.transcript,
    interrupted: step.interrupted,
    notCaptured: step.snapshot.notCaptured,
  };
}
