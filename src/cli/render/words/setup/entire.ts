/** What `enable` and `doctor` say about the Entire CLI. */
import { plural } from "../../../../base/text.ts";
import type { EntireTraces } from "../../../../checkpoints/entire/traces.ts";
import { some } from "../words.ts";

const STILL_READ = "`backtrail explain` still reads its checkpoints.";

export function entireText({ isEnabled, hooks, checkpoints, left }: EntireTraces): readonly [string, string] {
  const stored = checkpoints > 0 ? ` It has ${plural(checkpoints, "checkpoint")} here.` : "";
  if (isEnabled)
    return [
      `Entire records here as well: its hooks are in ${some(hooks)}.${stored} Both work side by side.`,
      `To use Backtrail alone, run \`entire disable\`; ${STILL_READ}`,
    ];
  if (hooks.length > 0)
    return [
      `Entire is turned off here, but its hooks are still in ${some(hooks)}.${stored}`,
      `\`entire disable --uninstall\` removes them; ${STILL_READ}`,
    ];
  if (left.length > 0)
    return [
      `Entire was used here and left ${some(left)}. Its hooks are gone.${stored}`,
      "Backtrail reads its checkpoints and does not need the rest.",
    ];
  return [
    `${plural(checkpoints, "checkpoint")} in this repository ${checkpoints === 1 ? "is" : "are"} from Entire or another tool.`,
    "`backtrail explain` and `backtrail resume` read them.",
  ];
}
