/** No export, no file and no package is unused. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findUnused } from "../scripts/unused.ts";
import { temporaryDirectory } from "./support/index.ts";

const ENTRIES = new Set(["src/main.ts", "src/index.ts", "src/hook.ts", "src/view/page/main.tsx"]);

test("every export is imported, every file is used, and every package", () => {
  expect(findUnused(join(import.meta.dirname, ".."), ENTRIES)).toEqual({ exports: [], files: [], packages: [] });
});

test("unused exports are found; renamed, lazy and namespace imports count as uses", () => {
  using place = temporaryDirectory();
  place.write("src/main.ts", 'import { a as b } from "./a.ts";\nconst c = await import("./c.ts");\n');
  place.write("src/a.ts", "export const a = 1;\nexport function dead() {}\nexport interface Alone {}\n");
  place.write(
    "src/c.ts",
    'import * as d from "./d.ts";\nexport const lazily = d;\nexport type D = typeof d;\nlet x: D;\n',
  );
  place.write("src/d.ts", "const x = 1;\nexport { x as y };\n");
  place.write("src/e.ts", "export {};\n");
  const exports = ["src/a.ts: dead", "src/a.ts: Alone"];
  expect(findUnused(place.path, ENTRIES)).toEqual({ exports, files: ["src/e.ts"], packages: [] });
});

test("a script is used if a page or a setting names it, and a package if code or a script does", () => {
  using place = temporaryDirectory();
  const manifest = {
    scripts: { one: "bun scripts/one.ts", lint: "biome" },
    devDependencies: { biome: "1", zod: "1", old: "1" },
  };
  place.write("package.json", JSON.stringify(manifest));
  place.write("docs/page.md", "Start `scripts/two.ts`. It once used old.\n");
  place.write("scripts/one.ts", 'import "zod";\n');
  place.write("scripts/two.ts", "const text = `\nexport const inText = 1;\n`;\n");
  place.write("scripts/three.ts", "export const alone = 1;\n");
  const exports = ["scripts/three.ts: alone"];
  expect(findUnused(place.path, ENTRIES)).toEqual({ exports, files: ["scripts/three.ts"], packages: ["old"] });
});
