/** Counts added and deleted lines between pairs of trees, with one git process for all pairs. */
import { gitIn } from "../../../git/git.ts";
import { readingEnvironment } from "../../../git/private/store.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { LineCounts } from "../../protocol.ts";

export interface TreePair {
  /** Null: the pair is not counted. */
  before: string | null;
  after: string;
}

const TREE = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** In the order of `pairs`; null where a state is not known. */
export async function countLines(workspace: Workspace, pairs: readonly TreePair[]): Promise<(LineCounts | null)[]> {
  const asked = pairs.filter(isCountable);
  const counts = asked.length === 0 ? new Map<string, LineCounts>() : await numstat(workspace, asked);
  return pairs.map((pair) => {
    if (!isCountable(pair)) return null;
    return pair.before === pair.after ? { added: 0, deleted: 0 } : (counts.get(keyOf(pair)) ?? null);
  });
}

function isCountable(pair: TreePair): pair is { before: string; after: string } {
  return pair.before !== null && TREE.test(pair.before) && TREE.test(pair.after);
}

function keyOf({ before, after }: TreePair): string {
  return `${before} ${after}`;
}

/** `diff-tree --stdin` prints each pair on a separate line before the counts of its files. */
async function numstat(workspace: Workspace, pairs: readonly TreePair[]): Promise<Map<string, LineCounts>> {
  const options = ["diff-tree", "--stdin", "-r", "--numstat", "--no-ext-diff", "--no-textconv", "--find-renames"];
  const keys = [...new Set(pairs.filter(({ before, after }) => before !== after).map(keyOf))];
  const input = `${keys.join("\n")}\n`;
  if (keys.length === 0) return new Map();
  const output = await gitIn(workspace).run(options, { input, env: readingEnvironment(workspace) });
  const counts = new Map<string, LineCounts>();
  let current: LineCounts | undefined;
  for (const line of output.toString("latin1").split("\n")) {
    if (/^[0-9a-f]{40,64} [0-9a-f]{40,64}$/.test(line)) {
      current = { added: 0, deleted: 0 };
      counts.set(line, current);
      continue;
    }
    const match = /^(\d+)\t(\d+)\t/.exec(line);
    if (!match || !current) continue;
    current.added += Number(match[1]);
    current.deleted += Number(match[2]);
  }
  return counts;
}
