/** Finds inexact files ahead of the next hook, which then checks only files that changed since. */

import { readConversionConfig } from "../conversion/config-cache.ts";
import { ConversionRules, unseenAttributes } from "../conversion/conversion.ts";
import { privateIndex } from "../index/private-index.ts";
import { parseStatus } from "../snapshot/status.ts";
import { runStatus } from "../snapshot/status-run.ts";
import type { Workspace } from "../workspace.ts";
import { startFinding } from "./find.ts";
import { indexIdentity, loadInexact } from "./state.ts";

const TIMEOUT_MS = 120_000;

export async function refreshInexact(workspace: Workspace): Promise<void> {
  const index = privateIndex(workspace);
  const known = loadInexact(workspace)?.state;
  // There is no snapshot yet, or the last one converted nothing: the next snapshot checks by itself.
  if (!known || known.rules === "" || (known.index === indexIdentity(index.path) && !known.recheck)) return;
  const find = startFinding(workspace, index.path);
  const facts = await readConversionConfig(workspace);
  const { output, isUnfiltered } = await runStatus(workspace, index, facts, TIMEOUT_MS);
  const status = parseStatus(output);
  const rules = new ConversionRules(workspace, facts, unseenAttributes(status, facts.sparse));
  await find({ rules, facts, status, isUnfiltered, timeoutMs: TIMEOUT_MS });
}
