/** Two machines, one remote: what one pushes the other explains, and nothing of either is ever lost. */
import { expect, test } from "bun:test";
import { basename } from "node:path";
import { commitFiles, exampleCheckpoint } from "../checkpoints/branch.ts";
import { ScriptedClaude, Story, temporaryFolder, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, inCheckpoint, settled } from "./commits.ts";
import { BRANCH, checkpointsIn, Shared, work } from "./synced.ts";

test("what one machine pushes, another fetches, explains, and knows the lines of", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  const id = await work(ada, "Add a greeting", "hello.txt");
  expect(await ada.json(["sync", "push", "origin"])).toEqual({ remote: "origin", pushed: [id], fetched: [] });
  expect(shared.git("rev-parse", BRANCH)).toBe(ada.checkpoints("rev-parse", BRANCH));
  ada.git("push", "--quiet", "origin", "main");

  const bob = await shared.machine();
  // A clone brings remote branches along; `fetch` is what makes them one's own.
  bob.git("update-ref", "-d", "refs/remotes/origin/entire/checkpoints/v1");
  const before = await bob.run(["explain"]);
  expect(before.code).toBe(3);
  expect(before.stderr).toContain("backtrail sync fetch");
  expect(await bob.json(["sync", "fetch"])).toEqual({
    remote: "origin",
    fetched: [id],
    joined: false,
    refs: { added: 0, left: 0 },
  });
  expect(bob.checkpoints("rev-parse", BRANCH)).toBe(ada.checkpoints("rev-parse", BRANCH));
  const explained = await bob.json<{ checkpoints: { id: string; sessions: { prompts: string[] }[] }[] }>(["explain"]);
  expect(explained.checkpoints[0]).toMatchObject({ id, sessions: [{ prompts: ["Add a greeting"] }] });
  expect(await bob.json(["why", "hello.txt:1"])).toMatchObject({
    checkpoint: id,
    turn: 1,
    prompt: "Add a greeting",
    response: "There it is.",
    step: null,
  });
  expect(bob.git("status", "--porcelain")).toBe("");
  expect(bob.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test("commits that a rebase melted into one are known by all their checkpoints on the other machine too", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  const claude = new ScriptedClaude(ada);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  ada.commit("Greet");
  await claude.turn("Add a farewell", [write("hello.txt", "hello\nbye\n")]);
  ada.commit("fixup! Greet");
  await settled(ada);
  const ids = ["HEAD~", "HEAD"].flatMap((commit) => checkpointsOf(ada, commit));
  ada.git("-c", "sequence.editor=true", "rebase", "--quiet", "--interactive", "--autosquash", "HEAD~2");
  await settled(ada);
  await ada.json(["sync", "push", "origin"]);
  ada.git("push", "--quiet", "origin", "main");
  const bob = await shared.machine();
  await bob.json(["sync", "fetch"]);
  expect(checkpointsOf(bob, "HEAD")).toEqual(ids.slice(0, 1));
  const told = (line: number) => bob.json(["why", `hello.txt:${line}`]);
  expect(await told(1)).toMatchObject({ checkpoint: ids[0], turn: 1, prompt: "Add a greeting" });
  expect(await told(2)).toMatchObject({ checkpoint: ids[1], turn: 2, prompt: "Add a farewell" });
  const { checkpoints } = await bob.json<{ checkpoints: { id: string }[] }>(["explain"]);
  expect(checkpoints.map(({ id }) => id)).toEqual(ids);
});

test("two machines that worked apart are joined, each with everything", async () => {
  using shared = new Shared();
  const [ada, bob] = [await shared.machine(), await shared.machine()];
  const first = await work(ada, "By Ada", "ada.txt");
  const second = await work(bob, "By Bob", "bob.txt");
  await ada.json(["sync", "push", "origin"]);
  // Neither history knows of the other.
  expect(await bob.json(["sync", "push", "origin"])).toEqual({ remote: "origin", pushed: [second], fetched: [first] });
  const third = await work(ada, "By Ada again", "ada2.txt");
  const fourth = await work(bob, "By Bob again", "bob2.txt");
  await bob.json(["sync", "push", "origin"]);
  expect(await ada.json(["sync", "fetch"])).toMatchObject({
    fetched: expect.arrayContaining([second, fourth]),
    joined: true,
  });
  await ada.json(["sync", "push", "origin"]);
  await bob.json(["sync", "fetch"]);
  const all = [first, second, third, fourth].sort();
  for (const git of [shared.git.bind(shared), ada.checkpoints.bind(ada), bob.checkpoints.bind(bob)])
    expect(checkpointsIn(git)).toEqual(all);
  expect(
    new Set([
      shared.git("rev-parse", BRANCH),
      ada.checkpoints("rev-parse", BRANCH),
      bob.checkpoints("rev-parse", BRANCH),
    ]).size,
  ).toBe(1);
  // Every commit that ever was on a branch is still part of it.
  expect(shared.git("log", "--format=%s", BRANCH).split("\n").sort()).toEqual(
    [...all.map((id) => `Checkpoint: ${id}`), "Merge checkpoints", "Merge checkpoints"].sort(),
  );
  expect(ada.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test("a checkpoint that was pushed early and completed later is completed on the other machine too", async () => {
  using shared = new Shared();
  const [ada, bob] = [await shared.machine(), await shared.machine()];
  const claude = new ScriptedClaude(ada);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  ada.commit("Greet");
  await settled(ada);
  const [id = ""] = checkpointsOf(ada, "HEAD");
  await ada.json(["sync", "push", "origin"]);
  await bob.json(["sync", "fetch"]);
  const other = await work(bob, "By Bob", "bob.txt");
  await claude.turn("Louder", [write("hello.txt", "HELLO\n")]);
  ada.git("add", "--all");
  ada.git("commit", "--quiet", "--amend", "--no-edit");
  await settled(ada);
  await ada.json(["sync", "push", "origin"]);
  await bob.json(["sync", "push", "origin"]);
  await ada.json(["sync", "fetch"]);
  for (const machine of [ada, bob]) {
    expect(inCheckpoint(machine, id, "0/prompt.txt")).toBe("Add a greeting\n\n---\n\nLouder");
    expect(checkpointsIn(machine.checkpoints.bind(machine))).toEqual([id, other].sort());
  }
});

test("a remote that moves between the look and the push is looked at again", async () => {
  using shared = new Shared();
  const [ada, bob] = [await shared.machine(), await shared.machine()];
  const first = await work(ada, "By Ada", "ada.txt");
  const second = await work(bob, "By Bob", "bob.txt");
  await ada.run(["sync", "push", shared.at("elsewhere.git")]);
  // The server takes Bob's while it is looking at Ada's.
  bob.checkpoints("push", "--quiet", shared.path, `${BRANCH}:refs/heads/waiting`);
  shared.hook(
    "update",
    `[ -e "${shared.at("once")}" ] && exit 0; touch "${shared.at("once")}"; git update-ref ${BRANCH} refs/heads/waiting; exit 0`,
  );
  const result = await ada.json<{ fetched: string[] }>(["sync", "push", "origin"]);
  expect(result.fetched).toEqual([second]);
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([first, second].sort());
});

test("a remote that lost checkpoints gets them back, and no other repository loses them", async () => {
  using shared = new Shared();
  const [ada, bob] = [await shared.machine(), await shared.machine()];
  const first = await work(ada, "By Ada", "ada.txt");
  await ada.json(["sync", "push", "origin"]);
  await bob.json(["sync", "fetch"]);
  // A commit on top that takes everything away.
  const empty = shared.git("hash-object", "-t", "tree", "/dev/null");
  shared.git("-c", "user.name=x", "-c", "user.email=x@x", "update-ref", BRANCH, commitOn(shared, empty));
  expect(await bob.json(["sync", "fetch"])).toMatchObject({ fetched: [], joined: true });
  expect(checkpointsIn(bob.checkpoints.bind(bob))).toEqual([first]);
  await bob.json(["sync", "push", "origin"]);
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([first]);
});

test("a repository by its address, without a remote", async () => {
  using shared = new Shared();
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const id = await work(repository, "Add a greeting", "hello.txt");
  repository.write("below/x", "");
  const result = await repository.run(["sync", "push", `${shared.path}/../${basename(shared.path)}`], { cwd: "below" });
  expect(result).toMatchObject({ code: 0, stdout: "" });
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([id]);
  expect(repository.git("remote")).toBe("");
  expect(repository.git("branch", "-a")).not.toContain("remotes");
});

test("checkpoints of the newer layout are fetched, and one that differs here is left alone", async () => {
  using shared = new Shared();
  using other = temporaryRepository();
  const bob = await shared.machine();
  const ULID = "01JABCDEFGHJKMNPQRSTVWXYZ0";
  const ref = `refs/entire/checkpoints/${ULID.slice(-2)}/${ULID}`;
  const files = exampleCheckpoint(() => "");
  const inside = Object.fromEntries(
    Object.entries(files).map(([path, content]) => [
      path.slice("a3/b2c4d5e6f7/".length),
      content.replaceAll('"a3b2c4d5e6f7"', `"${ULID}"`),
    ]),
  );
  commitFiles(other, ref, inside);
  other.git("push", "--quiet", shared.path, `${ref}:${ref}`, `${ref}:refs/entire/checkpoints/zz/evil`);
  expect(await bob.json(["sync", "fetch"])).toMatchObject({ refs: { added: 1, left: 0 } });
  expect(await bob.json(["explain", ULID])).toMatchObject({ checkpoints: [{ id: ULID, layout: "ref" }] });
  const again = await bob.run(["sync", "fetch"]);
  expect(again.stderr).toContain("Every checkpoint of origin is here.");
  expect((await bob.run(["sync", "status"])).stdout).toStartWith("1 checkpoint here; origin had them all.");
  const hidden = (...args: string[]) => bob.git("--git-dir", ".git/backtrail/private.git", ...args);
  expect(bob.git("for-each-ref", "refs/entire")).toBe("");
  expect(hidden("for-each-ref", "--format=%(refname)", "refs/entire")).toBe(ref);
  hidden("update-ref", ref, bob.git("rev-parse", "HEAD"));
  expect(await bob.json(["sync", "fetch"])).toMatchObject({ refs: { added: 0, left: 1 } });
  expect(hidden("rev-parse", ref)).toBe(bob.git("rev-parse", "HEAD"));
});

test("another tool's branch with a secret is not pushed until the user agrees", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  const secret = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");
  const files = { ...exampleCheckpoint(() => "") };
  files["a3/b2c4d5e6f7/0/full.jsonl"] += `${JSON.stringify({ type: "user", message: { content: `Use ${secret}` } })}\n`;
  files["a3/b2c4d5e6f7/1/prompt.txt"] = `And ${secret}`;
  commitFiles(ada, BRANCH, files);
  const refused = await ada.run(["sync", "push", "origin"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("a3/b2c4d5e6f7/0/full.jsonl (");
  expect(refused.stderr).toContain("a3/b2c4d5e6f7/1/prompt.txt (");
  expect(refused.stderr).not.toContain(secret);
  expect(shared.git("for-each-ref", "refs/heads/entire")).toBe("");
  await ada.run(["config", "set", "redaction.allow", secret]);
  expect((await ada.run(["sync", "push", "origin"])).code).toBe(0);
  // The rules have changed since: what was found clean is looked at again, but only what the other side does not have.
  await ada.run(["config", "unset", "redaction.allow"]);
  expect((await ada.run(["sync", "push", "origin"])).code).toBe(0);
  const again = await ada.run(["sync", "push", shared.at("other.git")]);
  expect(again.code).toBe(1);
  ada.git("init", "--quiet", "--bare", shared.at("other.git"));
  expect((await ada.run(["sync", "push", shared.at("other.git")])).code).toBe(4);
  expect((await ada.run(["sync", "push", shared.at("other.git"), "--anyway"])).code).toBe(0);
});

test("what the commands say", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  const story = new Story(ada);
  await story.run(["sync", "push"]);
  await story.run(["sync"]);
  await story.run(["sync", "fetch"]);
  await story.run(["sync", "push", "origin"]);
  await work(ada, "Add a greeting", "hello.txt");
  await story.run(["sync", "push", "origin"]);
  await story.run(["sync", "push", "origin"]);
  await story.run(["sync", "status", "origin"]);
  await story.run(["sync", "push", "nowhere"]);
  await story.run(["sync", "push", "--upload-pack=evil"]);
  expect(story.toString()).toMatchSnapshot();
  const secret = await ada.run(["sync", "fetch", "https://ada:secret@localhost:1/x.git"]);
  expect(secret.code).toBe(1);
  expect(secret.stderr).toStartWith("error: https://localhost:1/x.git could not be reached: ");
  expect(secret.stderr).not.toContain("secret");
});

test("a folder without git has nothing to sync", async () => {
  using folder = temporaryFolder();
  await folder.run(["enable", "--agent", "claude-code"]);
  expect(await folder.run(["sync", "fetch"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("not a git repository"),
  });
});

function commitOn(shared: Shared, tree: string): string {
  return shared.git("-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", tree, "-p", BRANCH, "-m", "Gone");
}

test("a forgotten conversation does not come back from a machine that still has it", async () => {
  using shared = new Shared();
  const [ada, bob] = [await shared.machine(), await shared.machine()];
  const id = await work(ada, "Call it falcon", "falcon.txt");
  await ada.json(["sync", "push", "origin"]);
  await bob.json(["sync", "fetch"]);
  const { sessions } = await ada.json<{ sessions: { id: string }[] }>(["status"]);
  const said = () =>
    ada.checkpoints("grep", "--all-match", "-e", "Call it", BRANCH, "--", `${id.slice(0, 2)}/${id.slice(2)}`);
  expect(said()).toContain("Call it falcon");
  expect((await ada.run(["forget", sessions[0]?.id ?? "", "--yes"])).code).toBe(0);
  expect(said).toThrow();
  // Bob has it whole, and goes on.
  const other = await work(bob, "By Bob", "bob.txt");
  await bob.json(["sync", "push", "origin"]);
  await ada.json(["sync", "fetch"]);
  expect(said).toThrow();
  // Nor if the branch was begun anew, as `forget` says how.
  ada.checkpoints("update-ref", "-d", BRANCH);
  await ada.json(["sync", "fetch"]);
  expect(said).toThrow();
  expect(checkpointsIn((...args) => ada.checkpoints(...args)).sort()).toEqual([id, other].sort());
});

test("sync push goes where push.remote says, wherever the setting comes from", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Add a greeting", "hello.txt");
  ada.git("remote", "rename", "origin", "backup");
  const push = (env: Record<string, string> = {}) => ada.run(["sync", "push"], { env });
  expect(await push()).toMatchObject({ code: 2 });
  expect(await push({ BACKTRAIL_PUSH_REMOTE: "backup" })).toMatchObject({ code: 0 });
  for (const scope of [["--user"], []]) {
    await ada.run(["config", "set", ...scope, "push.remote", "backup"]);
    expect((await push()).stderr).toContain("backup has every checkpoint.");
    await ada.run(["config", "unset", ...scope, "push.remote"]);
  }
});
