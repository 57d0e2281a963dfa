/** Pushes that are killed or meet, and what they left. Kills at every point are rows of `operations.ts`. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { settled } from "../journeys/commits.ts";
import { BRANCH, checkpointsIn, pushSettled, Shared, work } from "../journeys/synced.ts";
import { executable, type TemporaryRepository } from "../support/index.ts";

test("the process that pushes in the background is killed in the middle of it: the wish stays, and is fulfilled", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await ada.run(["config", "set", "push.enabled", "true"]);
  const id = await work(ada, "Add a greeting", "hello.txt");
  // The server takes its time, and tells when it has begun.
  shared.hook("pre-receive", `cat >/dev/null; touch "${shared.at("begun")}"; sleep 1`);
  await noted(ada);
  const child = Bun.spawn([executable(), "worker", ada.path, "push"], { cwd: ada.path, env: ada.environment() });
  for (let i = 0; i < 400 && !existsSync(shared.at("begun")); i++) await Bun.sleep(25);
  child.kill("SIGKILL");
  await child.exited;
  expect(existsSync(ada.at(".git/backtrail/sync/wish.json"))).toBe(true);
  shared.hook("pre-receive", "exit 0");
  await settled(ada);
  expect(await pushSettled(ada)).toMatchObject({ error: null, waiting: null, unpushed: [] });
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([id]);
  expect(shared.git("rev-parse", BRANCH)).toBe(ada.checkpoints("rev-parse", BRANCH));
});

test("two that push at once, from one machine and from two, lose nothing", async () => {
  using shared = new Shared();
  const [ada, bob] = [await shared.machine(), await shared.machine()];
  const ids = [await work(ada, "By Ada", "ada.txt"), await work(bob, "By Bob", "bob.txt")];
  const pushes = await Promise.all([ada, ada, bob, bob].map((machine) => machine.run(["sync", "push", "origin"])));
  for (const { code, stderr } of pushes) expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(checkpointsIn(shared.git.bind(shared))).toEqual(ids.sort());
});

test("a lock that a killed sync left beside its ref is taken away", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Add a greeting", "hello.txt");
  await ada.json(["sync", "push", "origin"]);
  const [ref = ""] = ada.checkpoints("for-each-ref", "--format=%(refname)", "refs/backtrail/sync").split("\n");
  ada.write(`.git/backtrail/private.git/${ref}.lock`, "");
  expect((await ada.run(["save", "afterwards"])).code).toBe(0);
  expect(ada.exists(`.git/backtrail/private.git/${ref}.lock`)).toBe(false);
});

test("an unreadable state of a remote is created anew", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  const id = await work(ada, "Add a greeting", "hello.txt");
  for (const file of ["state.json", "wish.json", "checked.json"]) ada.write(`.git/backtrail/sync/${file}`, "{ torn");
  expect((await ada.run(["status"])).code).toBe(0);
  expect((await ada.run(["sync", "push", "origin"])).code).toBe(0);
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([id]);
});

/** What git's pre-push hook notes, without a worker to act on it. */
async function noted(repository: TemporaryRepository): Promise<void> {
  const result = await repository.run(["hooks", "git", "pre-push", "origin", "x"], {
    env: { BACKTRAIL_WORKER: "off" },
  });
  expect(result).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(existsSync(repository.at(".git/backtrail/sync/wish.json"))).toBe(true);
}
