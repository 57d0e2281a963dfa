/** `proposals`: lists agents' proposals that are still open. */
import { listProposals } from "../../../api/proposals.ts";
import { now } from "../../../base/clock.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { proposalLines } from "../../render/proposal.ts";
import { openForReading } from "../../shared/workspace.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { proposalsListCommand } from "./commands.ts";

type Options = OptionsOf<typeof proposalsListCommand>;

export async function run({ all = false, json }: Options, io: Io): Promise<number | undefined> {
  const workspace = await openForReading(io);
  const proposals = listProposals(workspace, { all });
  if (json) {
    io.json({ proposals });
    return undefined;
  }
  if (proposals.length === 0) {
    io.say(all ? "There are no proposals here." : "There are no open proposals.");
    return EXIT.nothing;
  }
  const blocks = proposals.map((proposal) => proposalLines(proposal, io.out, now()).join("\n"));
  io.print(blocks.join("\n\n"));
  return undefined;
}
