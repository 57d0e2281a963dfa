/** What comes from a remote may be anything: refused with the reason, or carried along unread and shown safely. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { commitFiles, exampleCheckpoint, ID } from "../checkpoints/branch.ts";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { BRANCH, checkpointsIn, Shared, work } from "./synced.ts";

/** A tree by its raw entries, as no git would write it. */
function rawTree(repository: TemporaryRepository, entries: [mode: string, name: string, id: string][]): string {
  const parts = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
  );
  return execFileSync("git", ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], {
    cwd: repository.path,
    env: repository.environment(),
    input: Buffer.concat(parts),
  })
    .toString()
    .trim();
}

/** Puts a commit of that tree onto the remote's branch. */
function publish(shared: Shared, evil: TemporaryRepository, tree: string): void {
  const commit = evil.git("commit-tree", tree, "-m", "Checkpoint");
  evil.git("push", "--quiet", "--force", shared.path, `${commit}:${BRANCH}`);
}

interface Place extends Disposable {
  shared: Shared;
  evil: TemporaryRepository;
  bob: TemporaryRepository;
}

async function place(): Promise<Place> {
  const shared = new Shared();
  const evil = temporaryRepository();
  const bob = await shared.machine();
  const done = () => {
    evil.remove();
    shared[Symbol.dispose]();
  };
  return { shared, evil, bob, [Symbol.dispose]: done };
}

function packs(repository: TemporaryRepository): string[] {
  return readdirSync(repository.at(".git/objects/pack"));
}

test("paths that lead out, and names that git itself would trip over, are refused and leave nothing behind", async () => {
  using here = await place();
  const { shared, evil, bob } = here;
  const blob = evil.git("hash-object", "-w", "--stdin");
  for (const name of ["..", ".git", "a/b", "."]) {
    const inner = rawTree(evil, [["100644", name, blob]]);
    publish(shared, evil, rawTree(evil, [["40000", "aa", inner]]));
    const before = packs(bob);
    const result = await bob.run(["sync", "fetch"]);
    expect({ name, code: result.code }).toEqual({ name, code: 4 });
    expect(result.stderr).toMatch(/error: The branch entire\/checkpoints\/v1 of origin was refused: .*fsck error/);
    expect(packs(bob)).toEqual(before);
    expect(bob.git("for-each-ref", "refs/heads/entire", "refs/backtrail/sync")).toBe("");
    expect(readdirSync(bob.at(".git/backtrail/sync")).filter((name) => name.startsWith("incoming"))).toEqual([]);
  }
});

test("a file too large for any checkpoint is refused, and the local branch stays as it was", async () => {
  using here = await place();
  const { shared, evil, bob } = here;
  const own = await work(bob, "Mine", "mine.txt");
  const tip = bob.checkpoints("rev-parse", BRANCH);
  evil.git("config", "core.compression", "0");
  const large = evil.at("large");
  writeFileSync(large, Buffer.alloc(101 * 1024 * 1024));
  const blob = evil.git("hash-object", "-w", large);
  publish(shared, evil, rawTree(evil, [["40000", "aa", rawTree(evil, [["100644", "x", blob]])]]));
  const before = packs(bob);
  const result = await bob.run(["sync", "fetch"]);
  expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining("It sends a blob of 101 MiB.") });
  expect(packs(bob)).toEqual(before);
  expect(bob.checkpoints("rev-parse", BRANCH)).toBe(tip);
  expect(checkpointsIn(bob.checkpoints.bind(bob))).toEqual([own]);
});

test("invalid checkpoints are kept, and reported when they are read", async () => {
  using here = await place();
  const { shared, evil, bob } = here;
  const own = await work(bob, "Mine", "mine.txt");
  const files = exampleCheckpoint(() => "");
  commitFiles(evil, BRANCH, {
    ...files,
    "a3/b2c4d5e6f7/0/prompt.txt": "\u001b]0;owned\u0007\u001b[2JDelete everything\u202e",
    "a3/b2c4d5e6f7/0/full.jsonl.001": { link: "../../../../../../etc/passwd" },
    "bb/0123456789/metadata.json": "{ no JSON",
    "cc/0123456789/metadata.json": JSON.stringify({ checkpoint_id: "../../x", sessions: "many" }),
    "not-an-id/zz/metadata.json": "{}",
    [`${own.slice(0, 2)}/${own.slice(2)}/metadata.json`]: "{ no JSON",
    [`${own.slice(0, 2)}/${own.slice(2)}/0/metadata.json`]: JSON.stringify({
      session_id: "forged",
      checkpoints_count: 1e9,
    }),
    "README.md": "read me\n",
  });
  evil.git("push", "--quiet", "--force", shared.path, `${BRANCH}:${BRANCH}`);
  const fetched = await bob.json<{ fetched: string[]; joined: boolean }>(["sync", "fetch"]);
  expect(fetched.joined).toBe(true);
  expect(fetched.fetched.sort()).toEqual([ID, "bb0123456789", "cc0123456789", own].sort());
  // Ours has kept its session and its conversation; the forged one stands beside it.
  const explained = await bob.json<{ checkpoints: { sessions: { prompts: string[] }[] }[] }>(["explain", own]);
  expect(explained.checkpoints[0]?.sessions.map(({ prompts }) => prompts)).toEqual([["Mine"], []]);
  const shown = await bob.run(["explain", ID, "--conversation"]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain("Delete everything");
  expect(shown.stdout).toContain("it is not a plain file");
  for (const unsafe of ["\u001b", "\u0007", "\u202e"]) expect(shown.stdout + shown.stderr).not.toContain(unsafe);
  expect(await bob.run(["explain", "bb0123456789"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("not valid JSON"),
  });
  expect(await bob.run(["explain", "cc0123456789"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("not a checkpoint id"),
  });
  // What is no checkpoint is somebody's: it goes back as it came.
  await bob.json(["sync", "push", "origin"]);
  expect(shared.git("cat-file", "-p", `${BRANCH}:README.md`)).toBe("read me");
  expect(shared.git("ls-tree", "-r", "--name-only", BRANCH)).toContain("not-an-id/zz/metadata.json");
  expect(bob.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test("a branch that is not a commit, and refs with unexpected names", async () => {
  using here = await place();
  const { shared, evil, bob } = here;
  const blob = evil.git("hash-object", "-w", "README.md");
  evil.git("tag", "--annotate", "--message", "x", "tagged", blob);
  shared.git("fetch", "--quiet", evil.path, "refs/tags/tagged:refs/entire/checkpoints/Z0/01JABCDEFGHJKMNPQRSTVWXYZ0");
  const result = await bob.run(["sync", "fetch"]);
  expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining("It sends a tag") });
  expect(bob.git("for-each-ref", "refs/entire")).toBe("");
});

test("a remote whose answer never ends is cut off", async () => {
  using here = await place();
  const { shared, bob } = here;
  // The beginning of an advertisement as git sends it, and then one more ref, for ever.
  const script = `#!/bin/sh
exec perl -e '$| = 1; sub p { printf("%04x%s", length($_[0]) + 4, $_[0]) } p(("1" x 40) . " HEAD\\0 \\n"); for (;;) { p(("1" x 40) . " refs/heads/" . ("x" x 900) . $i++ . "\\n") }'
`;
  const ssh = shared.write("ssh", script);
  Bun.spawnSync(["chmod", "755", ssh]);
  const result = await bob.run(["sync", "fetch", "ssh://localhost/x.git"], {
    env: { GIT_SSH_COMMAND: ssh, BACKTRAIL_PUSH_TIMEOUT: "2" },
  });
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("did not answer within 2 seconds") });
});

test("a ref that would be read before a checkpoint of ours is left alone", async () => {
  using here = await place();
  const { shared, evil, bob } = here;
  const own = await work(bob, "Mine", "mine.txt");
  const ref = `refs/entire/checkpoints/${own.slice(-2)}/${own}`;
  commitFiles(evil, ref, { "metadata.json": JSON.stringify({ checkpoint_id: own, sessions: [] }) });
  evil.git("push", "--quiet", shared.path, `${ref}:${ref}`);
  expect(await bob.json(["sync", "fetch"])).toMatchObject({ refs: { added: 0, left: 1 } });
  expect((await bob.run(["explain", own])).stdout).toContain("Mine");
});
