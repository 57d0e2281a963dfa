/** A person wants to run your tests after every turn, without asking each time. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { ScriptedClaude, Story, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";
import { fingerprint } from "../support/work-tree.ts";

const env = { BACKTRAIL_WORKER: "off" };
const SUM = ["sh", "-c", "test $(sh sum.sh 2 3) = 5"];
const PATIENCE_MS = 20_000;

interface Status {
  command: string[] | null;
  running: boolean;
  lastGreen: string | null;
  recent: { step: string; verdict: string }[];
}

const GOOD = write("sum.sh", "echo $(($1 + $2))\n");
const BAD = write("sum.sh", "echo $(($1 - $2))\n");

async function begun(): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude }> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"], { env });
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  await claude.start();
  return { repository, claude };
}

/** Also for the hooks: what is told here is told without anybody in the background. */
function withoutWorker(repository: TemporaryRepository): void {
  const environment = repository.environment.bind(repository);
  repository.environment = (extra) => environment({ ...env, ...extra });
}

/** What the background found out, once it has looked at so many turns. */
async function checked(repository: TemporaryRepository, count: number): Promise<string[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { recent, running } = await repository.json<Status>(["check", "status"], { env });
    if (recent.length >= count && !running) return recent.map(({ verdict }) => verdict);
    if (Date.now() > deadline) throw new Error(`Only ${recent.length} turns were checked.`);
    await Bun.sleep(50);
  }
}

test("as a person sees it: set up, checked at once, looked at, gone back by, turned off", async () => {
  const { repository, claude } = await begun();
  using _ = repository;
  withoutWorker(repository);
  const story = new Story(repository);
  const at = { minute: 12, env };
  await story.run(["check"], at);
  await story.run(["check", "--now"], at);
  await story.run(["rewind", "last-green", "--yes"], at);
  const before = repository.git("status", "--porcelain");
  await story.run(["check", "--", ...SUM], at);
  expect(repository.git("status", "--porcelain")).toBe(before);
  await story.run(["rewind", "last-green", "--yes"], at);
  claude.minute = 3;
  await claude.turn("Add a sum", [GOOD]);
  await story.run(["check", "--now"], at);
  claude.minute = 6;
  await claude.turn("Make it faster", [BAD]);
  await story.run(["check", "--now"], at);
  await story.run(["check", "status"], at);
  await story.run(["log"], at);
  await story.run(["rewind", "last-green", "--yes", "--code-only"], at);
  expect(repository.read("sum.sh")).toBe("echo $(($1 + $2))\n");
  await story.run(["check", "--off"], at);
  await story.run(["check", "--off"], at);
  await story.run(["check", "status"], at);
  expect(story.toString().replace(/\d+\.\d s\b/g, "<time>")).toMatchSnapshot();
});

test("the background stamps each turn when it has ended, and touches nothing of the user's", async () => {
  const { repository, claude } = await begun();
  using _ = repository;
  await repository.run(["check", "--", ...SUM], { env });
  await claude.turn("Add a sum", [GOOD]);
  expect(await checked(repository, 1)).toEqual(["pass"]);
  const before = fingerprint(repository.path);
  await claude.turn("Explain", []);
  await claude.turn("Make it faster", [BAD]);
  expect(await checked(repository, 3)).toEqual(["fail", "pass", "pass"]);
  repository.write("sum.sh", "echo $(($1 + $2))\n");
  const after = fingerprint(repository.path);
  for (const map of [before, after]) map.delete("sum.sh");
  expect([...after.keys()]).toEqual([...before.keys()]);
  const log = (await repository.run(["log"], { env })).stdout.split("\n").filter((line) => line.startsWith("●"));
  expect(log.map((line) => /[✓✗]/.exec(line)?.[0])).toEqual(["✗", "✓", "✓"]);
});

test("while a turn is open nothing is run; when it has ended, its state is", async () => {
  const { repository, claude } = await begun();
  using _ = repository;
  const runs = `${repository.home}/runs`;
  await repository.run(["check", "--", "sh", "-c", `echo run >> ${runs}; test -e done.txt`], { env });
  await claude.begin("Work for long");
  await claude.act(write("half.txt", "half\n"));
  // The worker as a hook would start it, in the middle of the turn.
  expect((await repository.run(["worker", repository.path])).code).toBe(0);
  expect(existsSync(runs)).toBe(false);
  await claude.act(write("done.txt", "done\n"));
  await claude.finish();
  expect(await checked(repository, 1)).toEqual(["pass"]);
  expect(readFileSync(runs, "utf8")).toBe("run\n");
});

test("when the newest turn fails, older ones are looked at until one passes", async () => {
  const { repository, claude } = await begun();
  using _ = repository;
  withoutWorker(repository);
  await claude.turn("Add a sum", [GOOD]);
  await claude.turn("Break it", [BAD]);
  await claude.turn("Break it more", [write("sum.sh", "echo no\n")]);
  await repository.run(["check", "--", ...SUM], { env });
  await repository.run(["worker", repository.path]);
  expect(await checked(repository, 3)).toEqual(["fail", "fail", "pass"]);
  const { lastGreen } = await repository.json<Status>(["check", "status"], { env });
  const { steps } = await repository.json<{ steps: { id: string; prompt: string }[] }>(["log"], { env });
  expect(steps.find(({ id }) => id === lastGreen)?.prompt).toBe("Add a sum");
});

test("a check that never ends is ended, counts as failed, and is not tried again", async () => {
  const { repository, claude } = await begun();
  using _ = repository;
  const runs = `${repository.home}/runs`;
  await repository.run(["check", "--timeout", "1", "--", "sh", "-c", `echo run >> ${runs}; sleep 1000`], { env });
  await claude.turn("One", [write("a.txt", "a\n")]);
  expect(await checked(repository, 1)).toEqual(["fail"]);
  await repository.run(["worker", repository.path]);
  expect(readFileSync(runs, "utf8")).toBe("run\n");
}, 40_000);

test("a repository's own check is not run", async () => {
  const { repository, claude } = await begun();
  using _ = repository;
  const evil = { checks: { command: ["sh", "-c", `touch ${repository.home}/evil`] } };
  repository.write(".backtrail/settings.json", JSON.stringify(evil));
  repository.write(".backtrail/settings.local.json", JSON.stringify(evil));
  repository.commit("with a check");
  await claude.turn("One", [write("a.txt", "a\n")]);
  expect((await repository.run(["worker", repository.path])).code).toBe(0);
  expect((await repository.run(["check", "--now"], { env })).code).toBe(2);
  expect(existsSync(`${repository.home}/evil`)).toBe(false);
  // One's own is set up all the same.
  expect((await repository.run(["check", "--", "true"], { env })).code).toBe(0);
  expect((await repository.json<Status>(["check", "status"], { env })).command).toEqual(["true"]);
});

test("in a folder without git, going back leaves the installed dependencies alone", async () => {
  using folder = temporaryFolder();
  await folder.run(["enable", "--agent", "claude-code"], { env });
  const claude = new ScriptedClaude(folder);
  await claude.start();
  await claude.turn("Add a sum", [GOOD]);
  await folder.run(["check", "--now", "--", ...SUM], { env });
  await claude.turn("Make it faster", [BAD]);
  const { plan } = await folder.json<{ plan: { delete: string[] } }>(["rewind", "last-green", "--yes"], { env });
  expect(plan.delete).toEqual([]);
  expect((await folder.json<Status>(["check", "status"], { env })).command).toEqual(SUM);
});

test("check --now also checks the current files", async () => {
  using repository = temporaryRepository();
  repository.write("sum.sh", "echo $(($1 + $2))\n");
  await repository.run(["enable", "--agent", "claude-code"]);
  const before = await repository.run(["check", "--now", "--", ...SUM], { env });
  expect({ code: before.code, stdout: before.stdout }).toMatchObject({ code: 0 });
  expect(before.stdout).toContain("current files: passes");
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello\n")]);
  expect((await repository.run(["check", "--now"], { env })).stdout).not.toContain("current files");

  repository.write("sum.sh", "echo $(($1 - $2))\n");
  const { code, stdout } = await repository.run(["check", "--now"], { env });
  expect(code).toBe(1);
  expect(stdout).toMatch(/passes, .* {2}Write a greeting\n✗ current files: fails \(exit 1\), /);
  const json = await repository.run(["check", "--now", "--json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: "pass", now: { verdict: "fail", code: 1 } });
});
