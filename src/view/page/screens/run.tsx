/** The log of one run, live while it runs. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RunMoment } from "../../protocol.ts";
import { query, RequestError } from "../data/client.ts";
import { onChange } from "../data/live.ts";
import { type Route, to } from "../data/router.ts";
import { Markdown } from "../parts/markdown.tsx";
import { Problem, Skeleton } from "../parts/states.tsx";
import { line, visible } from "../text/visible.ts";

export function RunScreen({ place }: { place: Route }) {
  const [id = ""] = place.parts;
  const { moments, running, error, loading } = useLog(id);
  const end = useRef<HTMLDivElement>(null);
  const [follow, setFollow] = useState(true);
  useEffect(() => {
    if (follow && running) end.current?.scrollIntoView({ block: "end" });
  }, [moments.length, follow, running]);
  const prompt = moments.find(({ kind }) => kind === "prompt")?.text ?? "";
  return (
    <div class="screen run">
      <p>
        <a href={to("runs")}>← Runs</a>
      </p>
      <h2>{prompt === "" ? "Run" : line(prompt, 200)}</h2>
      <p class="facts run-facts">
        <span class={running ? "tag running" : "tag"}>{running ? "running" : "ended"}</span>
        <span class="mono">{line(id, 40)}</span>
        <a href={to("session", [id])}>conversation</a>
        <span class="grow" />
        {running && (
          <label class="reveal">
            <input type="checkbox" checked={follow} onChange={(event) => setFollow(event.currentTarget.checked)} />
            Follow
          </label>
        )}
      </p>
      {loading && <Skeleton lines={8} label="Loading the log" />}
      {error && <Problem error={error} />}
      <div class="run-log" role="log" aria-label="Log" aria-live="off">
        {moments.map((moment, i) => (
          <Line key={i} moment={moment} />
        ))}
      </div>
      <div ref={end} />
    </div>
  );
}

function Line({ moment: { kind, name, text } }: { moment: RunMoment }) {
  if (kind === "prompt" || kind === "answer")
    return (
      <section class={`bubble ${kind}-text`} aria-label={kind === "prompt" ? "Prompt" : "Answer"}>
        <Markdown text={text} />
      </section>
    );
  return (
    <div class={`run-line ${kind}`}>
      <span class="tool">{name === null ? kind : line(name, 40)}</span>
      <span class="mono">{visible(text).slice(0, 4_000)}</span>
    </div>
  );
}

/** Reads on where it stopped whenever the server says that a run wrote something. */
function useLog(id: string) {
  const [state, setState] = useState<{
    moments: RunMoment[];
    running: boolean;
    loading: boolean;
    error?: RequestError;
  }>({
    moments: [],
    running: false,
    loading: true,
  });
  const offset = useRef(0);
  const busy = useRef(false);
  const again = useRef(false);
  const read = useCallback(async () => {
    again.current = true;
    if (busy.current) return;
    busy.current = true;
    try {
      while (again.current) {
        again.current = false;
        const log = await query("runLog", { id, offset: String(offset.current) });
        offset.current = log.next;
        again.current ||= log.more;
        setState((old) => ({ moments: [...old.moments, ...log.moments], running: log.running, loading: false }));
      }
    } catch (failure) {
      const error = failure instanceof RequestError ? failure : new RequestError("failed", String(failure), null);
      setState((old) => (error.kind === "offline" ? old : { ...old, loading: false, error }));
    } finally {
      busy.current = false;
    }
  }, [id]);
  useEffect(() => {
    void read();
    return onChange((topics) => {
      if (topics.includes("runs") || topics.includes("sessions")) void read();
    });
  }, [read]);
  return state;
}
