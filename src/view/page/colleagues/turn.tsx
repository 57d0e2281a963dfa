/** One turn of a colleague, as far as it is shared: who, the prompt, names of files, the conversation. */
import type { TeamTurn } from "../../protocol.ts";
import { NO_PROMPT } from "../data/hub.ts";
import { to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { CostSum, FateTag, Files, TokenSum } from "../parts/badges.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Entries } from "../screens/session/entries.tsx";
import { line } from "../text/visible.ts";
import { TurnFacts, TurnFrame } from "../turn/frame.tsx";

/** `alone`: the list is not beside it, so there must be a way back. */
export function TeamTurnDetail({ id, alone = false }: { id: string; alone?: boolean }) {
  const asked = useQuery("teamTurn", { id }, ["timeline"]);
  return (
    <TurnFrame id={id} alone={alone} asked={asked}>
      {(data) => <Details data={data} />}
    </TurnFrame>
  );
}

function Details({ data }: { data: TeamTurn }) {
  const { turn, prompt, entries } = data;
  return (
    <div class="turn-story">
      <header class="turn-head">
        <h2 tabIndex={-1}>{turn.prompt === null ? NO_PROMPT : line(turn.prompt, 240)}</h2>
        <Facts data={data} />
      </header>
      {prompt !== null && (
        <section class="bubble prompt-text" aria-label="Prompt">
          <Markdown text={prompt} />
        </section>
      )}
      <ChangedFiles data={data} />
      {entries === null ? (
        <p class="notice">{prompt === null ? "Only counts" : "Only prompts and names of files"} are shared with you.</p>
      ) : (
        <section aria-label="Conversation">
          <Entries entries={entries} session={turn.session} turns={[]} />
        </section>
      )}
    </div>
  );
}

function Facts({ data: { turn, repository, checkpoints, previous, next } }: { data: TeamTurn }) {
  return (
    <p class="facts">
      <b>{line(turn.person ?? "somebody", 100)}</b>
      <span class="mono">{line(repository, 200)}</span>
      <TurnFacts turn={turn} />
      <FateTag fate={turn.fate} />
      <TokenSum tokens={turn.tokens} />
      <CostSum cost={turn.cost} />
      {checkpoints.map((id) => (
        <span key={id} class="mono muted" title="The checkpoint that holds this turn">
          {id}
        </span>
      ))}
      <span class="grow" />
      <span class="neighbors">
        {previous !== null && <a href={to("turn", [previous])}>← older</a>}
        {next !== null && <a href={to("turn", [next])}>newer →</a>}
      </span>
    </p>
  );
}

function ChangedFiles({ data: { turn, paths } }: { data: TeamTurn }) {
  if (paths === null)
    return (
      <p class="muted">
        <Files files={turn.files} />
      </p>
    );
  if (paths.length === 0) return null;
  return (
    <section aria-label="Files">
      <h3>Files</h3>
      <ul class="names">
        {paths.map((path) => (
          <li key={path} class="mono">
            {line(path, 300)}
          </li>
        ))}
      </ul>
    </section>
  );
}
