/** One file as it was at a state. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { FileAtStep, FileDiff } from "../../../protocol.ts";
import { query } from "../../data/client.ts";
import { to } from "../../data/router.ts";
import { useQuery } from "../../data/use-query.ts";
import { useKept } from "../../parts/kept.ts";
import { Problem, Skeleton } from "../../parts/states.tsx";
import { TextLines } from "../../parts/text-lines.tsx";
import { grouped, plural, size } from "../../text/format.ts";
import { rowsOf } from "../../text/rows.ts";
import { visible } from "../../text/visible.ts";
import { type Stop, topicsOf } from "./stops.ts";

export function FileThen({ moment, path }: { moment: Stop; path: string }) {
  const { step, change, kind } = moment;
  const { data, error, loading } = useQuery("file", { step, path }, topicsOf(step));
  const isChange = change !== undefined && kind === "turn-end";
  const { data: diff } = useQuery("fileDiff", isChange ? { turn: step, path } : null);
  const changed = useMemo(() => (isChange ? changedLines(diff) : NO_LINES), [isChange, diff]);
  const file = useKept(data, error !== undefined);
  const missing = error?.kind === "not-found";
  return (
    <>
      <header class="file-head">
        <h2 class="path">
          <bdi>{visible(path)}</bdi>
        </h2>
        <a href={to("blame", [path])}>Who wrote it</a>
        <a href={to("", [], { path })}>Its turns</a>
      </header>
      {missing && <p class="empty-line">The file does not exist at this moment.</p>}
      {error && !missing && <Problem error={error} />}
      {!file && loading && <Skeleton lines={8} label="Loading the file" />}
      {file && <Content file={file} path={path} changed={file.step === step ? changed : NO_LINES} />}
    </>
  );
}

interface Shown<Content> {
  file: Content;
  path: string;
  /** The lines that this moment's turn wrote, from 0. */
  changed: ReadonlySet<number>;
}

const NO_LINES: ReadonlySet<number> = new Set();

function changedLines(diff: FileDiff | undefined): ReadonlySet<number> {
  if (diff?.kind !== "text") return NO_LINES;
  return new Set(rowsOf(diff.hunks).flatMap(({ kind, new: number }) => (kind === "add" ? [number - 1] : [])));
}

function Content({ file, path, changed }: Shown<FileAtStep>) {
  switch (file.kind) {
    case "text":
      return <Text key={file.id} file={file} path={path} changed={changed} />;
    case "image":
      return (
        <div class="pictures">
          <img src={`data:${file.image.mediaType};base64,${file.image.base64}`} alt={visible(path)} />
        </div>
      );
    case "binary":
      return <p class="empty-line">A binary file: {size(file.bytes)}.</p>;
    case "too-large":
      return <p class="empty-line">Too large to show: {size(file.bytes)}.</p>;
    case "link":
      return <p class="empty-line mono">A symbolic link to {visible(file.target)}</p>;
    case "submodule":
      return <p class="empty-line mono">A submodule at {file.commit.slice(0, 12)}</p>;
  }
}

/** Long files come in parts. */
function Text({ file, path, changed }: Shown<Extract<FileAtStep, { kind: "text" }>>) {
  const [rest, setRest] = useState<{ lines: string[]; next: number | null }>({ lines: [], next: file.next });
  const [busy, setBusy] = useState(false);
  useEffect(() => setRest({ lines: [], next: file.next }), [file]);
  const lines = [...linesOf(file.text, file.next !== null), ...rest.lines];
  const loadMore = () => {
    if (busy || rest.next === null) return;
    setBusy(true);
    query("file", { step: file.step, path, offset: String(rest.next) })
      .then((page) => {
        if (page.kind !== "text") return;
        const more = linesOf(page.text, page.next !== null);
        setRest((old) => ({ lines: [...old.lines, ...more], next: page.next }));
      })
      .catch(() => {})
      .finally(() => setBusy(false));
  };
  return (
    <>
      <p class="muted file-facts">
        {plural(file.lines, "line")}
        {changed.size > 0 && `, ${grouped(changed.size)} written by this turn`}
      </p>
      <TextLines lines={lines} path={path} changed={changed} more={rest.next !== null} loadMore={loadMore} />
    </>
  );
}

/** The last line end of a file starts no line. */
function linesOf(text: string, continues: boolean): string[] {
  const lines = text.split("\n");
  if (!continues || text.endsWith("\n")) if (lines.at(-1) === "") lines.pop();
  return lines;
}
