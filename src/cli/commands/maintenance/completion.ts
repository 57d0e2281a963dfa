/** `completion <shell>`: prints the shell's completion script. */

import { UserError } from "../../../base/errors.ts";
import { completionScript, SHELLS } from "../../completion/completion.ts";
import type { OptionsOf } from "../../program/spec.ts";
import type { Io } from "../../terminal/io.ts";
import type { completionCommand } from "./commands.ts";

export async function run(options: OptionsOf<typeof completionCommand>, io: Io): Promise<undefined> {
  const shell = SHELLS.find((known) => known === options.shell);
  if (!shell) {
    throw new UserError("usage", `There is no completion for "${options.shell}".`, `Give one of ${SHELLS.join(", ")}.`);
  }
  io.out.write(completionScript(shell));
}
