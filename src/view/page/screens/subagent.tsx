/** The work of one subagent: its changes, and the way to undo only them. */
import { ask } from "../acting/action.ts";
import { type Route, to } from "../data/router.ts";
import { Diff } from "../diff/diff.tsx";
import { useApp } from "../shell/context.ts";

export function SubagentScreen({ place }: { place: Route }) {
  const [id = ""] = place.parts;
  const { readOnly } = useApp();
  return (
    <div class="screen">
      <p>
        <a href={to("turn", [id])}>← Its turn</a>
      </p>
      <h2>A subagent's work</h2>
      {!readOnly && (
        <div class="actions">
          <button type="button" onClick={() => ask({ action: "undo", turns: [id] })}>
            Undo this subagent's work
          </button>
        </div>
      )}
      <Diff comparison={{ turn: id }} />
    </div>
  );
}
