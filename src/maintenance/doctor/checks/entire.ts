/** The message of `enable` and `doctor` about the Entire CLI. */
import { plural } from "../../../base/text.ts";
import { type EntireTraces, findEntire } from "../../../checkpoints/entire/traces.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type Finding, some } from "../finding.ts";

/** Null if there is no trace of Entire. */
export function entireText(traces: EntireTraces): { message: string; hint: string } | null {
  const { isEnabled, hooks, checkpoints, left } = traces;
  const stored = checkpoints > 0 ? ` It has ${plural(checkpoints, "checkpoint")} here.` : "";
  if (isEnabled)
    return {
      message: `Entire records here as well: its hooks are in ${some(hooks)}.${stored} Both work side by side.`,
      hint: "To use Backtrail alone, run `entire disable`; `backtrail explain` still reads its checkpoints.",
    };
  if (hooks.length > 0)
    return {
      message: `Entire is turned off here, but its hooks are still in ${some(hooks)}.${stored}`,
      hint: "`entire disable --uninstall` removes them; `backtrail explain` still reads its checkpoints.",
    };
  if (left.length > 0)
    return {
      message: `Entire was used here and left ${some(left)}. Its hooks are gone.${stored}`,
      hint: "Backtrail reads its checkpoints and does not need the rest.",
    };
  if (checkpoints === 0) return null;
  return {
    message: `${plural(checkpoints, "checkpoint")} in this repository ${checkpoints === 1 ? "is" : "are"} from Entire or another tool.`,
    hint: "`backtrail explain` and `backtrail resume` read them.",
  };
}

export async function checkEntire(workspace: Workspace): Promise<Finding[]> {
  const text = entireText(await findEntire(workspace));
  return text ? [{ check: "entire", level: "ok", ...text, fixable: false }] : [];
}
