/** Files in time: a slider over every recorded state, and the tree and any file as they were. Nothing is written. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../acting/action.ts";
import { type Route, replace, to } from "../data/router.ts";
import { useQuery } from "../data/use-query.ts";
import { SIGNS } from "../diff/file-block.tsx";
import { LineSum } from "../diff/line-sum.tsx";
import { Age, Agent } from "../parts/badges.tsx";
import { useKept } from "../parts/kept.ts";
import { Empty, Problem, Skeleton } from "../parts/states.tsx";
import { useApp } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { moment as exactly, plural } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { FileThen } from "./time/file.tsx";
import { NOW, type Stop, titleOf } from "./time/stops.ts";
import { TreeThen } from "./time/tree.tsx";

/** Milliseconds that each state stays while a history plays. */
const PLAY = 1_000;
/** Changed files of a turn that are listed. */
const CHANGED_FILES = 100;

export function TimeScreen({ place }: { place: Route }) {
  const path = place.query["path"] ?? "";
  const step = place.query["step"];
  const { data, error, loading, reload } = useQuery("moments", {}, ["timeline"]);
  const { data: ofFile } = useQuery("moments", path === "" ? null : { path }, ["timeline"]);
  if (loading) return <Skeleton lines={10} label="Loading the history" />;
  if (error) return <Problem error={error} retry={reload} />;
  const changes = new Map(ofFile?.moments.map(({ step: changed, change }) => [changed, change]));
  const recorded = (data?.moments ?? []).map((one): Stop => {
    const change = changes.get(one.step);
    return change === undefined ? one : { ...one, change };
  });
  if (recorded.length === 0)
    return (
      <Empty title="Nothing is recorded yet">
        <p>Every turn of an agent adds a state that you can look at here.</p>
      </Empty>
    );
  return <Slider moments={[...recorded, NOW]} path={path} step={step} more={data?.more ?? false} />;
}

interface Props {
  moments: readonly Stop[];
  path: string;
  step: string | undefined;
  more: boolean;
}

function Slider({ moments, path, step, more }: Props) {
  const { readOnly } = useApp();
  const found = step === undefined ? -1 : moments.findIndex((one) => one.step === step);
  const index = found < 0 ? moments.length - 1 : found;
  const current = moments[index] as Stop;
  const go = (next: number) => {
    const target = moments[Math.max(0, Math.min(moments.length - 1, next))];
    if (target) replace(to("time", [], { step: target.step, path }));
  };
  const { playing, setPlaying } = usePlaying(moments, index, path, go);
  useKeys({ j: () => go(index - 1), k: () => go(index + 1), g: () => go(moments.length - 1), G: () => go(0) });
  return (
    <div class="time">
      <section class="time-bar" aria-label="Moment">
        <div class="time-slider">
          <button type="button" aria-label="Earlier" disabled={index === 0} onClick={() => go(index - 1)}>
            ←
          </button>
          <div class="track">
            <input
              type="range"
              aria-label="Time"
              min={0}
              max={moments.length - 1}
              step={1}
              value={index}
              aria-valuetext={
                current.kind === "now" ? titleOf(current) : `${titleOf(current)}, ${exactly(current.time)}`
              }
              onInput={(event) => go(Number(event.currentTarget.value))}
            />
            <Ticks moments={moments} path={path} />
          </div>
          <button
            type="button"
            aria-label="Later"
            disabled={index === moments.length - 1}
            onClick={() => go(index + 1)}
          >
            →
          </button>
          <button type="button" aria-pressed={playing} onClick={() => setPlaying(!playing)}>
            {playing ? "Stop" : path === "" ? "Play" : "Play this file"}
          </button>
        </div>
        <p class="facts">
          <b class="moment-title">{titleOf(current)}</b>
          {current.agent !== null && <Agent id={current.agent} />}
          {current.kind !== "now" && <Age time={current.time} />}
          <span>
            stop {index + 1} of {moments.length}
            {more ? " (older states are not listed)" : ""}
          </span>
          {!current.current && <span class="tag fate-undone">left behind by a rewind</span>}
          {current.kind === "turn-end" && <a href={to("turn", [current.step])}>Show the turn</a>}
          <span class="grow" />
          {!readOnly && current.kind !== "now" && (
            <button type="button" onClick={() => ask({ action: "rewind", target: current.step, side: "exact" })}>
              Rewind to this moment
            </button>
          )}
        </p>
      </section>
      <div class="time-panes">
        <nav class="pane tree" aria-label="Files at this moment">
          <TreeThen step={current.step} open={path} />
        </nav>
        <section class="pane file-then" aria-label="File at this moment">
          {path === "" ? <ChangedThen moment={current} /> : <FileThen moment={current} path={path} />}
        </section>
      </div>
    </div>
  );
}

/** Without a file to show: the files that this turn changed, to choose from. */
function ChangedThen({ moment: { step, kind } }: { moment: Stop }) {
  const { data } = useQuery("changes", kind === "turn-end" ? { turn: step } : null);
  const changed = useKept(data, kind !== "turn-end");
  if (!changed || changed.files.length === 0) return <p class="empty-line">Choose a file to see it as it was.</p>;
  const [shown, more] = [changed.files.slice(0, CHANGED_FILES), changed.files.length - CHANGED_FILES];
  return (
    <>
      <h2 class="changed-then">Changed by this turn</h2>
      <ul class="file-index">
        {shown.map(({ path, status, lines }) => (
          <li key={path}>
            <a class="changed-file" href={to("time", [], { step, path })}>
              <span class={`sign ${status}`} aria-hidden="true">
                {SIGNS[status]}
              </span>
              <bdi class="path">{visible(path)}</bdi>
              <span class="grow" />
              {lines && <LineSum {...lines} />}
            </a>
          </li>
        ))}
        {more > 0 && <li class="empty-line">… and {plural(more, "more file")}</li>}
      </ul>
    </>
  );
}

/** Marks the states in which something happened: of the open file, or the ends of turns. */
function Ticks({ moments, path }: { moments: readonly Stop[]; path: string }) {
  const marked = useMemo(
    () =>
      moments.flatMap((one, i) =>
        (path === "" ? one.kind === "turn-end" : one.change !== undefined) ? [[one, i]] : [],
      ),
    [moments, path],
  ) as [Stop, number][];
  const last = Math.max(1, moments.length - 1);
  return (
    <svg class="ticks" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
      {marked.slice(-2000).map(([one, i]) => (
        <rect
          key={one.step}
          class={one.change ?? ""}
          x={(i / last) * 997}
          y={one.current ? 0 : 4}
          width={3}
          height={one.current ? 8 : 4}
        />
      ))}
    </svg>
  );
}

/** Moves on once a second: through the states that changed the open file, or through the ends of turns. */
function usePlaying(moments: readonly Stop[], index: number, path: string, go: (index: number) => void) {
  const [playing, setPlaying] = useState(false);
  const next = (from: number) =>
    moments.findIndex((one, i) => i > from && (path === "" ? one.kind === "turn-end" : one.change !== undefined));
  const state = useRef({ index, next, go });
  state.current = { index, next, go };
  useEffect(() => {
    if (!playing) return;
    const { current: now } = state;
    if (now.next(now.index) < 0) now.go(Math.max(0, now.next(-1)));
    const timer = setInterval(() => {
      const target = state.current.next(state.current.index);
      if (target < 0) setPlaying(false);
      else state.current.go(target);
    }, PLAY);
    return () => clearInterval(timer);
  }, [playing]);
  return { playing, setPlaying };
}
