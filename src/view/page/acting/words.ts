/** The sentences of a plan and its receipt: the same as the command line prints. */

import type { PlanRequest, RestorePlan, RestorePlanAnswer } from "../../protocol.ts";
import { plural } from "../text/format.ts";
import { line } from "../text/visible.ts";
import type { Done } from "./action.ts";

/** "1 file to create, 2 files to delete" */
export function fileCounts({ write, create, delete: removed, chmod }: RestorePlan): string {
  const changed = write.length - create.length;
  const parts = [
    create.length > 0 ? `${plural(create.length, "file")} to create` : "",
    changed > 0 ? `${plural(changed, "file")} to write` : "",
    removed.length > 0 ? `${plural(removed.length, "file")} to delete` : "",
    chmod.length > 0 ? plural(chmod.length, "file mode change") : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "No file changes." : parts.join(", ");
}

export interface PlannedFile {
  path: string;
  sign: "+" | "~" | "−" | "m";
  change: "added" | "modified" | "deleted" | "mode";
  own: RestorePlan["yours"][number] | undefined;
}

/** The user's own files first, so that a long list never hides them. */
export function plannedFiles(plan: RestorePlan): PlannedFile[] {
  const created = new Set(plan.create);
  const yours = new Map(plan.yours.map((file) => [file.path, file]));
  const files: PlannedFile[] = [
    ...plan.write.map((path) => (created.has(path) ? entry(path, "+", "added") : entry(path, "~", "modified"))),
    ...plan.delete.map((path) => entry(path, "−", "deleted")),
    ...plan.chmod.map((path) => entry(path, "m", "mode")),
  ];
  const isYours = ({ own }: PlannedFile) => Number(own !== undefined);
  return files.sort((a, b) => isYours(b) - isYours(a) || (a.path < b.path ? -1 : 1));

  function entry(path: string, sign: PlannedFile["sign"], change: PlannedFile["change"]): PlannedFile {
    return { path, sign, change, own: yours.get(path) };
  }
}

export function turnsTitle(action: RestorePlanAnswer["action"], count: number): string {
  return action === "redo" ? `Brings back ${plural(count, "turn")}:` : `Takes back ${plural(count, "turn")}:`;
}

export function chatLine({ chat, action }: RestorePlanAnswer, tellsAgent: boolean): string {
  if (chat.kind === "fork") {
    const end = tellsAgent ? "with what was undone" : "there";
    return `a copy of the ${line(chat.agent, 40)} conversation that ends ${end}`;
  }
  if (chat.kind === "resume") {
    const conversation = `the ${line(chat.agent, 40)} conversation`;
    return action === "rewind" ? `${conversation}, which ends there already` : `${conversation} from before`;
  }
  // The option to tell the agent is below.
  return chat.reason === "undo-only" || chat.reason === "unchanged" ? "not changed" : line(chat.why, 400);
}

/** `merge`: the plan reverts single turns, so conflicts are about lines, not about files at target paths. */
export function conflictTitle({ action, plan }: RestorePlanAnswer): string {
  if (action === "rewind") return "In the way";
  return plan.conflicts.some(({ markers }) => !markers) ? "In conflict" : "In conflict, written with markers";
}

/** Explains the action to a new user; null if the title is enough. */
export function meaning(request: PlanRequest): string | null {
  switch (request.action) {
    case "rewind":
      if (request.side === "exact") return "Goes back to this moment. Every turn after it is undone.";
      return request.side === "before"
        ? "Goes back to the moment before this turn. This turn and every later one are undone."
        : "Goes back to the moment when this turn ended. Every later turn is undone.";
    case "undo":
      return request.turns.length === 1
        ? "Takes only the changes of this turn out of the files. What came later stays."
        : "Takes only the changes of these turns out of the files. What else came later stays.";
    case "fork":
      return "Makes a second work tree beside this one, as everything was when this turn ended. Nothing changes here.";
    default:
      return null;
  }
}

export function question(request: PlanRequest): { title: string; button: string } {
  switch (request.action) {
    case "rewind": {
      const side = { before: "before this turn", after: "after this turn", exact: "this moment" }[request.side];
      return { title: `Rewind to ${side}`, button: "Confirm rewind" };
    }
    case "undo":
      return {
        title: request.turns.length === 1 ? "Undo this turn" : `Undo ${request.turns.length} turns`,
        button: "Confirm undo",
      };
    case "redo":
      return { title: "Redo: take the last rewind or undo back", button: "Confirm redo" };
    case "fork":
      return { title: "Fork from here", button: "Confirm fork" };
    case "save":
      return { title: "Save the current state", button: "Confirm save" };
    case "resume":
      return { title: "Resume this conversation", button: "Close" };
    case "proposal":
      return { title: "Apply an agent's proposal", button: "Confirm and apply" };
  }
}

const DONE = { rewind: "Rewound", undo: "Undone", redo: "Redone" } as const;

/** "Rewound: 1 file written, 2 deleted." */
export function doneLine({ plan, answer }: Done): string {
  if (answer.result === "forked") return `Forked: ${line(answer.fork.name, 80)}.`;
  if (answer.result === "saved") return answer.name === null ? "Saved." : `Saved as "${line(answer.name, 80)}".`;
  const word =
    plan.action === "rewind" || plan.action === "undo" || plan.action === "redo" ? DONE[plan.action] : "Done";
  const { written, deleted } = answer.receipt;
  return `${word}: ${plural(written, "file")} written, ${deleted} deleted.`;
}
