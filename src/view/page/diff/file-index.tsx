/** The list of changed files above a diff, to jump to one. */

import type { ChangedFile } from "../../protocol.ts";
import { grouped } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { anchorOf, SIGNS } from "./file-block.tsx";
import { LineSum } from "./line-sum.tsx";

const MAX_LISTED = 12;

export function FileIndex({ files, shown }: { files: readonly ChangedFile[]; shown: number }) {
  const listed = files.slice(0, Math.min(MAX_LISTED, shown));
  if (listed.length === 0) return <p class="empty-line">No file matches.</p>;
  return (
    <ul class="file-index" aria-label="Changed files">
      {listed.map((file) => (
        <li key={file.path}>
          <button
            type="button"
            class="row-button"
            onClick={() => {
              const block = document.getElementById(anchorOf(file.path));
              block?.scrollIntoView({ block: "start" });
              block?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
            }}
          >
            <span class={`sign ${file.status}`} aria-hidden="true">
              {SIGNS[file.status]}
            </span>
            <span class="path">
              <bdi>{visible(file.path)}</bdi>
            </span>
            {file.lines && <LineSum {...file.lines} />}
          </button>
        </li>
      ))}
      {files.length > listed.length && (
        <li class="muted more">… and {grouped(files.length - listed.length)} more below</li>
      )}
    </ul>
  );
}
