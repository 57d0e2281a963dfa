/** Steps for tests of what is printed. */
import type { Step } from "../../src/model/step.ts";

export function makeStep(parts: Partial<Step>): Step {
  return {
    v: 1,
    id: "zzzzzzzzzzzz",
    session: "11111111-2222-4333-8444-555555555555",
    agent: "claude-code",
    kind: "turn-end",
    turn: 1,
    time: "2026-01-05T09:00:00.000Z",
    prompt: null,
    name: null,
    parent: null,
    files: { added: [], modified: [], deleted: [] },
    head: null,
    branch: "main",
    worktree: "main",
    model: null,
    tokens: null,
    response: null,
    toolUseId: null,
    command: null,
    subagent: null,
    transcript: null,
    interrupted: false,
    snapshot: { work: "", index: "", raw: null, unmerged: [], intentToAdd: [], notCaptured: [] },
    ...parts,
  };
}
