/** The directories and files of one state. Directories load when they are opened, and stay open over time. */
import { useEffect, useState } from "preact/hooks";
import type { Tree } from "../../../protocol.ts";
import { replace, to } from "../../data/router.ts";
import { useQuery } from "../../data/use-query.ts";
import { useKept } from "../../parts/kept.ts";
import { Problem, Skeleton } from "../../parts/states.tsx";
import { visible } from "../../text/visible.ts";
import { topicsOf } from "./stops.ts";

export function TreeThen({ step, open: file }: { step: string; open: string }) {
  const [opened, setOpened] = useState(() => new Set(parentsOf(file)));
  useEffect(() => setOpened((before) => new Set([...before, ...parentsOf(file)])), [file]);
  const toggle = (path: string) => {
    const next = new Set(opened);
    if (!next.delete(path)) next.add(path);
    setOpened(next);
  };
  return <Directory step={step} path="" opened={opened} toggle={toggle} file={file} />;
}

interface Props {
  step: string;
  path: string;
  opened: ReadonlySet<string>;
  toggle(path: string): void;
  file: string;
}

function Directory({ step, path, opened, toggle, file }: Props) {
  const { data, error, loading } = useQuery("tree", { step, ...(path === "" ? {} : { path }) }, topicsOf(step));
  // While another moment loads, the tree stays as it is.
  const tree = useKept<Tree>(data, error !== undefined);
  if (error) return path === "" ? <Problem error={error} /> : null;
  if (!tree) return loading ? <Skeleton lines={4} label="Loading the files" /> : null;
  return (
    <ul class="tree-list">
      {tree.entries.map(({ name, kind }) => {
        const full = path === "" ? name : `${path}/${name}`;
        const isOpen = opened.has(full);
        if (kind === "directory")
          return (
            <li key={name}>
              <button type="button" class="fold" aria-expanded={isOpen} onClick={() => toggle(full)}>
                <span class="chevron" aria-hidden="true" />
                <span class="path">{visible(name)}/</span>
              </button>
              {isOpen && <Directory step={step} path={full} opened={opened} toggle={toggle} file={file} />}
            </li>
          );
        return (
          <li key={name}>
            <a
              class="path"
              href={to("time", [], { step, path: full })}
              aria-current={full === file ? "true" : undefined}
              onClick={(event) => {
                event.preventDefault();
                replace(to("time", [], { step, path: full }));
              }}
            >
              {visible(name)}
              {kind === "link" ? " →" : kind === "submodule" ? " (submodule)" : ""}
            </a>
          </li>
        );
      })}
      {tree.entries.length === 0 && <li class="muted">Empty.</li>}
      {tree.more && <li class="muted">… more than 10,000 entries</li>}
    </ul>
  );
}

function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}
