/** What becomes of the worktrees that runs were made in: listed, removed where nothing of theirs is lost, kept otherwise. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hooked } from "../support/hooked.ts";
import { StandIn, until } from "../support/stand-in.ts";

interface Left {
  name: string;
  state: string;
  why: string | null;
}

const env = { BACKTRAIL_WORKER: "off" };

/** Commits what it was asked to do. */
const COMMITTING = `
for a; do asked="$a"; done
init "s-$$"
case "$asked" in *nothing*) ;; *) echo "$asked" > work.txt; git add work.txt; git commit --quiet --message "$asked";; esac
case "$asked" in *draft*) echo draft > draft.txt;; esac
case "$asked" in *ignored*) echo secret > .env;; esac
case "$asked" in *detach*) git checkout --quiet --detach; git commit --quiet --allow-empty --message "$asked, and on";; esac
case "$asked" in *endless*) sleep 60 & wait;; esac
done_ "Done."`;

function world(): StandIn {
  const made = new StandIn();
  made.repository.write(".gitignore", ".env\n");
  made.repository.commit("first");
  made.agent("claude", COMMITTING);
  return made;
}

const runs = (made: StandIn) => `${made.repository.path}.runs`;

async function left(made: StandIn): Promise<Record<string, Left>> {
  const { stdout } = await made.repository.run(["sessions", "--json"], { env });
  const { worktrees } = JSON.parse(stdout) as { worktrees: Left[] };
  return Object.fromEntries(worktrees.map((each) => [each.name, each]));
}

test("merged or empty worktrees are removed with their branches; work stays, and the output says why", async () => {
  using made = world();
  const { repository } = made;
  for (const prompt of ["nothing", "merged", "own", "draft", "ignored", "detach"])
    await made.run([prompt, "--worktree"]);
  for (const name of ["merged", "draft", "ignored", "detach"]) {
    repository.git("merge", "--quiet", "--no-edit", "-s", "ours", `run/${name}`);
  }
  expect(await left(made)).toMatchObject({
    nothing: { state: "empty", why: null },
    merged: { state: "merged", why: null },
    own: { state: "kept", why: "it has commits that are on no other branch" },
    draft: { state: "kept", why: "1 file there is not committed" },
    ignored: { state: "kept", why: ".env is only there, and git ignores it" },
    detach: { state: "kept", why: "it is on no branch" },
  });
  const listed = await made.run(["--list"]);
  expect(listed.stdout).not.toContain("worktree");
  expect(listed.stderr).toContain("6 worktrees of runs: `backtrail sessions` shows them.");
  const shown = await repository.run(["sessions"], { env });
  expect(shown.stdout).toContain("Worktrees of runs\n");
  expect(shown.stdout).toMatch(/ {2}draft +1 file there is not committed\n/);

  // Also where nothing is recorded.
  const planned = await repository.run(["clean", "--dry-run"], { env });
  expect(planned.code).toBe(0);
  expect(planned.stdout).toContain("2 worktrees of runs to remove, with their branches:");
  expect(planned.stdout).toContain("4 worktrees of runs stay:");
  expect(readdirSync(runs(made))).toHaveLength(6);
  expect((await repository.run(["clean"], { env })).code).toBe(2);
  const cleaned = await repository.run(["clean", "--yes"], { env });
  expect(cleaned.stdout).toContain("2 worktrees gone.");
  expect(readdirSync(runs(made)).sort()).toEqual(["detach", "draft", "ignored", "own"]);
  expect(repository.git("branch", "--format=%(refname:short)", "--list", "run/*").split("\n").sort()).toEqual([
    "run/detach",
    "run/draft",
    "run/ignored",
    "run/own",
  ]);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(5);
  const again = await repository.run(["clean", "--yes"], { env });
  expect(again.code).toBe(3);
  expect(again.stdout).toContain("4 worktrees of runs stay:");
});

test("two that have the same commit don't stand in for each other", async () => {
  using made = world();
  await made.run(["own", "--worktree"]);
  await made.run(["nothing", "--worktree"]);
  made.repository.git("-C", join(runs(made), "nothing"), "reset", "--quiet", "--hard", "run/own");
  expect(Object.values(await left(made)).map(({ state }) => state)).toEqual(["kept", "kept"]);
});

test("worktrees that the user took over stay: another branch, a lock, skip-worktree files", async () => {
  using made = world();
  const { repository } = made;
  for (const prompt of ["nothing", "nothing", "nothing"]) await made.run([prompt, "--worktree"]);
  const [first, second, third] = ["nothing", "nothing-2", "nothing-3"].map((name) => join(runs(made), name));
  repository.git("-C", first ?? "", "checkout", "--quiet", "-b", "feature");
  repository.git("worktree", "lock", second ?? "");
  repository.git("-C", third ?? "", "update-index", "--assume-unchanged", ".gitignore");
  writeFileSync(join(third ?? "", ".gitignore"), "changed\n");
  expect(Object.values(await left(made)).map(({ why }) => why)).toEqual([
    "it is on another branch, feature",
    "it is locked",
    "1 file there is not committed",
  ]);
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(3);
  expect(readdirSync(runs(made))).toHaveLength(3);
  // Found by other words, no session is meant, and no worktree.
  expect((await repository.run(["sessions", "--search", "nowhere"], { env })).stdout).toBe("");
});

test("a worktree in use stays: by its run, or by any process", async () => {
  using made = world();
  const running = made.start(["endless nothing", "--worktree"]);
  const place = join(runs(made), "endless-nothing");
  await until(() => existsSync(place) && existsSync(made.logs), "the run");
  expect((await left(made))["endless-nothing"]?.why).toBe("its run is still in progress");
  const ended = new Promise((resolve) => running.once("exit", resolve));
  running.kill("SIGINT");
  await ended;
  expect((await left(made))["endless-nothing"]?.state).toBe("empty");
  if (process.platform !== "linux") return;
  const shell = spawn("sleep", ["60"], { cwd: place });
  expect((await left(made))["endless-nothing"]?.why).toBe(`process ${shell.pid} is running there`);
  const gone = new Promise((resolve) => shell.once("exit", resolve));
  shell.kill();
  await gone;
});

test("in an enabled repository, its hooks are removed as well, and its steps stay", async () => {
  using made = new StandIn();
  const { repository } = made;
  repository.write("a.txt", "a\n");
  repository.commit("first");
  await hooked(made);
  await made.run(["write it", "--worktree"]);
  const place = join(runs(made), "write-it");
  expect((await left(made))["write-it"]?.why).toBe("1 file there is not committed");
  repository.git("-C", place, "add", "--all");
  repository.git("-C", place, "commit", "--quiet", "--message", "it");
  repository.git("merge", "--quiet", "run/write-it");
  // Our own worker may still be there.
  let state = (await left(made))["write-it"];
  for (const end = Date.now() + 20_000; state?.why?.startsWith("process") && Date.now() < end; ) {
    await Bun.sleep(50);
    state = (await left(made))["write-it"];
  }
  expect(state).toMatchObject({ state: "merged", why: null });
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(0);
  expect(existsSync(runs(made))).toBe(false);
  const { steps } = await repository.json<{ steps: { prompt: string }[] }>(["log", "--all"]);
  expect(steps.some(({ prompt }) => prompt === "write it")).toBe(true);
  expect((await repository.run(["doctor", "--check"])).code).toBe(0);
});

test("a worktree with a missing directory is left alone; a half-removed one is removed", async () => {
  using made = world();
  const { repository } = made;
  await made.run(["nothing", "--worktree"]);
  const place = join(runs(made), "nothing");
  const elsewhere = join(dirname(place), "elsewhere");
  renameSync(place, elsewhere);
  expect((await left(made))["nothing"]?.why).toContain("its directory is missing");
  renameSync(elsewhere, place);
  const killed = await repository.run(["clean", "--yes"], { env: { ...env, BACKTRAIL_FAULT: "fork:renamed" } });
  expect(killed.code).not.toBe(0);
  expect(existsSync(place)).toBe(false);
  expect((await left(made))["nothing"]?.state).toBe("going");
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(0);
  expect(existsSync(runs(made))).toBe(false);
  expect(repository.git("branch", "--list", "run/*")).toBe("");
});

test("a directory in its place that is none of ours is never touched", async () => {
  using made = world();
  await made.run(["nothing", "--worktree"]);
  const place = join(runs(made), "nothing");
  rmSync(join(place, ".git"));
  writeFileSync(join(place, "mine.txt"), "mine\n");
  expect((await left(made))["nothing"]?.why).toBe("its directory is not a worktree of this repository");
  await made.repository.run(["clean", "--yes"], { env });
  expect(existsSync(join(place, "mine.txt"))).toBe(true);
});

test("a repository that was moved waits for `git worktree repair`; a mark of an older version is still read", async () => {
  using made = world();
  const { repository } = made;
  await made.run(["nothing", "--worktree"]);
  const file = repository.at(".git/worktrees/nothing/backtrail-run.json");
  const { id, ...mark } = JSON.parse(readFileSync(file, "utf8"));
  expect(id).toMatch(/^[k-z]{12}$/);
  writeFileSync(file, JSON.stringify(mark));
  const link = join(runs(made), "nothing", ".git");
  const target = readFileSync(link, "utf8");
  writeFileSync(link, target.replace("/repository/", "/moved/"));
  expect((await left(made))["nothing"]?.why).toContain("fix this with `git worktree repair`");
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(3);
  writeFileSync(link, target);
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(0);
  expect(existsSync(runs(made))).toBe(false);
});

test("a half-made worktree is removed, unless it has files of the user", async () => {
  using made = world();
  const { repository } = made;
  await made.run(["nothing", "--worktree"], { BACKTRAIL_FAULT: "worktree:marked" });
  const place = join(runs(made), "nothing");
  writeFileSync(join(place, "mine.txt"), "mine\n");
  expect((await left(made))["nothing"]?.why).toBe("1 file there is not committed");
  rmSync(join(place, "mine.txt"));
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(0);
  expect(existsSync(runs(made))).toBe(false);
  expect(repository.git("branch", "--list", "run/*")).toBe("");
});

test("commits that only the reflog of such a worktree has outlive it", async () => {
  using made = world();
  const { repository } = made;
  await made.run(["nothing", "--worktree"]);
  const inRun = (...args: string[]) => repository.git("-C", join(runs(made), "nothing"), ...args);
  inRun("commit", "--quiet", "--allow-empty", "--message", "Left");
  const commit = inRun("rev-parse", "HEAD");
  inRun("reset", "--quiet", "--hard", "HEAD~1");
  expect((await repository.run(["clean", "--yes"], { env })).code).toBe(0);
  repository.git("gc", "--quiet", "--prune=now");
  expect(repository.git("cat-file", "-t", commit)).toBe("commit");
});
