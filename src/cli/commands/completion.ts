/** `completion <shell>`: the script by which a shell completes our commands. */
import { UserError } from "../../base/errors.ts";
import { completionScript, SHELLS } from "../completion.ts";
import type { Io } from "../io.ts";

export async function run(options: { shell: string }, io: Io): Promise<undefined> {
  const shell = SHELLS.find((known) => known === options.shell);
  if (!shell) {
    throw new UserError("usage", `There is no completion for "${options.shell}".`, `Give one of ${SHELLS.join(", ")}.`);
  }
  io.out.write(completionScript(shell));
}
