/**
 * Saves steps without an agent: in this process, or, as a program of its own, in one that may be killed
 * (`saving.ts <root> <session> <count>`, with `BACKTRAIL_FAULT` naming the point).
 */
import { newStepId, sessionKey } from "../../src/base/ids.ts";
import { startCapture } from "../../src/git/snapshot/snapshot.ts";
import { findWorkspace, type Workspace } from "../../src/git/workspace.ts";
import type { Step } from "../../src/model/step.ts";
import { type SaveRequest, saveStep, snapshotOf } from "../../src/steps/save.ts";
import { usualCapture } from "./captured.ts";
import { makeStep } from "./steps.ts";

export const AGENT = "test-agent";

export interface Saving {
  session: string;
  segments?: SaveRequest["segments"];
  alongside?: SaveRequest["alongside"];
  details?: Partial<Step>;
}

export function keyFor(session: string): string {
  return sessionKey(AGENT, session);
}

/** All of them at once, as one event does. */
export async function save(workspace: Workspace, savings: Saving[]): Promise<Step[]> {
  const capture = startCapture(workspace, usualCapture);
  try {
    const snapshot = await capture.finish();
    const requests = savings.map(({ session, segments = [], alongside = null, details = {} }): SaveRequest => {
      const step = makeStep({
        id: newStepId(),
        session,
        agent: AGENT,
        turn: 1,
        time: new Date().toISOString(),
        head: snapshot.head,
        branch: snapshot.branch,
        worktree: workspace.worktree,
        ...details,
        snapshot: snapshotOf(snapshot),
      });
      return { key: keyFor(session), step, segments, alongside };
    });
    await saveStep(workspace, capture, requests);
    return requests.map((request) => request.step);
  } finally {
    capture.close();
  }
}

if (import.meta.main) {
  const [root = "", sessions = "", count = "1"] = process.argv.slice(2);
  const workspace = findWorkspace(root);
  if (!workspace) throw new Error("There is no workspace.");
  for (let i = 0; i < Number(count); i++) {
    const savings = sessions.split(",").map((session): Saving => {
      const path = `${workspace.storeDir}/sessions/${keyFor(session)}.json`;
      return { session, alongside: { path, revision: i + 1, content: { revision: i + 1 } } };
    });
    for (const step of await save(workspace, savings)) console.log(step.id);
  }
}
