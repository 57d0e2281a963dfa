/** Something worked yesterday. A person asks which turn of which agent broke it. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { bash, executable, ScriptedClaude, Story, write } from "../support/index.ts";
import { Recording } from "../support/recording.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";
import { fingerprint } from "../support/work-tree.ts";

const env = { BACKTRAIL_WORKER: "off" };
const SUM = ["sh", "-c", "test $(sh sum.sh 2 3) = 5"];

interface Bisected {
  found: {
    by: string;
    prompt: string | null;
    session: string | null;
    subagent: { id: string } | null;
    files: { added: string[]; modified: string[]; deleted: string[] };
  };
  good: { step: string | null; now: boolean };
  bad: { step: string | null; now: boolean };
  untold: unknown[];
  runs: { verdict: string; code: number; known: boolean; now: boolean }[];
}

function bisected(repository: TemporaryRepository, options: string[], command: string[] = SUM): Promise<Bisected> {
  return repository.run(["bisect", "--json", ...options, "--", ...command], { env }).then(({ stdout, stderr }) => {
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout);
  });
}

/** Two sessions by turns; the second one's turn breaks the sum. */
async function worked(repository: TemporaryRepository): Promise<void> {
  repository.write("sum.sh", "echo $(($1 + $2))\n");
  await repository.run(["enable", "--agent", "claude-code"]);
  const first = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  const second = new ScriptedClaude(repository, "99999999-2222-4333-8444-555555555555");
  first.minute = 1;
  await first.start();
  await second.start();
  await first.turn("Write a greeting", [write("greeting.txt", "hello\n")]);
  second.minute = 5;
  await second.turn("Make the sum faster", [write("sum.sh", "echo $(($1 - $2))\n"), write("notes.md", "fast\n")]);
  first.minute = 9;
  await first.turn("Write a farewell", [write("farewell.txt", "bye\n")]);
  await first.turn("Tidy up", [bash("rm README.md")]);
}

test("as a person sees it: found, then known, then with the change", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const story = new Story(repository);
  const at = { minute: 12, env };
  await story.run(["bisect", "--", ...SUM], at);
  await story.run(["bisect", "--patch", "--", ...SUM], at);
  await story.run(["bisect", "--", "true"], at);
  await story.run(["bisect", "--", "false"], at);
  await story.run(["bisect", "--", "no-such-program"], at);
  await story.run(["bisect", "--", "npm test"], at);
  await story.run(["bisect", "--good", "1", "--bad", "3", "--", "true"], at);
  await story.run(["bisect", "--link", "../elsewhere", "--", "true"], at);
  await story.run(["bisect"], at);
  expect(story.toString().replace(/\d+\.\d s\b/g, "<time>")).toMatchSnapshot();
});

test("the work tree, the index and git's own files stay as they are, and nothing is left behind", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  repository.git("add", "notes.md");
  const before = fingerprint(repository.path);
  const made = (await bisected(
    repository,
    ["--fresh"],
    [
      "sh",
      "-c",
      "git add --all; git commit -qm mine; git branch mine; git stash list; rm -rf .git/hooks; echo x >> sum.sh; mkdir -p new/deep; echo $PWD > new/deep/x; git tag t; ls > list; ! grep -q -- - sum.sh",
    ],
  )) satisfies Bisected;
  expect(made.found).toMatchObject({ by: "turn", prompt: "Make the sum faster" });
  expect(fingerprint(repository.path)).toEqual(before);
  expect(readdirSync(repository.at(".git/backtrail/worktrees/main/trials"))).toEqual([]);
  expect(repository.git("for-each-ref", "refs/heads", "refs/tags", "--format=%(refname)").trim()).toBe(
    "refs/heads/main",
  );
});

test("the second time nothing is run, unless asked for; another command is another matter", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const counting = ["sh", "-c", `echo run >> ${repository.home}/runs; test $(sh sum.sh 2 3) = 5`];
  const runs = () => readFileSync(`${repository.home}/runs`, "utf8").split("\n").length - 1;
  const first = await bisected(repository, [], counting);
  const count = runs();
  expect(count).toBe(first.runs.length);
  expect(first.runs.map(({ known }) => known)).not.toContain(true);
  const second = await bisected(repository, [], counting);
  expect(runs()).toBe(count);
  expect(second.runs.map(({ known }) => known)).not.toContain(false);
  expect(second.found).toEqual(first.found);
  await bisected(repository, ["--fresh"], counting);
  expect(runs()).toBe(2 * count);
});

test("an inconclusive state gives a wider answer, and the output says so", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const unsure = ["sh", "-c", "test -e notes.md && ! test -e farewell.txt && exit 125; test $(sh sum.sh 2 3) = 5"];
  const result = await repository.run(["bisect", "--", ...unsure], { env });
  expect(result.code).toBe(3);
  expect(result.stdout).toContain("It broke at one of 2 states; the results of the others are inconclusive.");
  const { untold, runs } = await bisected(repository, [], unsure);
  expect(untold).toHaveLength(1);
  expect(runs.map(({ verdict }) => verdict)).toContain("skip");
});

test("manual changes between turns, or after the last one, belong to no turn", async () => {
  using repository = temporaryRepository();
  repository.write("sum.sh", "echo $(($1 + $2))\n");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("One", [write("one.txt", "1\n")]);
  repository.write("sum.sh", "echo no\n");
  const now = await bisected(repository, []);
  expect(now.found).toMatchObject({ by: "outside", prompt: null, files: { modified: ["sum.sh"] } });
  expect(now.bad.now).toBe(true);
  await claude.turn("Two", [write("two.txt", "2\n")]);
  const later = await bisected(repository, []);
  expect(later.found).toMatchObject({ by: "outside", files: { modified: ["sum.sh"] } });
  expect((await repository.run(["bisect", "--", ...SUM], { env })).stdout).toContain("It broke between two turns:");
});

test("a subagent is named, with its own files and its own step to undo", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  repository.write("sum.sh", "echo $(($1 + $2))\n");
  await recording.hook("SessionStart", { source: "startup" });
  await recording.prompt("Make everything better");
  const task = { tool_name: "Task", tool_use_id: "toolu_1" };
  const input = { subagent_type: "fixer", description: "Fix the sum", prompt: "Fix the sum, please" };
  await recording.hook("PreToolUse", { ...task, tool_input: input });
  await recording.hook("SubagentStart", { agent_id: "a1", agent_type: "fixer" });
  repository.write("sum.sh", "echo 0\n");
  await recording.hook("SubagentStop", { agent_id: "a1", agent_type: "fixer" });
  repository.write("more.txt", "more\n");
  await recording.hook("Stop", recording.answer("Done."));
  const { found } = await bisected(repository, []);
  expect(found).toMatchObject({ by: "subagent", subagent: { id: "a1" }, files: { modified: ["sum.sh"], added: [] } });
  const { stdout } = await repository.run(["bisect", "--", ...SUM], { env });
  expect(stdout).toContain("A subagent broke it:");
  expect(stdout).toContain("in the turn: Make everything better");
});

test("ignored files come along as links or copies; writing to a copy does not change the original", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", "modules\n.env\n");
  repository.write("modules/m", "1\n");
  repository.write(".env", "A=1\n");
  await worked(repository);
  const needs = ["sh", "-c", "test -e modules/m || exit 1; echo B=2 >> .env || exit 1; test $(sh sum.sh 2 3) = 5"];
  const without = await repository.run(["bisect", "--", ...needs], { env });
  expect(without.code).toBe(3);
  const { found } = await bisected(repository, ["--link", "modules", "--copy", ".env"], needs);
  expect(found.prompt).toBe("Make the sum faster");
  expect(repository.read(".env")).toBe("A=1\n");
  expect(repository.read("modules/m")).toBe("1\n");
  const destroys = ["sh", "-c", "rm -rf modules; test $(sh sum.sh 2 3) = 5"];
  await bisected(repository, ["--link", "modules"], destroys);
  expect(repository.read("modules/m")).toBe("1\n");
});

test("a command that links a directory back to the original does not make us write or delete there", async () => {
  using repository = temporaryRepository();
  mkdirSync(repository.at("src"));
  repository.write("src/a.txt", "a\n");
  await worked(repository);
  const before = fingerprint(repository.path);
  const evil = [
    "sh",
    "-c",
    `rm -rf src; ln -s ${repository.at("src")} src; ln -s ${repository.path} all; test $(sh sum.sh 2 3) = 5`,
  ];
  expect((await bisected(repository, ["--fresh"], evil)).found.prompt).toBe("Make the sum faster");
  expect(fingerprint(repository.path)).toEqual(before);
});

test("every probe sees exactly its step: links, modes, and nothing of the run before", async () => {
  using repository = temporaryRepository();
  repository.write("tool", "#!/bin/sh\nexit 0\n");
  chmodSync(repository.at("tool"), 0o755);
  symlinkSync("README.md", repository.at("link"));
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("One", [bash("rm link && mkdir link && echo x > link/x")]);
  await claude.turn("Two", [write("a.txt", "a\n")]);
  await claude.turn("Three", [bash("chmod -x tool")]);
  const strict = "test -e left && exit 3; echo > left; echo spoilt > README.md; chmod -x sum.sh 2>/dev/null; ./tool";
  expect((await bisected(repository, [], ["sh", "-c", strict])).found.prompt).toBe("Three");
  expect((await bisected(repository, [], ["test", "-L", "link"])).found.prompt).toBe("One");
});

test("a run that takes too long fails, with everything that it started", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const slow = ["sh", "-c", "test $(sh sum.sh 2 3) = 5 && exit 0; sleep 1000 & sleep 1000"];
  expect((await bisected(repository, ["--timeout", "1"], slow)).found.prompt).toBe("Make the sum faster");
}, 30_000);

test("Ctrl-C ends the command, cleans up, and says that nothing changed", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const args = ["bisect", "--", "sh", "-c", `echo $PWD > ${repository.home}/place; sleep 1000`];
  const child = spawn(executable(), args, { cwd: repository.path, env: repository.environment(env), stdio: "pipe" });
  let said = "";
  child.stderr.on("data", (data: Buffer) => {
    said += data;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  while (!existsSync(`${repository.home}/place`)) await Bun.sleep(10);
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(said).toContain("Stopped. Nothing was changed.");
  expect(existsSync(readFileSync(`${repository.home}/place`, "utf8").trim())).toBe(false);
});

test("a folder without git is searched as well", async () => {
  using folder = temporaryFolder();
  folder.write("README.md", "# Example\n");
  await worked(folder);
  const { found } = await bisected(folder, []);
  expect(found).toMatchObject({ by: "turn", prompt: "Make the sum faster" });
});

test("an undone turn is not found again, and the search continues without it", async () => {
  using repository = temporaryRepository();
  repository.write("sum.sh", "echo $(($1 + $2))\n");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello\n")]);
  await claude.turn("Block everything", [write("blocked", "yes\n")]);
  await claude.turn("Make the sum faster", [write("sum.sh", "echo $(($1 - $2))\n")]);
  const command = ["sh", "-c", "test ! -e blocked && test $(sh sum.sh 2 3) = 5"];
  expect((await bisected(repository, [], command)).found.prompt).toBe("Block everything");

  const { steps } = await repository.json<{ steps: { id: string; kind: string; turn: number }[] }>(["log"], { env });
  const second = steps.find(({ kind, turn }) => kind === "turn-end" && turn === 2)?.id ?? "";
  expect((await repository.run(["undo", second, "--yes"], { env })).code).toBe(0);
  expect((await bisected(repository, [], command)).found.prompt).toBe("Make the sum faster");
  expect((await bisected(repository, ["--bad", second], command)).found.prompt).toBe("Block everything");
  const named = await repository.run(["bisect", "--bad", second, "--", ...command], { env });
  expect(named.stdout).toContain("You have since undone this turn");
  expect(named.stdout).not.toContain("backtrail undo");
});
