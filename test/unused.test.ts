/** No exported function, class or constant and no file of the source is unused. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findUnused } from "../scripts/unused.ts";
import { temporaryDirectory } from "./support/index.ts";

const ENTRIES = new Set(["src/main.ts", "src/index.ts", "src/hook.ts", "src/view/page/main.tsx"]);

test("every exported function, class and constant is imported, and every file", () => {
  expect(findUnused(join(import.meta.dirname, ".."), ENTRIES)).toEqual({ exports: [], files: [] });
});

test("what nobody imports is found; renamed, lazy and namespace imports count as uses", () => {
  using place = temporaryDirectory();
  place.write("src/main.ts", 'import { a as b } from "./a.ts";\nconst c = await import("./c.ts");\n');
  place.write("src/a.ts", "export const a = 1;\nexport function dead() {}\nexport interface Shape {}\n");
  place.write("src/c.ts", 'import * as d from "./d.ts";\nexport const lazily = d;\n');
  place.write("src/d.ts", "const x = 1;\nexport { x as y };\n");
  place.write("src/e.ts", "export {};\n");
  expect(findUnused(place.path, ENTRIES)).toEqual({ exports: ["src/a.ts: dead"], files: ["src/e.ts"] });
});
