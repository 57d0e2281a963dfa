import { afterEach, expect, setSystemTime, test } from "bun:test";
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import fc from "fast-check";
import { captured } from "../../../test/support/captured.ts";
import { type TemporaryRepository, temporaryFolder } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome, runs } from "../../../test/support/own-process.ts";
import { fingerprint, put, putLink, take, treesByGit } from "../../../test/support/work-tree.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { warmPrivateIndex } from "../index/private-index.ts";

ownHome();
afterEach(() => {
  setSystemTime();
});

/** Each can stand where another has a directory. */
const PATHS = [
  "a",
  "a/b",
  "a/b/c",
  "d e",
  "d e/f",
  "new\nline",
  "\udcff\udcfe",
  "ü/é",
  "x.txt",
  "deep/down/x.txt",
  "n.log",
];
const CONTENTS = ["", "one\n", "two\n", "crlf\r\n", "mixed\r\nlines\n", "$Id$\n", "nul\0\r\n", "long ".repeat(50)];
const SETTINGS: [name: string, config: [string, string][], attributes: string | null][] = [
  ["plain", [], null],
  ["autocrlf", [["core.autocrlf", "true"]], null],
  ["input", [["core.autocrlf", "input"]], null],
  ["auto", [], "* text=auto\n"],
  ["eol", [["core.eol", "crlf"]], "*.txt text\na/** eol=crlf\n"],
  ["ident", [], "*.txt ident\n"],
  [
    "filter",
    [
      ["filter.shout.clean", "tr a-z A-Z"],
      ["filter.shout.smudge", "tr A-Z a-z"],
    ],
    "*.txt filter=shout\n",
  ],
  ["no modes", [["core.fileMode", "false"]], null],
  [
    "untracked cache",
    [
      ["core.untrackedCache", "true"],
      ["status.showUntrackedFiles", "all"],
    ],
    null,
  ],
  ["split index", [["core.splitIndex", "true"]], null],
];

type Change =
  | { do: "write"; path: string; content: string; executable: boolean }
  | { do: "link"; path: string; target: string }
  | { do: "mode"; path: string; executable: boolean }
  | { do: "take" | "directory"; path: string }
  | { do: "git"; args: readonly string[] }
  | { do: "warm" };

const path = fc.constantFrom(...PATHS);
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      path,
      content: fc.constantFrom(...CONTENTS),
      executable: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("take" as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("directory" as const), path }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("link" as const), path, target: fc.constantFrom("a", "nowhere") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("mode" as const), path, executable: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("git" as const),
      args: fc.constantFrom<string[][]>(
        ["add", "--all"],
        ["add", "--intent-to-add", "."],
        ["commit", "--quiet", "--allow-empty", "--all", "--message", "next"],
        ["reset", "--quiet"],
        ["rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "."],
        ["checkout", "--quiet", "--detach"],
        ["pack-refs", "--all"],
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "warm" as const }) },
);

/** One repository for each setting, made once and copied. */
const made = new Map<string, TemporaryRepository>();
function repositoryWith([name, config, attributes]: (typeof SETTINGS)[number]): TemporaryRepository {
  let original = made.get(name);
  if (!original) {
    original = temporaryFolder();
    original.git("init", "--quiet", "--initial-branch=main", "--template=");
    for (const [key, value] of config) original.git("config", key, value);
    if (attributes) original.write(".gitattributes", attributes);
    original.write(".gitignore", "*.log\n");
    original.write("a/b/kept", "kept\r\n");
    original.commit("first");
    made.set(name, original);
  }
  const repository = temporaryFolder();
  cpSync(original.path, repository.path, { recursive: true, preserveTimestamps: true });
  return repository;
}

test("a snapshot is what `git add --all` in a copy of the index gives, bit for bit, and touches nothing", async () => {
  const rounds = fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(fc.constantFrom(...SETTINGS), rounds, fc.boolean(), async (settings, all, aged) => {
    using repository = repositoryWith(settings);
    const workspace = await enabledWorkspace(repository.path);
    for (const changes of all) {
      for (const one of changes) {
        if (one.do === "warm") await warmPrivateIndex(workspace);
        else make(repository, one);
      }
      // As if the files had been there for long, so that the next round builds on what this one remembers.
      if (aged) setSystemTime(new Date(Date.now() + 10_000));
      const before = fingerprint(repository.path);
      const snapshot = await captured(workspace, { remembered: repository });
      expect(fingerprint(repository.path)).toEqual(before);
      const expected = treesByGit(repository);
      expect({ work: snapshot.work, index: snapshot.index }).toEqual({
        work: expected.work,
        index: expected.index ?? snapshot.index,
      });
    }
    repository.git("fsck", "--strict", "--no-dangling");
    setSystemTime();
  });
  try {
    await fc.assert(property, runs(10));
  } finally {
    for (const repository of made.values()) repository.remove();
    made.clear();
  }
});

function make(repository: TemporaryRepository, one: Exclude<Change, { do: "warm" }>): void {
  const root = repository.path;
  switch (one.do) {
    case "write":
      put(root, one.path, one.content, one.executable ? 0o755 : 0o644);
      return;
    case "link":
      putLink(root, one.path, one.target);
      return;
    case "take":
      take(root, one.path);
      return;
    case "directory":
      put(root, one.path, "");
      take(root, one.path);
      mkdirSync(onDisk(root, one.path));
      return;
    case "mode": {
      const place = onDisk(root, one.path);
      if (existsSync(place) && lstatSync(place).isFile()) chmodSync(place, one.executable ? 0o755 : 0o644);
      return;
    }
    case "git":
      repository.git("-c", "core.safecrlf=false", ...one.args);
  }
}
