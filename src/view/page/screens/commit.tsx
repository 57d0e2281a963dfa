/** One commit: the conversations behind it, and its changes. */
import type { CommitDetails } from "../../protocol.ts";
import { type Route, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { Diff } from "../diff/diff.tsx";
import { Age, Agent } from "../parts/badges.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { plural } from "../text/format.ts";
import { line, visible } from "../text/visible.ts";

export function CommitScreen({ place }: { place: Route }) {
  const [id = ""] = place.parts;
  const { data, error, loading, reload } = useQuery("commit", { id }, ["timeline"]);
  return (
    <div class="screen">
      <p>
        <a href={to("commits")}>← Commits</a>
      </p>
      {loading && <Skeleton lines={8} label="Loading the commit" />}
      {error && <Problem error={error} retry={reload} />}
      {data && <Details data={data} />}
    </div>
  );
}

function Details({ data: { commit, sessions, problems } }: { data: CommitDetails }) {
  const [parent] = commit.parents;
  return (
    <>
      <h2>{line(commit.subject, 300)}</h2>
      <p class="facts">
        <span class="mono">{commit.id.slice(0, 12)}</span>
        <span>{line(commit.author, 80)}</span>
        <Age time={commit.time} />
      </p>
      {commit.body.trim() !== "" && <pre class="body">{visible(commit.body)}</pre>}
      {problems.map((problem) => (
        <p key={problem} class="notice">
          {visible(problem)}
        </p>
      ))}
      {sessions.length === 0 && <p class="muted">No recorded conversation led to this commit.</p>}
      {sessions.map((session) => (
        <div key={session.checkpoint + session.session} class="bubble">
          <p class="facts">
            <Agent id={session.agent} />
            <span>{plural(session.files, "file")}</span>
            <span class="mono muted">{session.checkpoint}</span>
            {session.here && <a href={to("session", [session.session])}>Show the conversation</a>}
          </p>
          <ol class="prompt-list">
            {session.prompts.map((prompt, i) => (
              <li key={i}>{line(prompt, 300)}</li>
            ))}
          </ol>
        </div>
      ))}
      {parent !== undefined && <Diff comparison={{ from: `commit:${parent}`, to: `commit:${commit.id}` }} />}
    </>
  );
}
