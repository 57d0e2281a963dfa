/** Asks the team's hub for the turns behind checkpoints that are not on this machine. */
import { messageOf } from "../../../base/errors.ts";
import { log } from "../../../base/log.ts";
import { readMembership } from "../../../team/membership.ts";
import type { VisibleTurn } from "../../../team/protocol.ts";
import { hubOf } from "../../shared/team.ts";

const MAX_ASKED = 20;

/** Empty without a team. A hub that cannot be reached is no error: these commands work without one. */
export async function teamTurns(checkpoints: readonly string[]): Promise<VisibleTurn[]> {
  try {
    const membership = checkpoints.length > 0 ? readMembership() : undefined;
    if (!membership) return [];
    const hub = hubOf(membership);
    const found: VisibleTurn[] = [];
    for (const id of checkpoints.slice(0, MAX_ASKED)) found.push(...(await hub.checkpoint(id)).items);
    return found;
  } catch (error) {
    log("warn", "team", messageOf(error));
    return [];
  }
}
