import { expect, test } from "bun:test";
import fc from "fast-check";
import { temporaryRepository } from "../../test/support/index.ts";
import "../../test/support/seed.ts";
import { openObjects } from "../checkpoints/write/write.ts";
import { EXECUTABLE_MODE, FILE_MODE, type TreeEntry } from "../git/objects/trees.ts";
import type { Snapshot } from "../git/snapshot/snapshot.ts";
import { createWorkspace } from "../git/workspace.ts";
import { type SeparatedChanges, separateChanges } from "./turn-changes.ts";

type Files = Record<string, string>;

interface Case {
  head: Files;
  staged?: Files;
  /** The work tree before and after the turn, and now. */
  before: Files;
  after: Files;
  now?: Files;
}

interface Separated {
  commit: Files;
  staged: Files;
  left: string[];
}

class Repository implements Disposable {
  readonly #repository = temporaryRepository();

  async separate({ head, staged = head, before, after, now = after }: Case): Promise<Separated> {
    const workspace = await createWorkspace(this.#repository.path);
    const objects = openObjects(workspace);
    try {
      const tree = (files: Files) => {
        const entries = Object.entries(files).map(([path, content]): [string, TreeEntry] => {
          const id = objects.writer.add("blob", Buffer.from(content));
          return [path, { mode: path.endsWith(".sh") ? EXECUTABLE_MODE : FILE_MODE, id }];
        });
        return objects.trees.apply(null, new Map(entries));
      };
      const present = { work: await tree(now), index: await tree(staged), unmerged: [] } as unknown as Snapshot;
      const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
      const own = paths.filter((path) => before[path] !== after[path]);
      const turn = { before: await tree(before), after: await tree(after), paths: own };
      const changes = await separateChanges(workspace, objects, await tree(head), present, [turn], own);
      objects.writer.flush();
      return this.#shown(changes);
    } finally {
      objects.reader.close();
    }
  }

  #shown({ commit, staged, left }: SeparatedChanges): Separated {
    const files = (entries: ReadonlyMap<string, TreeEntry | null>) =>
      Object.fromEntries([...entries].map(([path, entry]) => [path, entry ? this.#blob(entry.id) : "gone"]));
    return { commit: files(commit), staged: files(staged), left: left.map(({ path }) => path) };
  }

  #blob(id: string): string {
    // `git` gives it without its last line end.
    return this.#repository.git("cat-file", "blob", id);
  }

  [Symbol.dispose](): void {
    this.#repository.remove();
  }
}

test("a file that only the turn changed is committed as it is", async () => {
  using repository = new Repository();
  const head = { "a.txt": "a", "b.txt": "b" };
  const after = { "a.txt": "A", "new.sh": "new" };
  expect(await repository.separate({ head, before: head, after })).toEqual({
    commit: { "a.txt": "A", "b.txt": "gone", "new.sh": "new" },
    staged: { "a.txt": "A", "b.txt": "gone", "new.sh": "new" },
    left: [],
  });
});

test("what the user has staged and changed in the same file stays out of the commit", async () => {
  using repository = new Repository();
  const found = await repository.separate({
    head: { f: "1\n2\n3" },
    staged: { f: "STAGED\n2\n3" },
    before: { f: "STAGED\n2\nUNSTAGED" },
    after: { f: "STAGED\nTURN\nUNSTAGED" },
  });
  expect(found).toEqual({ commit: { f: "1\nTURN\n3" }, staged: { f: "STAGED\nTURN\n3" }, left: [] });
});

test("a line that both have changed leaves its file to the user, and no other", async () => {
  using repository = new Repository();
  const found = await repository.separate({
    head: { f: "1\n2\n3", g: "g" },
    before: { f: "1\nUSER\n3", g: "g" },
    after: { f: "1\nUSER AND TURN\n3", g: "G" },
  });
  expect(found).toEqual({ commit: { g: "G" }, staged: { g: "G" }, left: ["f"] });
});

test("a staged change of the same line leaves the file to the user", async () => {
  using repository = new Repository();
  const head = { f: "1\n2\n3" };
  const found = await repository.separate({
    head,
    staged: { f: "1\nSTAGED\n3" },
    before: head,
    after: { f: "1\nTURN\n3" },
  });
  expect(found).toEqual({ commit: {}, staged: {}, left: ["f"] });
});

test("a turn that was undone or changed since is not committed behind the user's back", async () => {
  using repository = new Repository();
  const head = { f: "1\n2\n3" };
  const turn = { head, before: head, after: { f: "1\nTURN\n3" } };
  expect(await repository.separate({ ...turn, now: { f: "1\n2\nUSER" } })).toMatchObject({ commit: {}, left: ["f"] });
  expect(await repository.separate({ ...turn, now: { f: "1\nUSER\n3" } })).toMatchObject({ commit: {}, left: ["f"] });
  const found = await repository.separate({ ...turn, now: { f: "1\nTURN\nUSER" } });
  expect(found).toEqual({ commit: { f: "1\nTURN\n3" }, staged: { f: "1\nTURN\n3" }, left: [] });
});

test("a file that was moved is committed without what the user had changed in it", async () => {
  using repository = new Repository();
  const text = (last: string) => `${Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n")}\n${last}`;
  const found = await repository.separate({
    head: { "old.txt": text("last") },
    before: { "old.txt": text("USER") },
    after: { "new.txt": text("USER") },
  });
  expect(found).toMatchObject({ commit: { "old.txt": "gone", "new.txt": text("last") }, left: [] });
});

test("staged changes of a moved file move with it", async () => {
  using repository = new Repository();
  const text = (last: string) => `${Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n")}\n${last}`;
  const found = await repository.separate({
    head: { "old.txt": text("last") },
    staged: { "old.txt": text("STAGED") },
    before: { "old.txt": text("STAGED") },
    after: { "new.txt": text("STAGED") },
  });
  expect(found).toEqual({
    commit: { "old.txt": "gone", "new.txt": text("last") },
    staged: { "old.txt": "gone", "new.txt": text("STAGED") },
    left: [],
  });
});

test("a file is not removed where another one of the turn waits: it may have been moved there", async () => {
  using repository = new Repository();
  const head = { "old.txt": "old" };
  const found = await repository.separate({
    head,
    before: head,
    after: { "new.txt": "nothing like it" },
    now: { "new.txt": "changed since" },
  });
  expect(found).toEqual({ commit: {}, staged: {}, left: ["new.txt", "old.txt"] });
});

test("a directory replaced by a link waits, with its files", async () => {
  using repository = new Repository();
  const found = await repository.separate({
    head: { "place/a": "a", "place/b": "b" },
    before: { "place/a": "USER", "place/b": "b" },
    after: { place: "elsewhere" },
  });
  expect(found).toEqual({ commit: {}, staged: {}, left: ["place", "place/a", "place/b"] });
});

const LINES = 8;
const WHO = ["head", "staged", "unstaged", "turn"] as const;

test("for any mix of changed lines, the commit has only the turn's lines, and staged changes stay staged", async () => {
  using repository = new Repository();
  const owners = fc.array(fc.constantFrom(...WHO), { minLength: LINES, maxLength: LINES });
  await fc.assert(
    fc.asyncProperty(owners, async (owner) => {
      const text = (...others: string[]) =>
        owner.map((who, i) => (others.includes(who) ? `${who} ${i}` : `line ${i}`)).join("\n");
      const before = text("staged", "unstaged");
      const after = text("staged", "unstaged", "turn");
      if (before === after) return;
      const found = await repository.separate({
        head: { f: text() },
        staged: { f: text("staged") },
        before: { f: before },
        after: { f: after },
      });
      expect(found).toEqual({ commit: { f: text("turn") }, staged: { f: text("staged", "turn") }, left: [] });
    }),
    { numRuns: 25 },
  );
}, 60_000);
