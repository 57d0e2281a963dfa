/** Finds sessions by what their records shorten: whole prompts and answers are in the search index. */
import { existsSync } from "node:fs";
import type { Workspace } from "../../../git/workspace.ts";
import { sessionRefKey } from "../../../model/session.ts";
import { inOrder, type SessionNode } from "../../../run/sessions/model.ts";
import type { Hit } from "../../../run/sessions/search.ts";
import { indexPath } from "../../../search/index/open.ts";
import { sessionsSaying } from "../../../search/results/sessions.ts";
import { openSearch } from "../../../search/search.ts";

/** Adds sessions to `found`. Without an index there is nothing to add: the first search makes it. */
export async function addIndexedHits(
  workspace: Workspace | undefined,
  nodes: readonly SessionNode[],
  text: string,
  found: Map<SessionNode, Hit>,
): Promise<void> {
  const left = inOrder(nodes).filter((node) => (node.recorded || node.imported) && !found.has(node));
  if (!workspace || left.length === 0 || !existsSync(indexPath())) return;
  const opened = await openSearch();
  try {
    if (opened.isFirst) return;
    await opened.catchUp({ workspace });
    const sayings = sessionsSaying(opened.index, workspace.root, text);
    for (const node of left) {
      const saying = sayings.get(sessionRefKey({ agent: node.agent, session: node.id }));
      if (saying) found.set(node, { where: saying.field === "prompt" ? "prompt" : "result", excerpt: saying.snippet });
    }
  } finally {
    opened.close();
  }
}
