/** One file of a diff: its header, and its lines once it comes into view. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ChangedFile, Comparison, FileDiff, Hunk, Image } from "../../protocol.ts";
import { query, RequestError } from "../data/client.ts";
import { to } from "../data/router.ts";
import { Problem, Skeleton } from "../parts/states.tsx";
import { useHas } from "../shell/context.ts";
import { size } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { LineSum } from "./line-sum.tsx";
import { Lines } from "./lines.tsx";

export const SIGNS = { added: "+", modified: "~", deleted: "−", renamed: "→", mode: "m" } as const;
const STATUS = {
  added: "added",
  modified: "changed",
  deleted: "deleted",
  renamed: "renamed",
  mode: "mode changed",
} as const;

/** The images that are shown. */
const IMAGE = /\.(png|jpe?g|gif|webp)$/i;

interface Props {
  file: ChangedFile;
  comparison: Comparison;
  split: boolean;
  reveal: boolean;
  open: boolean;
  /** Loads at once, not only when it comes into view. */
  eager: boolean;
}

export function FileBlock({ file, comparison, split, reveal, open: initially, eager }: Props) {
  const [open, setOpen] = useState(initially);
  useEffect(() => setOpen(initially), [initially]);
  const path = visible(file.path);
  const has = useHas();
  return (
    <article class="file" id={anchorOf(file.path)} aria-label={path}>
      <header>
        <button
          type="button"
          class="fold"
          aria-expanded={open}
          aria-label={`${path}, ${STATUS[file.status]}`}
          onClick={() => setOpen(!open)}
        >
          <span class="chevron" aria-hidden="true" />
          <span class={`sign ${file.status}`} aria-hidden="true">
            {SIGNS[file.status]}
          </span>
          <span class="path">
            {file.oldPath !== null && <bdi class="muted">{visible(file.oldPath)} → </bdi>}
            <bdi>{path}</bdi>
          </span>
        </button>
        {file.oldMode !== null && file.newMode !== null && file.oldMode !== file.newMode && (
          <span class="muted mono">
            {file.oldMode} → {file.newMode}
          </span>
        )}
        {file.binary && <span class="tag">{IMAGE.test(file.path) ? "image" : "binary"}</span>}
        {file.lines && <LineSum {...file.lines} />}
        {has("time") && (
          <a class="quiet only-wide" href={to("time", [], { path: file.path })} aria-label={`History of ${path}`}>
            History
          </a>
        )}
      </header>
      {open && (
        <FileBody
          file={file}
          comparison={comparison}
          // A new or deleted file has one side only.
          split={split && file.status !== "added" && file.status !== "deleted"}
          reveal={reveal}
          eager={eager}
        />
      )}
    </article>
  );
}

function FileBody({ file, comparison, split, reveal, eager }: Omit<Props, "open">) {
  const place = useRef<HTMLDivElement>(null);
  const near = useNear(place) || eager;
  const { diff, error, loadMore, retry } = useFileDiff(comparison, file.path, reveal, near);
  // The space that the lines will take, so that the page does not jump when they come.
  const lines = (file.lines?.added ?? 0) + (file.lines?.deleted ?? 0);
  const reserved = diff ? undefined : { minHeight: `${Math.min(lines + 6, 400) * 20}px` };
  return (
    <div class="file-body" ref={place} style={reserved}>
      {!diff && !error && <Skeleton lines={3} label={`Loading ${visible(file.path)}`} />}
      {error && <Problem error={error} retry={retry} />}
      {diff && <Content diff={diff} path={file.path} split={split} loadMore={loadMore} />}
    </div>
  );
}

function Content({ diff, path, split, loadMore }: { diff: FileDiff; path: string; split: boolean; loadMore(): void }) {
  switch (diff.kind) {
    case "text":
      return <Lines hunks={diff.hunks} path={path} split={split} more={diff.next !== null} loadMore={loadMore} />;
    case "image":
      return (
        <div class="pictures">
          <Picture image={diff.before} label="Before" />
          <Picture image={diff.after} label="After" />
        </div>
      );
    case "binary":
      return <p class="empty-line">A binary file{sizes(diff.before, diff.after)}.</p>;
    case "too-large":
      return <p class="empty-line">Too large to show{sizes(diff.before, diff.after)}.</p>;
    case "submodule":
      return (
        <p class="empty-line mono">
          Submodule {diff.before?.slice(0, 12) ?? "none"} → {diff.after?.slice(0, 12) ?? "none"}
        </p>
      );
    case "left-out":
      return <p class="empty-line">This diff is too large for an exported page and was left out.</p>;
    case "same":
      return <p class="empty-line">The content is the same.</p>;
  }
}

function Picture({ image, label }: { image: Image | null; label: string }) {
  if (!image) return null;
  return (
    <figure>
      <img src={`data:${image.mediaType};base64,${image.base64}`} alt={label} />
      <figcaption class="muted">
        {label}, {size(image.bytes)}
      </figcaption>
    </figure>
  );
}

function sizes(before: number | null, after: number | null): string {
  if (before !== null && after !== null) return `: ${size(before)} before, ${size(after)} after`;
  const only = before ?? after;
  return only === null ? "" : `: ${size(only)}`;
}

/** The diff of one file, page by page. */
function useFileDiff(comparison: Comparison, path: string, reveal: boolean, wanted: boolean) {
  const key = JSON.stringify([comparison, path, reveal]);
  const [state, setState] = useState<{ key: string; diff?: FileDiff; error?: RequestError }>({ key: "" });
  const busy = useRef(false);
  const load = async (offset?: number) => {
    if (busy.current) return;
    busy.current = true;
    const page = offset === undefined ? {} : { offset: String(offset) };
    try {
      const next = await query("fileDiff", { ...comparison, path, ...page, ...(reveal ? { reveal: "1" } : {}) });
      setState((old) => ({ key, diff: offset === undefined ? next : joined(old.diff, next) }));
    } catch (error) {
      const known = error instanceof RequestError ? error : new RequestError("failed", String(error), null);
      setState((old) => (old.key === key && old.diff ? old : { key, error: known }));
    } finally {
      busy.current = false;
    }
  };
  useEffect(() => {
    if (wanted) void load();
  }, [key, wanted]);
  const own = state.key === key ? state : undefined;
  const next = own?.diff?.kind === "text" ? own.diff.next : null;
  return {
    diff: own?.diff,
    error: own?.error,
    loadMore: () => {
      if (next !== null) void load(next);
    },
    retry: () => void load(),
  };
}

function joined(old: FileDiff | undefined, next: FileDiff): FileDiff {
  if (old?.kind !== "text" || next.kind !== "text") return next;
  const hunks: Hunk[] = [...old.hunks, ...next.hunks];
  return { ...next, hunks };
}

/** True once the element is, or was, close to the window. */
function useNear(place: { current: HTMLElement | null }): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (near || !place.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: "800px" },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [near]);
  return near;
}

export function anchorOf(path: string): string {
  return `file-${encodeURIComponent(path)}`;
}
