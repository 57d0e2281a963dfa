/** `proposals dismiss`: closes a proposal without applying it. */
import { dismissProposal } from "../../../api/proposals.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import type { proposalsDismissCommand } from "./commands.ts";

type Options = OptionsOf<typeof proposalsDismissCommand>;

export async function run({ proposal: id, json }: Options, io: Io): Promise<undefined> {
  const proposal = dismissProposal(await openWorkspace(io), id);
  if (json) io.json({ proposal });
  else io.print(`Dismissed ${proposal.id}. Nothing was changed.`);
}
