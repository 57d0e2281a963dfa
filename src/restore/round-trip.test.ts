import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Content, type Files, type Kind, Playground, shown } from "../../test/support/restore-sandbox.ts";
import { applyRedo, planRedo } from "./redo.ts";

/** More in a long run: BACKTRAIL_RUNS=50 multiplies what the quick suite does. */
const TIMES = Number(process.env["BACKTRAIL_RUNS"] ?? 1);

const NAMES = ["a", "b", "A", "B c", "d.txt", "e\nf", "ü", "u\u0308", "🦊", "\udcff\udc80", "-x", "'q\"", "*", "tab\t"];
const ENDS = ["\n", "\r\n", "\r", ""];

const line = fc.tuple(fc.string({ maxLength: 6 }), fc.constantFrom(...ENDS)).map(([text, end]) => text + end);
const content: fc.Arbitrary<Content> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      file: fc.array(line, { maxLength: 4 }).map((lines) => Buffer.from(lines.join(""))),
      executable: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      file: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      executable: fc.constant(false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ link: fc.constantFrom("a", "b", "nowhere", "../outside", "/dev/null", "a/b") }) },
);

interface Node {
  [name: string]: Content | Node;
}
const { node } = fc.letrec<{ node: Node; entry: Content | Node }>((tie) => ({
  node: fc.dictionary(fc.constantFrom(...NAMES), tie("entry"), { maxKeys: 4, noNullPrototype: true }),
  entry: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: content },
    { weight: 1, arbitrary: tie("node") },
  ),
}));

function isContent(value: Content | Node): value is Content {
  return (
    Buffer.isBuffer(value["file" as keyof typeof value]) || typeof value["link" as keyof typeof value] === "string"
  );
}

function flat(tree: Node, prefix = "", files: Files = new Map()): Files {
  for (const [name, value] of Object.entries(tree)) {
    if (isContent(value)) files.set(prefix + name, value);
    else flat(value, `${prefix}${name}/`, files);
  }
  return files;
}

const story = fc.record({
  committed: node.map((tree) => flat(tree)),
  past: node.map((tree) => flat(tree)),
  now: node.map((tree) => flat(tree)),
  stageThen: fc.boolean(),
  stageNow: fc.boolean(),
  commitNow: fc.boolean(),
  ignored: fc.string({ maxLength: 8 }),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

async function roundTrip(kind: Kind, told: Story): Promise<void> {
  using ground = await Playground.make(kind);
  const git = !kind.folder;
  if (git && told.committed.size > 0) {
    ground.become(told.committed);
    ground.git("add", "--all");
    ground.git("commit", "--quiet", "--allow-empty", "-m", "first");
  }
  ground.become(told.past);
  // Staging a converted file hides its exact bytes from git.
  if (git && told.stageThen) ground.git("add", "--all");
  const then = shown(ground.files());
  const stagedThen = git ? ground.staged() : "";
  const step = await ground.save();
  expect(shown(ground.files())).toEqual(then);

  ground.become(told.now);
  if (git) {
    ground.write("kept.ign", told.ignored);
    ground.write("kept.ign.d.ign/deep/x", told.ignored);
  }
  if (git && told.stageNow) ground.git("add", "--all");
  if (git && told.commitNow) ground.git("commit", "--quiet", "--allow-empty", "-m", "second");
  const before = shown(ground.files());
  const stagedBefore = git ? ground.staged() : "";
  const ignored = shown(ground.ignored());

  const { plan, receipt } = await ground.rewind(step);
  expect(plan.conflicts).toEqual([]);
  expect(shown(ground.files())).toEqual(then);
  expect(shown(ground.ignored())).toEqual(ignored);
  expect(receipt.notes.filter(({ kind }) => kind === "files-kept")).toEqual([]);
  if (git && !told.commitNow) expect(ground.staged()).toBe(stagedThen);
  expect(await ground.isAt(step)).toBe(true);

  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(shown(ground.files())).toEqual(before);
  expect(shown(ground.ignored())).toEqual(ignored);
  if (git) expect(ground.staged()).toBe(stagedBefore);
  if (git) ground.git("fsck", "--no-dangling", "--strict");
}

function property(kind: Kind, runs: number, change: (told: Story) => Story = (told) => told): Promise<void> {
  return fc.assert(
    fc.asyncProperty(story, (told) => roundTrip(kind, change(told))),
    { numRuns: runs * TIMES, endOnFailure: TIMES === 1 },
  );
}

const LONG = 60_000 * TIMES;

test("any change to any files is undone bit for bit, and redone", () => property({}, 20), LONG);

test("in a folder without git", () => property({ folder: true }, 8), LONG);

const elsewhere = "/dev/shm";
const isElsewhere = existsSync(elsewhere) && statSync(elsewhere).dev !== statSync(tmpdir()).dev;

test.skipIf(!isElsewhere)(
  "with the store on another file system",
  async () => {
    const home = mkdtempSync(join(elsewhere, "backtrail-restore-"));
    try {
      await property({ folder: true, home }, 6);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
  LONG,
);

test("in a SHA-256 repository", () => property({ sha256: true }, 4), LONG);

test("with core.autocrlf=true", () => property({ config: { "core.autocrlf": "true" } }, 8), LONG);

test("with core.autocrlf=input", () => property({ config: { "core.autocrlf": "input" } }, 6), LONG);

test("with eol=crlf", () => property({ attributes: "* text=auto eol=crlf\n" }, 6), LONG);

test(
  "with a filter of the user's own",
  () => {
    const config = { "filter.turn.clean": "tr a-zA-Z n-za-mN-ZA-M", "filter.turn.smudge": "tr a-zA-Z n-za-mN-ZA-M" };
    return property({ config, attributes: "* filter=turn\n" }, 5);
  },
  LONG,
);
