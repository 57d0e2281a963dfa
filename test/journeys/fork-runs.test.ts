/** The worktree of a run is another attempt: listed with the forks, compared, taken and dropped like one. */
import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StandIn, until } from "../support/stand-in.ts";

const env = { BACKTRAIL_WORKER: "off", BACKTRAIL_CLOCK: undefined };
const SESSION = "5e55a0b1-0000-4000-8000-000000000001";

interface Listed {
  name: string;
  branch: string;
  state: string;
  run?: { session: string | null };
}

async function world(): Promise<StandIn> {
  const made = new StandIn();
  const { repository } = made;
  repository.write(".gitignore", ".env\n.aiwr\n");
  repository.write("a.txt", "1\n");
  repository.write("b.txt", "1\n");
  repository.commit("first");
  await repository.run(["enable", "--agent", "claude-code"]);
  made.agent(
    "claude",
    `
for a; do asked="$a"; done
init "${SESSION}"
case "$asked" in *endless*) sleep 60 & wait;; esac
echo 2 > a.txt; git commit --quiet --all --message "two"
echo 3 > c.txt
done_ "Done."`,
  );
  return made;
}

async function forks(made: StandIn): Promise<Listed[]> {
  return (await made.repository.json<{ forks: Listed[] }>(["fork", "list"], { env })).forks;
}

test("a run's worktree is compared, taken and dropped by its session, its branch or its name", async () => {
  using made = await world();
  const { repository } = made;
  await made.run(["change it", "--worktree"]);
  expect(await forks(made)).toMatchObject([
    { name: "change-it", branch: "run/change-it", state: "ready", run: { session: SESSION } },
  ]);
  expect((await repository.run(["fork", "list"], { env })).stdout).toContain(`run ${SESSION}`);

  interface Compared {
    there: { files: { added: string[]; modified: string[] } };
  }
  for (const name of [SESSION, SESSION.slice(0, 8), "run/change-it", "change-it"]) {
    const { there } = await repository.json<Compared>(["fork", "diff", name], { env });
    expect(there.files).toMatchObject({ added: ["c.txt"], modified: ["a.txt"] });
  }
  repository.write("b.txt", "mine\n");
  const taken = await repository.run(["fork", "take", SESSION, "--yes"], { env });
  expect([taken.code, repository.read("a.txt"), repository.read("b.txt"), repository.read("c.txt")]).toEqual([
    0,
    "2\n",
    "mine\n",
    "3\n",
  ]);

  const dropped = await repository.run(["fork", "drop", "run/change-it"], { env });
  expect(dropped.code).toBe(0);
  expect(dropped.stdout).toContain("Its commits are kept");
  expect(existsSync(`${repository.path}.runs`)).toBe(false);
  expect(repository.git("branch", "--list", "run/*")).toBe("");
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(repository.git("for-each-ref", "refs/backtrail/dropped")).toMatch(/\/run-[k-z]{12}$/);
  expect(await forks(made)).toEqual([]);
});

test("a run that has not ended is listed as running, and a drop asks first", async () => {
  using made = await world();
  const { repository } = made;
  const running = made.start(["endless", "--worktree"]);
  const place = join(`${repository.path}.runs`, "endless");
  await until(() => existsSync(place) && existsSync(made.logs), "the run");
  expect(await forks(made)).toMatchObject([{ name: "endless", state: "running" }]);
  const ended = new Promise((resolve) => running.once("exit", resolve));
  if (process.platform === "linux") expect((await repository.run(["fork", "drop", "endless"], { env })).code).toBe(4);
  running.kill("SIGINT");
  await ended;
  expect((await repository.run(["fork", "drop", "endless", "--yes"], { env })).code).toBe(0);
});

test("a worktree that was removed by hand is forgotten", async () => {
  using made = await world();
  const { repository } = made;
  await made.run(["change it", "--worktree"]);
  rmSync(`${repository.path}.runs`, { recursive: true });
  expect(await forks(made)).toMatchObject([{ name: "change-it", state: "gone" }]);
  expect((await repository.run(["fork", "drop", "change-it"], { env })).code).toBe(0);
  expect(await forks(made)).toEqual([]);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
});
