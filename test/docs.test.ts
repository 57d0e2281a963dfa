/** The documentation names only files, links and commands that exist. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { docErrors, type Page, readPages } from "../scripts/docs.ts";
import { LAYERS } from "../scripts/layers.ts";
import { longLines } from "../scripts/wrap-markdown.ts";

const root = join(import.meta.dirname, "..");

test("every file, link and command that the documentation names exists", () => {
  const pages = readPages(root);
  expect(pages.length).toBeGreaterThan(20);
  expect(docErrors(root, pages)).toEqual([]);
});

test("the table of folders and the list of layers follow scripts/layers.ts", () => {
  const rows = readPage("docs/architecture.md").matchAll(/^\| `(\w+)\/` \|/gm);
  expect([...rows].map((row) => row[1])).toEqual(LAYERS.flat().filter((layer) => layer !== "main"));

  const list = /^ {4}base \|(?:[^\n]+\n)+/m.exec(readPage("CONTRIBUTING.md"))?.[0] ?? "";
  expect(list.split("|").map((group) => group.trim().split(", "))).toEqual(LAYERS);
});

test("lines of prose are at most 100 columns long", () => {
  expect(readPages(root).flatMap(({ path, text }) => longLines(text).map((line) => `${path}: ${line}`))).toEqual([]);
  expect(longLines(`${"word ".repeat(30)}\n\n| ${"cell ".repeat(30)} |\n\n    ${"code ".repeat(30)}`)).toHaveLength(1);
});

describe("an error is found", () => {
  const errorsIn = (text: string, path = "docs/page.md") => docErrors(root, [{ path, text } satisfies Page]);

  test("in the path of a file, from the root, from src/ or by its name alone", () => {
    expect(errorsIn("`src/model/turn.ts`, `model/turn.ts`, `restore/`, `turn.ts`")).toEqual([]);
    expect(errorsIn("`src/model/tern.ts`")).toEqual(["docs/page.md: there is no file src/model/tern.ts"]);
    expect(errorsIn("`model/tern.ts`")).toHaveLength(1);
    expect(errorsIn("`restored/`, `restore/appply/`")).toHaveLength(1);
    expect(errorsIn("`tern.ts`")).toHaveLength(1);
  });

  test("in a path with a part to fill in", () => {
    expect(errorsIn("`src/agents/builtin/<id>/fork.ts`")).toEqual([]);
    expect(errorsIn("`src/agents/builtin/<id>/spoon.ts`")).toHaveLength(1);
  });

  test("in a diagram", () => {
    expect(errorsIn("```mermaid\nflowchart LR\n  a[restore/plan/plan.ts] --> b\n```")).toEqual([]);
    expect(errorsIn("```mermaid\nflowchart LR\n  a[restore/plan/plant.ts] --> b\n```")).toHaveLength(1);
  });

  test("in a link, or in the heading that it names", () => {
    expect(errorsIn("[rewind](rewind.md), [code](formats/steps.md#code), [web](https://example.com/)")).toEqual([]);
    expect(errorsIn("[rewind](rewound.md)")).toHaveLength(1);
    expect(errorsIn("[code](formats/steps.md#no-such-heading)")).toHaveLength(1);
  });

  test("in a command or a subcommand", () => {
    expect(
      errorsIn("`backtrail rewind 1`, `backtrail jump last`, `backtrail fork take it`, `backtrail --help`"),
    ).toEqual([]);
    expect(errorsIn("`backtrail revind 1`")).toEqual(['docs/page.md: there is no command "backtrail revind 1"']);
    expect(errorsIn("`backtrail config sett tier`")).toHaveLength(1);
    expect(errorsIn("```\n$ backtrail revind 1\n```")).toHaveLength(1);
  });

  test("in the name of an npm script", () => {
    expect(errorsIn("`npm run build`")).toEqual([]);
    expect(errorsIn("```\nnpm ci && npm run bild\n```")).toEqual(["docs/page.md: there is no npm script bild"]);
  });

  test("but decisions may name files that are gone", () => {
    expect(errorsIn("`src/model/tern.ts`", "docs/design/page.md")).toEqual([]);
    expect(errorsIn("[gone](gone.md)", "docs/design/page.md")).toHaveLength(1);
  });
});

function readPage(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
