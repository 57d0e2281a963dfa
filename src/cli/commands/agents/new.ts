/** `agents new <id>`: creates a profile skeleton for the user's own agent. */

import { scaffoldAgent } from "../../../agents/authoring/scaffold.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsNewCommand } from "./commands.ts";

export async function run(options: OptionsOf<typeof agentsNewCommand>, io: Io): Promise<undefined> {
  const made = scaffoldAgent(options.id);
  if (options.json) {
    io.json(made);
    return;
  }
  for (const file of made.files) io.print(placeOf(file, null));
  io.say(`Now put what ${options.id} really sends into ${placeOf(made.payloads, null)}, one file a payload,`);
  io.say(`change the profile until \`backtrail agents check ${options.id}\` proves it,`);
  io.say(`and connect it with \`backtrail enable --agent ${options.id}\`.`);
}
