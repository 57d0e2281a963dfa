/** A long list of which only the visible rows are elements. It scrolls with whatever contains it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Layout {
  count: number;
  height: number;
  /** The top of a row, in pixels. */
  top(index: number): number;
  /** The row at a position. */
  at(position: number): number;
}

/** Rows of one height. */
export function evenLayout(count: number, rowHeight: number): Layout {
  return {
    count,
    height: count * rowHeight,
    top: (index) => index * rowHeight,
    at: (position) => Math.max(0, Math.min(count - 1, Math.floor(position / rowHeight))),
  };
}

/** Rows whose heights are known before they are drawn. */
export function unevenLayout(heights: readonly number[]): Layout {
  const tops = new Float64Array(heights.length + 1);
  for (let i = 0; i < heights.length; i++) tops[i + 1] = (tops[i] ?? 0) + (heights[i] ?? 0);
  return {
    count: heights.length,
    height: tops[heights.length] ?? 0,
    top: (index) => tops[index] ?? 0,
    at(position) {
      let low = 0;
      let high = heights.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((tops[middle] ?? 0) <= position) low = middle;
        else high = middle - 1;
      }
      return Math.max(0, low);
    },
  };
}

/** Rows above and below the window, in pixels, so that scrolling meets no empty rows. */
const MARGIN = 600;

interface Props {
  layout: Layout;
  /** Draws the rows from `first` to before `last`. */
  children: (first: number, last: number) => ComponentChildren;
  class?: string;
  /** Called when the last row comes near. */
  onEnd?: () => void;
}

export function Virtual({ layout, children, class: name = "", onEnd }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const isDrawn = useRef(false);
  const [range, setRange] = useState<readonly [number, number]>(() => rangeOf(layout, 0, 0));

  useLayoutEffect(() => {
    const measure = (margin: number) => {
      const { top } = element.current?.getBoundingClientRect() ?? { top: 0 };
      const [first, last] = rangeOf(layout, top, margin);
      setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
      if (last >= layout.count) onEnd?.();
    };
    // At first only what the window shows: the rows beyond it are drawn once those are on the screen.
    measure(isDrawn.current ? MARGIN : 0);
    isDrawn.current = true;
    return onScroll(() => measure(MARGIN));
  }, [layout, onEnd]);

  const first = Math.min(range[0], layout.count);
  const last = Math.min(range[1], layout.count);
  return (
    <div ref={element} class={`virtual ${name}`} style={{ height: `${layout.height}px` }} role="presentation">
      <div class="virtual-rows" style={{ top: `${layout.top(first)}px` }} role="presentation">
        {children(first, last)}
      </div>
    </div>
  );
}

/** The rows between the top and the bottom of the window, and `margin` pixels beyond; `top` is the list's own. */
function rangeOf(layout: Layout, top: number, margin: number): readonly [number, number] {
  if (layout.count === 0) return [0, 0];
  return [layout.at(-top - margin), layout.at(innerHeight - top + margin) + 1];
}

const measures = new Set<() => void>();
let frame = 0;

/** Calls in the next frame, and once per frame in which anything scrolls or the window changes its size. */
function onScroll(measure: () => void): () => void {
  if (measures.size === 0) {
    document.addEventListener("scroll", tick, { capture: true, passive: true });
    addEventListener("resize", tick);
  }
  measures.add(measure);
  tick();
  return () => {
    measures.delete(measure);
    if (measures.size > 0) return;
    document.removeEventListener("scroll", tick, { capture: true });
    removeEventListener("resize", tick);
  };
}

function tick(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    for (const measure of [...measures]) measure();
  });
}
