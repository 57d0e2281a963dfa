/** Does what the user picked for a hit, as the command of that name would. */
import { findWorkspace } from "../../../git/workspace.ts";
import type { FoundHit } from "../../../search/results/search.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { PickedHit } from "../../picker/search/state.ts";
import type { Io } from "../../terminal/io.ts";
import { stepBefore } from "../steps/show.ts";

export async function act({ action, hit }: PickedHit, io: Io): Promise<number | undefined> {
  // The hit may be in another repository.
  const there = hit.repository === null ? io : { ...io, cwd: hit.repository };
  switch (action) {
    case "show": {
      const { run } = await import("../steps/show.ts");
      return run({ target: hit.id }, there);
    }
    case "resume": {
      const { run } = await import("../fork/resume.ts");
      return run({ target: hit.session }, there);
    }
    case "rewind": {
      const { run } = await import("../restore/rewind.ts");
      return run({ target: beforeTurn(hit) }, there);
    }
    case "fork": {
      const { run } = await import("../fork/fork.ts");
      return run({ target: hit.id }, there);
    }
    default:
      copy(hit.id, io);
      io.print(hit.id);
      return undefined;
  }
}

/** As in the other pickers, a rewind goes to before the turn. */
function beforeTurn({ id, repository }: FoundHit): string {
  const workspace = repository === null ? undefined : findWorkspace(repository);
  const step = workspace && stepsIn(workspace).byId(id);
  return (step && stepBefore(workspace, step)?.id) ?? id;
}

/** Asks the terminal to put a text on the clipboard (OSC 52), which works over ssh too. Others ignore it. */
function copy(text: string, io: Io): void {
  if (io.err.isTerminal && !io.dumb) io.err.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
}
