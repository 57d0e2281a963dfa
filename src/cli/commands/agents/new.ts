/** `agents new <id>`: the beginning of a profile for an agent of the user's own. */
import { scaffoldAgent } from "../../../agents/scaffold.ts";
import type { Io } from "../../io.ts";
import { placeOf } from "../../render/place.ts";

export async function run(options: { id: string; json?: boolean }, io: Io): Promise<undefined> {
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
