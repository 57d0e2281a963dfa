import { expect, test } from "bun:test";
import type { Branch } from "../../protocol.ts";
import { lanesOf, railOf } from "./rail.ts";

const branch = (id: string, kind: Branch["kind"], from: string | null = null): Branch => ({
  id,
  kind,
  from,
  name: null,
  endedBy: null,
});
const items = (...names: string[]) => names.map((name) => ({ id: name, branch: name[0] ?? "" }));
const draw = (rows: ReturnType<typeof railOf>) =>
  rows.map(({ lane, segments }) => {
    const lines = segments.map((s) => `${s.lane}${s.top ? "'" : ""}${s.bottom ? "," : ""}${"joins" in s ? ">" : ""}`);
    return `${lane}: ${lines.join(" ")}`;
  });

test("a rewound line branches off at its turn and has a separate lane", () => {
  const rows = railOf(
    items("c4", "r3", "r2", "c1", "c0"),
    [branch("c", "current"), branch("r", "rewound", "c1")],
    false,
  );
  expect(draw(rows)).toEqual(["0: 0,", "1: 0', 1,", "1: 0', 1',", "0: 0', 1'>", "0: 0'"]);
  expect(lanesOf(rows)).toBe(2);
});

test("lines that do not overlap share a lane; those that do, do not", () => {
  const branches = [branch("c", "current"), branch("a", "rewound", "c1"), branch("b", "rewound", "c0")];
  const apart = railOf(items("a1", "c1", "b1", "c0"), branches, true);
  expect(lanesOf(apart)).toBe(2);
  const together = railOf(
    items("a1", "b1", "c1", "c0"),
    [branch("c", "current"), branch("a", "rewound", "c0"), branch("b", "rewound", "c0")],
    true,
  );
  expect(lanesOf(together)).toBe(3);
});

test("a line that left at an unknown step joins the row below, if there is one", () => {
  expect(draw(railOf(items("r2", "c1"), [branch("c", "current"), branch("r", "rewound", "x")], true))).toEqual([
    "1: 1,",
    "0: 1'> 0,",
  ]);
  expect(draw(railOf(items("r2"), [branch("r", "rewound", "x")], true))).toEqual(["1: 1"]);
});
