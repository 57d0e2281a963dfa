/** The lines of a whole file in syntax colors. Only visible lines are elements. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { grouped } from "../text/format.ts";
import { familyOf } from "../text/highlight.ts";
import { fileLine, visible } from "../text/visible.ts";
import { Code } from "./code.tsx";
import { evenLayout, Virtual } from "./virtual.tsx";

const HEIGHT = 20;

interface Props {
  lines: readonly string[];
  path: string;
  /** Shown before a line's number. */
  gutter?: (index: number) => ComponentChildren;
  /** Lines that are marked, from 0. The first of them is scrolled to. */
  changed?: ReadonlySet<number>;
  more?: boolean;
  loadMore?: () => void;
}

export function TextLines({ lines, path, gutter, changed, more = false, loadMore }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (changed && changed.size > 0) show(place.current, Math.min(...changed));
  }, [changed]);
  const family = familyOf(path);
  const count = lines.length + (more ? 1 : 0);
  const layout = useMemo(() => evenLayout(count, HEIGHT), [count]);
  const draw = (first: number, last: number) =>
    Array.from({ length: last - first }, (_, i) => {
      const index = first + i;
      const source = lines[index];
      if (source === undefined)
        return (
          <div key="more" class="line note">
            Loading more lines …
          </div>
        );
      const { text, cut } = fileLine(source);
      return (
        <div key={index} class={changed?.has(index) ? "line add" : "line"}>
          {gutter?.(index)}
          <span class="no">{index + 1}</span>
          <code>
            <Code text={text} family={family} />
            {cut > 0 && <span class="cut">… {grouped(cut)} more characters</span>}
          </code>
        </div>
      );
    });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll sideways, by keyboard too
    <div ref={place} class="lines whole" role="group" aria-label={`Lines of ${visible(path)}`} tabIndex={0}>
      <Virtual layout={layout} {...(more && loadMore ? { onEnd: loadMore } : {})}>
        {draw}
      </Virtual>
    </div>
  );
}

/** Scrolls the pane of the lines to one of them, unless it is in view. On a narrow window there is no such pane. */
function show(lines: HTMLElement | null, index: number): void {
  const pane = lines?.closest<HTMLElement>(".pane");
  if (!lines || !pane || pane.scrollHeight <= pane.clientHeight) return;
  const top = lines.getBoundingClientRect().top - pane.getBoundingClientRect().top + index * HEIGHT;
  if (top < 0 || top > pane.clientHeight - 2 * HEIGHT) pane.scrollTop += top - pane.clientHeight / 3;
}
