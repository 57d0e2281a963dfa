/** The layers hold, and a hook loads almost nothing. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  apiObjections,
  importsOf,
  LAYERS,
  layerOf,
  linterOverrides,
  loadedBy,
  objection,
  roadFrom,
  sourcesIn,
} from "../scripts/layers.ts";
import { BESIDE_ADAPTERS, HOOK_MODULES, HOOK_ROAD } from "./hook-road.ts";
import { temporaryDirectory } from "./support/index.ts";

const root = join(import.meta.dirname, "..", "src");
const sources = sourcesIn(root);

describe("layers", () => {
  test("no file imports a layer above its own or beside it", () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.flatMap((file) => wrongImports(root, file))).toEqual([]);
  });

  test("layers import of each other only what api.txt lists", () => {
    expect(apiObjections(root)).toEqual([]);
  });

  test("an import of an unlisted file is found, and so is a listed file that is not needed", () => {
    using place = temporaryDirectory();
    place.write("git/run.ts", "export const a = 1;\n");
    place.write("git/inner.ts", 'export { a as b } from "./run.ts";\n');
    place.write("git/api.txt", "run.ts\nold.ts\n");
    place.write("cli/io.ts", 'import { a } from "../git/run.ts";\nimport type { b } from "../git/inner.ts";\n');
    place.write("cli/io.test.ts", 'import { b } from "../git/inner.ts";\n');
    expect(apiObjections(place.path)).toEqual([
      "cli/io.ts → git/inner.ts: not in the API of git/. Use a file of src/git/api.txt, or list this one there.",
      "git/old.ts: no other layer imports it. Run scripts/layers.ts --write, which takes it off the list.",
    ]);
  });

  test("every directory of the source has its row", () => {
    const known = new Set(LAYERS.flat());
    expect(sources.map(layerOf).filter((layer) => !known.has(layer))).toEqual([]);
  });

  test("no import that the compiler sees is overlooked", () => {
    const overlooked = sources.flatMap((file) => {
      const seen = new Set(importsOf(root, file).map((entry) => entry.to));
      return loadedBy(root, file).filter((entry) => !seen.has(entry.to));
    });
    expect(overlooked).toEqual([]);
  });

  test("only files with a version for Node, the viewer and the hub, use Bun itself: the library runs in Node too", () => {
    const users = sources.filter(
      (file) => !file.endsWith(".test.ts") && /\bBun\.\w|from "bun[":]/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(users).toEqual([
      "base/runtime.ts",
      "hub/database/connect.ts",
      "hub/server/serve.ts",
      "search/index/database.ts",
      "view/server/http/listen.ts",
    ]);
  });

  test("the linter knows the same layers", () => {
    const configuration = JSON.parse(readFileSync(join(root, "..", "biome.json"), "utf8"));
    expect(configuration.overrides).toEqual(linterOverrides());
  });

  test("an import upwards, one sideways, one of a type and a lazy one are all found", () => {
    using place = temporaryDirectory();
    place.write("git/run.ts", 'import { a } from "../cli/io.ts";\nimport type { B } from "../config/load.ts";\n');
    place.write(
      "base/ids.ts",
      'export const lazy = () => import("../agents/registry.ts");\nexport * from "../main.ts";\n',
    );
    place.write("cli/io.ts", 'import { c } from "../base/ids.ts";\nimport { version } from "node:process";\n');
    expect(sourcesIn(place.path).flatMap((file) => wrongImports(place.path, file))).toEqual([
      "base/ids.ts → main.ts: main/ stands above base/",
      "base/ids.ts → agents/registry.ts: agents/ stands above base/",
      "git/run.ts → cli/io.ts: cli/ stands above git/",
      "git/run.ts → config/load.ts: git/ and config/ stand side by side",
    ]);
  });
});

describe("the road of a hook", () => {
  const road = roadFrom(root, ["main.ts", "hook.ts"]);

  test("loads no package, and of the runtime's modules only those on its list", () => {
    expect(road.packages).toEqual(HOOK_MODULES);
  });

  test("loads the files on its list and no other", () => {
    expect(road.own).toEqual(HOOK_ROAD);
  });

  for (const adapter of sources.filter((file) => /^agents\/builtin\/[^/]+\/adapter\.ts$/.test(file))) {
    const folder = adapter.slice(0, -"adapter.ts".length);

    test(`${folder} adds its own files and a few small ones`, () => {
      const { own, packages } = roadFrom(root, [adapter]);
      const known = new Set([...HOOK_ROAD, ...BESIDE_ADAPTERS]);
      expect(own.filter((file) => !file.startsWith(folder) && !known.has(file))).toEqual([]);
      expect(packages.filter((name) => !HOOK_MODULES.includes(name))).toEqual([]);
    });
  }

  test("loads nothing of the command line", () => {
    expect(road.own.filter((file) => layerOf(file) === "cli")).toEqual([]);
  });

  test("follows loaded imports, not types or lazy imports", () => {
    using place = temporaryDirectory();
    place.write("a.ts", 'import { b } from "./b.ts";\nimport type { C } from "./c.ts";\nb(() => import("./d.ts"));\n');
    place.write("b.ts", 'import { z } from "zod";\nexport const b = z;\n');
    expect(roadFrom(place.path, ["a.ts"])).toEqual({ own: ["a.ts", "b.ts"], packages: ["zod"] });
  });
});

describe("what every command loads to open a work tree", () => {
  const { own, packages } = roadFrom(root, ["cli/shared/workspace.ts"]);

  test("is no package, and no code that edits settings or finishes what a killed process left", () => {
    const repairs = /^(?:edit|checkpoints\/write|restore\/(?:plan|conversation))\/|\/(?:forget|purge)\/(?!journal)/;
    expect(own.filter((file) => repairs.test(file) && !HOOK_ROAD.includes(file))).toEqual([]);
    expect(packages.filter((name) => !HOOK_MODULES.includes(name))).toEqual([]);
  });
});

function wrongImports(directory: string, file: string): string[] {
  return importsOf(directory, file).flatMap(({ from, to, own }) => {
    // Tests share what lies outside the source.
    if (!own || (to.startsWith("../test/") && from.endsWith(".test.ts"))) return [];
    const reason = to.startsWith("../") ? "lies outside the source" : objection(layerOf(from), layerOf(to));
    return reason === undefined ? [] : [`${from} → ${to}: ${reason}`];
  });
}
