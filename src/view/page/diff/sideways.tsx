/** Long lines of a side-by-side diff: both sides move sideways together, by a bar below, the wheel, or the arrow keys. */
import { useMemo, useRef } from "preact/hooks";

/** Pixels for one press of an arrow key. */
const STEP = 60;

export interface Sideways {
  bar: { current: HTMLDivElement | null };
  handlers: {
    onWheel(event: WheelEvent): void;
    onKeyDown(event: KeyboardEvent): void;
  };
}

export function useSideways(): Sideways {
  const bar = useRef<HTMLDivElement>(null);
  const handlers = useMemo(() => {
    /** Whether there was anywhere to go. */
    const move = (pixels: number): boolean => {
      if (!bar.current || pixels === 0 || bar.current.scrollWidth <= bar.current.clientWidth) return false;
      bar.current.scrollLeft += pixels;
      return true;
    };
    return {
      onWheel: (event: WheelEvent) => {
        if (move(event.shiftKey ? event.deltaY : event.deltaX)) event.preventDefault();
      },
      onKeyDown: (event: KeyboardEvent) => {
        const steps = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (move(steps * STEP)) event.preventDefault();
      },
    };
  }, []);
  return { bar, handlers };
}

/** As wide as the longest line is longer than its half of the window. `width` is in characters. */
export function SidewaysBar({ width, sideways }: { width: number; sideways: Sideways }) {
  return (
    <div
      ref={sideways.bar}
      class="sideways"
      aria-hidden="true"
      onScroll={({ currentTarget }) =>
        currentTarget.parentElement?.style.setProperty("--shift", `${-currentTarget.scrollLeft}px`)
      }
    >
      <div style={{ width: `calc(50% + ${width}ch + 6rem)` }} />
    </div>
  );
}
