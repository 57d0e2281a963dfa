/** Sessions and runs as rows of a tree. */
import { listSessions } from "../../../../api/sessions.ts";
import { UserError } from "../../../../base/errors.ts";
import { shorten } from "../../../../base/text.ts";
import { inOrder, type SessionNode } from "../../../../run/sessions/model.ts";
import type { SessionRow } from "../../../protocol.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Redaction } from "../../repository/redaction.ts";
import type { Context } from "../../routes.ts";

const PROMPT_LENGTH = 500;

export async function sessions({ repository }: Context): Promise<{ sessions: SessionRow[] }> {
  const redaction = await repository.redaction(false);
  return { sessions: (await listSessions(repository.workspace)).map((node) => sessionRow(node, redaction)) };
}

/** Sessions that have a log, with everything that they started. */
export async function runs({ repository }: Context): Promise<{ runs: SessionRow[] }> {
  const redaction = await repository.redaction(false);
  const nodes = await listSessions(repository.workspace);
  const found = nodes.filter((node) => inOrder([node]).some(({ log }) => log !== null));
  return { runs: found.map((node) => sessionRow(node, redaction)) };
}

/** By the whole id only. */
export async function requireNode({ workspace }: OpenRepository, id: string): Promise<SessionNode> {
  const node = inOrder(await listSessions(workspace)).find((one) => one.id === id);
  if (node) return node;
  throw new UserError("not-found", "This session is not known here.");
}

export function sessionRow(node: SessionNode, redaction: Redaction): SessionRow {
  const { prompt, log, tasks, children, ...row } = node;
  return {
    ...row,
    prompt: shorten(redaction.text(prompt), PROMPT_LENGTH),
    log: log !== null,
    subagents: tasks.map(({ turn: number, description, ...task }) => ({
      ...task,
      number,
      description: description === null ? null : redaction.text(description),
    })),
    children: children.map((child) => sessionRow(child, redaction)),
  };
}
