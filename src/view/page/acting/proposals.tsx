/** What agents propose to undo, on every screen, until a person applies or dismisses it. */
import { useState } from "preact/hooks";
import type { Proposal } from "../../protocol.ts";
import { command, RequestError } from "../data/client.ts";
import { to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Age, Agent } from "../parts/badges.tsx";
import { announce } from "../shell/announce.ts";
import { useApp } from "../shell/context.ts";
import { plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";
import { ask } from "./action.ts";

/** Proposals that are shown at once; more would push the screen away. */
const AT_ONCE = 3;
const MAX_REASON = 1_000;

export function Proposals() {
  const { readOnly } = useApp();
  const { data, reload } = useQuery("proposals", {}, ["proposals", "operations"]);
  const [shown, setShown] = useState(AT_ONCE);
  const open = data?.available ? data.proposals : [];
  if (open.length === 0) return null;
  return (
    <section class="proposals" aria-label="Proposals">
      {open.slice(0, shown).map((proposal) => (
        <Row key={proposal.id} proposal={proposal} readOnly={readOnly} reload={reload} />
      ))}
      {open.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(open.length)}>
          Show {plural(open.length - shown, "more proposal")}
        </button>
      )}
    </section>
  );
}

function Row({ proposal, readOnly, reload }: { proposal: Proposal; readOnly: boolean; reload(): void }) {
  const { id, agent, reason, time, turns } = proposal;
  const [problem, setProblem] = useState<string | null>(null);
  const dismiss = async () => {
    try {
      await command("dismiss", { proposal: id });
      announce("Dismissed. Nothing was changed.");
    } catch (failure) {
      setProblem(failure instanceof RequestError ? failure.message : String(failure));
    }
    reload();
  };
  const [first] = turns;
  return (
    <article class="proposal" aria-label={`Proposal ${id}`}>
      <div class="proposal-text">
        <p class="facts">
          {agent === null ? <span>An agent</span> : <Agent id={agent} />}
          <b>{wanted(proposal)}</b>
          {first && (
            <a href={to("turn", [first.id])}>
              {first.prompt === null ? `turn ${first.number}` : line(first.prompt, 100)}
            </a>
          )}
          <Age time={time} />
        </p>
        <blockquote>{visible(reason.slice(0, MAX_REASON))}</blockquote>
        {problem !== null && (
          <p class="blocked" role="alert">
            {visible(problem)}
          </p>
        )}
      </div>
      {!readOnly && (
        <div class="actions">
          <button type="button" class="primary" onClick={() => ask({ action: "proposal", proposal: id })}>
            Apply …
          </button>
          <button type="button" onClick={() => void dismiss()}>
            Dismiss
          </button>
        </div>
      )}
    </article>
  );
}

function wanted({ action, turns }: Proposal): string {
  const count = plural(turns.length, "turn");
  if (action === "undo") return `proposes to undo ${turns.length === 1 ? "a turn" : count}:`;
  return turns.length === 0 ? "proposes to rewind" : `proposes to rewind ${count}, to before:`;
}
