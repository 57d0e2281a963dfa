/** Any keys and any window, to check that a picker fills exactly the window. */
import { expect } from "bun:test";
import fc from "fast-check";
import type { Key } from "../../src/cli/picker/keys.ts";
import { widthOf } from "../../src/cli/render/layout/text.ts";

const NAMES = ["up", "down", "pageup", "pagedown", "home", "end", "left", "right", "tab", "backspace"];

export function expectFilled(draw: (keys: Key[], columns: number, rows: number) => string[]): void {
  const key = fc.oneof(
    fc.constantFrom(...NAMES).map((name): Key => ({ name })),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }).map((sequence): Key => ({ sequence })),
  );
  const [columns, rows] = [fc.integer({ min: 40, max: 200 }), fc.integer({ min: 12, max: 60 })];
  const property = fc.property(fc.array(key, { maxLength: 20 }), columns, rows, (pressed, wide, high) => {
    const lines = draw(pressed, wide, high);
    expect(lines).toHaveLength(high - 1);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(wide);
  });
  fc.assert(property, { numRuns: 150 });
}
