/** The changed files of a turn or between two states. Each file loads when it comes into view. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Comparison } from "../../protocol.ts";
import { recall, remember } from "../data/choices.ts";
import { useQuery } from "../data/use-query.ts";
import { Problem, Skeleton } from "../parts/states.tsx";
import { plural } from "../text/format.ts";
import { FileBlock } from "./file-block.tsx";
import { FileIndex } from "./file-index.tsx";
import { LineSum } from "./line-sum.tsx";

/** Files that are drawn at once; the rest is one click away. */
const AT_ONCE = 100;
/** The first files load at once, wherever the diff begins. */
const EAGER = 3;
const SPLIT_KEY = "backtrail.split";

interface Props {
  comparison: Comparison;
  /** The two sides, for the summary. */
  title?: string;
  /** The region's name, where there is more than one. */
  label?: string;
  /** Asks again when something changes: for a comparison with the current files. */
  live?: boolean;
  reveal?: boolean;
  /** Shown in the heading. */
  children?: ComponentChildren;
}

export function Diff({ comparison, title = "Changes", label = "Diff", live = false, reveal = false, children }: Props) {
  const { data, error, loading, reload } = useQuery(
    "changes",
    comparison,
    live ? ["timeline", "sessions", "worktree"] : [],
  );
  const [split, setSplit] = useSplit();
  const [shown, setShown] = useState(AT_ONCE);
  const [filter, setFilter] = useState("");
  const files = useMemo(
    () => (data?.files ?? []).filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase())),
    [data, filter],
  );
  return (
    <section aria-label={label} class="diff">
      <header class="diff-head">
        <h3>{title}</h3>
        {data && (
          <span class="muted">
            {plural(data.files.length, "file")} <LineSum added={data.lines.added} deleted={data.lines.deleted} />
          </span>
        )}
        <span class="grow" />
        {data && data.files.length > 8 && (
          <input
            class="filter"
            type="text"
            aria-label="Filter files"
            placeholder="Filter files"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        )}
        {children}
        <div class="segmented only-wide" role="group" aria-label="Layout of the diff">
          <button type="button" aria-pressed={!split} onClick={() => setSplit(false)}>
            Unified
          </button>
          <button type="button" aria-pressed={split} onClick={() => setSplit(true)}>
            Side by side
          </button>
        </div>
      </header>
      {loading && <Skeleton lines={6} label="Loading the diff" />}
      {error && <Problem error={error} retry={reload} />}
      {data?.files.length === 0 && <p class="empty-line">{live ? "No file changes so far." : "No file changes."}</p>}
      {data && data.files.length > 1 && <FileIndex files={files} shown={shown} />}
      {files.slice(0, shown).map((file, i) => (
        <FileBlock
          key={file.path}
          file={file}
          comparison={comparison}
          split={split}
          reveal={reveal}
          eager={i < EAGER}
          open={files.length <= AT_ONCE || filter !== ""}
        />
      ))}
      {files.length > shown && (
        <button type="button" class="wide" onClick={() => setShown(shown + AT_ONCE)}>
          Show {Math.min(AT_ONCE, files.length - shown)} more of {plural(files.length, "file")}
        </button>
      )}
    </section>
  );
}

/** The layout is remembered; a narrow window is always unified. */
function useSplit(): [boolean, (value: boolean) => void] {
  const [wanted, setWanted] = useState(() => recall(SPLIT_KEY) === "1");
  const [wide, setWide] = useState(() => matchMedia("(min-width: 900px)").matches);
  useEffect(() => {
    const media = matchMedia("(min-width: 900px)");
    const update = () => setWide(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  const set = (value: boolean) => {
    remember(SPLIT_KEY, value ? "1" : "0");
    setWanted(value);
  };
  return [wanted && wide, set];
}
