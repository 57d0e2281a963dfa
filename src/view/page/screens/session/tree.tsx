/** Sessions or runs as a tree of rows. */
import { useState } from "preact/hooks";
import type { SessionRow } from "../../../protocol.ts";
import { NO_PROMPT } from "../../data/hub.ts";
import { to } from "../../data/router.ts";
import { Age, Agent, CostSum, TokenSum } from "../../parts/badges.tsx";
import { plural } from "../../text/format.ts";
import { line } from "../../text/visible.ts";

const AT_ONCE = 200;

interface Props {
  sessions: readonly SessionRow[];
  target: "session" | "run";
}

export function SessionTree({ sessions, target }: Props) {
  const [shown, setShown] = useState(AT_ONCE);
  return (
    <>
      <ul class="rows" aria-label={target === "run" ? "Runs" : "Sessions"}>
        {sessions.slice(0, shown).map((session) => (
          <Node key={session.id} session={session} target={target} />
        ))}
      </ul>
      {sessions.length > shown && (
        <button type="button" class="wide" onClick={() => setShown(shown + AT_ONCE)}>
          Show more of {sessions.length}
        </button>
      )}
    </>
  );
}

function Node({ session, target }: { session: SessionRow; target: Props["target"] }) {
  const { status } = session;
  return (
    <li>
      <a class="row" href={to(target, [session.id])}>
        <span class={`status ${status}`} role="img" aria-label={status} title={status} />
        <span class="row-main">
          <span class="prompt">{line(session.prompt, 300) || NO_PROMPT}</span>
          <span class="second">
            <Agent id={session.agent} />
            <Age time={session.updatedAt} />
            <span>{plural(session.turns, "turn")}</span>
            {status !== "completed" && <span class={`tag ${status}`}>{status}</span>}
            {session.imported && <span class="tag">imported</span>}
            {session.tags.map((tag) => (
              <span key={tag} class="tag">
                {line(tag, 30)}
              </span>
            ))}
            <CostSum cost={session.cost} />
            <TokenSum tokens={session.tokens} />
            {session.subagents.length > 0 && <span>{plural(session.subagents.length, "subagent")}</span>}
          </span>
        </span>
      </a>
      {session.children.length > 0 && (
        <ul>
          {session.children.map((child) => (
            <Node key={child.id} session={child} target={target} />
          ))}
        </ul>
      )}
    </li>
  );
}
