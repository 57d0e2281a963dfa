import { afterEach, expect, setSystemTime, test } from "bun:test";
import { chmodSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { warmPrivateIndex } from "../../src/git/index/private-index.ts";
import { refreshInexact } from "../../src/git/inexact/refresh.ts";
import { loadInexact } from "../../src/git/inexact/state.ts";
import type { Step } from "../../src/model/step.ts";
import { makeFork } from "../../src/restore/fork/make.ts";
import { applyRedo, planRedo } from "../../src/restore/redo.ts";
import { temporaryRepository } from "../support/index.ts";
import { type Kind, Playground } from "../support/restore-sandbox.ts";

afterEach(() => {
  setSystemTime();
});

/** For this process minutes have passed: files are old enough to be known by their times. */
function later(): void {
  setSystemTime(new Date(Date.now() + 60_000));
}

/** One commit with these files. */
async function committed(kind: Kind, files: Record<string, string>): Promise<Playground> {
  const ground = await Playground.make(kind);
  for (const [path, content] of Object.entries(files)) ground.write(path, Buffer.from(content, "latin1"));
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "first");
  return ground;
}

function read(ground: Playground, path: string): string {
  return readFileSync(join(ground.root, path), "latin1");
}

async function redo(ground: Playground): Promise<void> {
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
}

async function forked(ground: Playground, step: Step): Promise<string> {
  const { record } = await makeFork(ground.workspace, { kind: "step", step }, { executable: "backtrail" });
  return record.directory ?? "";
}

const ID = "$Id: 0123456789012345678901234567890123456789 $";

/** Bytes that git takes for what it has stored, and that a checkout would not write. */
const INEXACT: Record<string, { kind: Kind; content: string }> = {
  "LF under core.autocrlf=true": { kind: { config: { "core.autocrlf": "true" } }, content: "#!/bin/sh\necho ok\n" },
  "CRLF under core.autocrlf=input": { kind: { config: { "core.autocrlf": "input" } }, content: "a\r\nb\r\n" },
  "CRLF under text=auto": { kind: { attributes: "* text=auto\n" }, content: "a\r\nb\r\n" },
  "LF under eol=crlf": { kind: { attributes: "* text eol=crlf\n" }, content: "a\nb\n" },
  "CRLF under eol=lf": { kind: { attributes: "* text eol=lf\n" }, content: "a\r\nb\r\n" },
  "mixed line endings": { kind: { attributes: "* text=auto eol=crlf\n" }, content: "a\r\nb\nc\r\n" },
  "LF under text and core.eol=crlf": {
    kind: { attributes: "* text\n", config: { "core.eol": "crlf" } },
    content: "a\nb\n",
  },
  ident: { kind: { attributes: "* ident\n" }, content: `${ID}\nx\n` },
  "a lossy filter": {
    kind: {
      attributes: "* filter=lower\n",
      config: { "filter.lower.clean": "tr A-Z a-z", "filter.lower.smudge": "cat" },
    },
    content: "Mixed Case\n",
  },
  "another encoding": {
    kind: { attributes: "* working-tree-encoding=UTF-16\nb !working-tree-encoding\n" },
    // Little-endian behind a mark; git writes big-endian.
    content: "\xff\xfea\0\n\0",
  },
};

for (const [name, { kind, content }] of Object.entries(INEXACT)) {
  test(`a file that git takes for unchanged comes back byte for byte: ${name}`, async () => {
    using ground = await committed(kind, { "src/a": content, b: "other" });
    expect(ground.git("status", "--porcelain")).toBe("");
    const step = await ground.save();
    ground.write("src/a", "changed");
    const fork = await forked(ground, step);
    expect(readFileSync(join(fork, "src/a"), "latin1")).toBe(content);
    await ground.rewind(step);
    expect(read(ground, "src/a")).toBe(content);
    expect(await ground.isAt(step)).toBe(true);
  });
}

test("after a commit in between, rewind and redo give every byte back", async () => {
  using ground = await committed({ config: { "core.autocrlf": "true" } }, { a: "one\ntwo\n", b: "b\n" });
  const step = await ground.save();
  ground.write("a", "one\r\ntwo\nthree\n");
  ground.git("commit", "--quiet", "--all", "-m", "second");
  const { receipt } = await ground.rewind(step);
  expect([read(ground, "a"), read(ground, "b")]).toEqual(["one\ntwo\n", "b\n"]);
  await redo(ground);
  expect([read(ground, "a"), read(ground, "b")]).toEqual(["one\r\ntwo\nthree\n", "b\n"]);
  expect(receipt.kept).toEqual([]);
});

test("a change of line endings alone is undone", async () => {
  using ground = await committed({ attributes: "* text=auto\n" }, { a: "one\ntwo\n" });
  const step = await ground.save();
  ground.write("a", "one\r\ntwo\r\n");
  // Without this git reports a file of another size as changed.
  ground.git("add", "a");
  expect(ground.git("status", "--porcelain")).toBe("");
  await ground.rewind(step);
  expect(read(ground, "a")).toBe("one\ntwo\n");
  await redo(ground);
  expect(read(ground, "a")).toBe("one\r\ntwo\r\n");
});

test("settings that have changed since do not change what comes back, and touch no other file", async () => {
  using ground = await committed({}, { a: "one\n", b: "two\n" });
  const step = await ground.save();
  ground.write("a", "changed\n");
  ground.git("config", "core.autocrlf", "true");
  const { plan } = await ground.rewind(step);
  expect(plan.write).toEqual(["a"]);
  expect([read(ground, "a"), read(ground, "b")]).toEqual(["one\n", "two\n"]);
  expect(await ground.isAt(step)).toBe(true);
});

test("attributes that have changed since do not change what comes back", async () => {
  using ground = await committed({}, { a: "one\n", b: "two\n" });
  const step = await ground.save();
  ground.write(".gitattributes", "* text eol=crlf\n");
  ground.write("a", "changed\n");
  const { plan } = await ground.rewind(step);
  expect([plan.write, plan.delete]).toEqual([["a"], [".gitattributes"]]);
  expect([read(ground, "a"), read(ground, "b")]).toEqual(["one\n", "two\n"]);
});

test("a step that does not know the bytes of unchanged files leaves those files as they are", async () => {
  using ground = await committed({ config: { "core.autocrlf": "true" } }, { a: "one\n", b: "two\n" });
  const { lineEnds, ...older } = (await ground.save()).snapshot;
  expect(lineEnds).toBe("autocrlf");
  const step = { ...(await ground.save()), snapshot: { ...older, raw: null } };
  chmodSync(join(ground.root, "b"), 0o755);
  ground.write("a", "changed\n");
  const { plan } = await ground.rewind(step);
  expect([plan.write, plan.chmod]).toEqual([["a"], ["b"]]);
  expect(read(ground, "b")).toBe("two\n");
});

test("what changes after the files were looked at is found, with and without a new index", async () => {
  using ground = await committed({ attributes: "* text=auto\n" }, { a: "a\n", b: "b\n", c: "c\n" });
  const exact = async () => {
    const { raw } = (await ground.save()).snapshot;
    return raw === null ? "" : ground.git("ls-tree", "-r", "--name-only", raw).replaceAll("\n", " ");
  };
  later();
  expect(await exact()).toBe("");
  expect(loadInexact(ground.workspace)?.state.recheck).toBe(false);
  ground.write("a", "a\r\n");
  expect(await exact()).toBe("a");
  ground.git("add", "--renormalize", ".");
  ground.git("update-index", "--refresh");
  await warmPrivateIndex(ground.workspace);
  await refreshInexact(ground.workspace);
  expect(await exact()).toBe("a");
  ground.write("b", "b\r\n");
  expect(await exact()).toBe("a b");
  ground.write("a", "a\n");
  ground.git("commit", "--quiet", "--allow-empty", "--all", "-m", "second");
  expect(await exact()).toBe("b");
  ground.write("c", "c changed\n");
  expect(await exact()).toBe("b");
  ground.write("c", "c\r\n");
  expect(await exact()).toBe("b c");
});

test("line endings that move within a file of the same size are found, also after it was changed in between", async () => {
  using ground = await committed(
    { attributes: "* text=auto\n*.id ident\n" },
    { plain: "a\nb\n", mixed: "a\nb\n", swapped: "a\nb\n", "x.id": "$Id$\n" },
  );
  ground.write("mixed", "a\r\nb\n");
  ground.write("swapped", "a\r\nb\n");
  ground.git("add", "--renormalize", ".");
  await warmPrivateIndex(ground.workspace);
  later();
  ground.write("swapped", "something else\n");
  await ground.save();
  const watched = loadInexact(ground.workspace)?.state.watched?.map(({ path }) => path);
  expect(watched?.sort()).toEqual(["mixed", "swapped", "x.id"]);
  ground.write("mixed", "a\nb\r\n");
  ground.write("swapped", "a\nb\r\n");
  ground.write("x.id", "$Id: abc $\n");
  const step = await ground.save();
  for (const path of ["mixed", "swapped", "x.id"]) ground.write(path, "gone\n");
  await ground.rewind(step);
  expect(["mixed", "swapped", "x.id"].map((path) => read(ground, path))).toEqual([
    "a\nb\r\n",
    "a\nb\r\n",
    "$Id: abc $\n",
  ]);
});

test("bytes of a private file are kept in the private store", async () => {
  using ground = await committed({ attributes: "* text=auto\n" }, { key: "secret\n" });
  ground.write("key", "secret\r\n");
  chmodSync(join(ground.root, "key"), 0o600);
  const step = await ground.save();
  expect(step.snapshot.shared?.raw).toBeNull();
  expect(step.snapshot.raw).not.toBeNull();
  ground.write("key", "changed\n");
  await ground.rewind(step);
  expect(read(ground, "key")).toBe("secret\r\n");
  expect(statSync(join(ground.root, "key")).mode & 0o777).toBe(0o600);
});

test("through the commands, as a shell script that no longer starts with CRLF", async () => {
  using repository = temporaryRepository();
  repository.write("run.sh", "#!/bin/sh\necho ok\n");
  repository.commit("script");
  repository.git("config", "core.autocrlf", "true");
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "s1"]);
  repository.write("run.sh", "#!/bin/sh\necho agent\n");
  await repository.run(["rewind", "s1", "--yes"]);
  expect(repository.read("run.sh")).toBe("#!/bin/sh\necho ok\n");
  await repository.run(["redo", "--yes"]);
  expect(repository.read("run.sh")).toBe("#!/bin/sh\necho agent\n");
});

/** More in a long run: BACKTRAIL_RUNS=50 multiplies what the quick suite does. */
const TIMES = Number(process.env["BACKTRAIL_RUNS"] ?? 1);

const end = fc.constantFrom("\n", "\r\n", "\r", "");
const text = fc
  .array(fc.tuple(fc.constantFrom("a", "B", "$Id$", ID, "\0", "é"), end), { maxLength: 4 })
  .map((lines) => lines.map(([line, ending]) => line + ending).join(""));
const attributes = fc
  .array(
    fc.tuple(
      fc.constantFrom("*", "*.x", "a", "d/*"),
      fc.constantFrom(
        "text",
        "text=auto",
        "-text",
        "eol=crlf",
        "eol=lf",
        "text=auto eol=crlf",
        "ident",
        "filter=lower",
      ),
    ),
    { maxLength: 3 },
  )
  .map((rules) => rules.map((rule) => `${rule.join(" ")}\n`).join(""));
const story = fc.record({
  autocrlf: fc.constantFrom("true", "input", "false"),
  eol: fc.constantFrom("lf", "crlf", "native"),
  own: attributes,
  tracked: attributes,
  first: fc.record({ a: text, "b.x": text, "d/c": text }),
  second: fc.record({ a: text, "b.x": text, "d/c": text }),
  /** Written after the files were looked at once. */
  between: fc.option(fc.record({ a: text, "b.x": text, "d/c": text })),
  /** Times are put back, as some tools do, so that git looks no further. */
  third: fc.option(text),
  commit: fc.boolean(),
});

test(
  "whatever git converts, rewind, redo and fork give every byte back",
  async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ autocrlf, eol, own, tracked, first, second, between, third, commit }) => {
        const config = { "core.autocrlf": autocrlf, "core.eol": eol, "filter.lower.clean": "tr A-Z a-z" };
        using ground = await committed({ config, attributes: own }, { ".gitattributes": tracked, ...first });
        if (between !== null) {
          later();
          await ground.save();
          for (const [path, content] of Object.entries(between)) ground.write(path, Buffer.from(content, "latin1"));
        }
        if (third !== null) {
          ground.write("a", Buffer.from(third, "latin1"));
          utimesSync(join(ground.root, "a"), 1, 1);
        }
        const bytes = () => Object.keys(first).map((path) => read(ground, path));
        const then = bytes();
        const step = await ground.save();
        for (const [path, content] of Object.entries(second)) ground.write(path, Buffer.from(content, "latin1"));
        if (commit) ground.git("commit", "--quiet", "--allow-empty", "--all", "-m", "second");
        const now = bytes();
        const fork = await forked(ground, step);
        expect(Object.keys(first).map((path) => readFileSync(join(fork, path), "latin1"))).toEqual(then);
        const { receipt } = await ground.rewind(step);
        expect(bytes()).toEqual(then);
        expect(await ground.isAt(step)).toBe(true);
        await redo(ground);
        expect(bytes()).toEqual(now);
        expect(receipt.kept).toEqual([]);
      }),
      { numRuns: 10 * TIMES },
    );
  },
  120_000 * TIMES,
);

test("files come back as they were when git's settings for line ends have changed since", async () => {
  using ground = await committed({}, { "a.txt": "1\n2\n", "b.txt": "x\n", "data.bin": "\0\n" });
  const lf = await ground.save();
  ground.git("config", "core.autocrlf", "true");
  ground.write("a.txt", "1\r\n2\r\n");
  const crlf = await ground.save();

  const { plan } = await ground.rewind(lf);
  expect(plan.write).toEqual(["a.txt"]);
  expect([read(ground, "a.txt"), read(ground, "b.txt")]).toEqual(["1\n2\n", "x\n"]);
  await redo(ground);
  expect([read(ground, "a.txt"), read(ground, "b.txt")]).toEqual(["1\r\n2\r\n", "x\n"]);
  expect(readFileSync(join(await forked(ground, lf), "a.txt"), "latin1")).toBe("1\n2\n");

  ground.git("config", "core.autocrlf", "false");
  await ground.rewind(crlf);
  expect(read(ground, "a.txt")).toBe("1\r\n2\r\n");
  await ground.rewind(lf);
  expect(read(ground, "a.txt")).toBe("1\n2\n");
});

test("files come back as they were when the attributes have changed since", async () => {
  using ground = await committed({}, { "a.txt": "1\n2\n", "data.bin": "\0\n" });
  const before = await ground.save();
  ground.write(".gitattributes", "*.txt text eol=crlf\n");
  ground.write("a.txt", "1\r\n2\r\n");
  const after = await ground.save();
  expect((await ground.rewind(before)).plan.write).toEqual(["a.txt"]);
  expect(read(ground, "a.txt")).toBe("1\n2\n");
  expect([...(await ground.rewind(after)).plan.write].sort()).toEqual([".gitattributes", "a.txt"]);
  expect(read(ground, "a.txt")).toBe("1\r\n2\r\n");
});
