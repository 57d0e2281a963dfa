/** The commit that `rewind --reset-head` leaves is held as long as its safety step, also where there are no reflogs. */
import { expect, test } from "bun:test";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

/** The work tree of a bare repository, in which nothing is logged. */
function worktreeOfBare(repository: TemporaryRepository): string {
  const bare = `${repository.path}.git`;
  const worktree = `${repository.path}-worktree`;
  repository.git("clone", "--quiet", "--bare", repository.path, bare);
  repository.git("--git-dir", bare, "config", "core.logAllRefUpdates", "false");
  repository.git("--git-dir", bare, "worktree", "add", "--quiet", worktree, "main");
  return worktree;
}

async function rewound(repository: TemporaryRepository, cwd: string): Promise<string> {
  const git = (...args: string[]) => repository.git("-C", cwd, ...args);
  await repository.run(["enable", "--agent", "claude-code"], { cwd });
  await repository.run(["save", "start"], { cwd });
  git("commit", "--quiet", "--allow-empty", "--message", "My commit");
  const commit = git("rev-parse", "HEAD");
  expect((await repository.run(["rewind", "start", "--reset-head", "--yes"], { cwd })).code).toBe(0);
  expect(git("log", "-1", "--format=%s")).toBe("first");
  return commit;
}

for (const [where, placeOf] of [
  ["a repository that logs nothing", (repository: TemporaryRepository) => repository.path],
  ["a work tree of a bare repository", worktreeOfBare],
] as const) {
  test(`${where}: it outlives gc, and redo goes back to it`, async () => {
    using repository = temporaryRepository();
    repository.git("config", "core.logAllRefUpdates", "false");
    const cwd = placeOf(repository);
    const git = (...args: string[]) => repository.git("-C", cwd, ...args);
    const commit = await rewound(repository, cwd);
    git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all");
    git("gc", "--quiet", "--prune=now");
    expect(git("cat-file", "-t", commit)).toBe("commit");
    expect((await repository.run(["redo", "--yes"], { cwd })).code).toBe(0);
    expect(git("rev-parse", "HEAD")).toBe(commit);
  });
}

test("it expires with the safety step, and not before", async () => {
  using repository = temporaryRepository();
  repository.git("config", "core.logAllRefUpdates", "false");
  await rewound(repository, repository.path);
  const held = () => repository.git("for-each-ref", "--format=%(subject)", "refs/backtrail/left");
  const clean = (days: number) =>
    repository.run(["clean", "--yes"], { minute: days * 24 * 60, env: { BACKTRAIL_WORKER: "off" } });
  await clean(1);
  expect(held()).toBe("My commit");
  await clean(400);
  expect(held()).toBe("");
});
