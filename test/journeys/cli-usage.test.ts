/** The outermost skin: help, versions, mistakes, agents, completion. */
import { expect, test } from "bun:test";
import { hooked } from "../support/hooked.ts";
import { executable, runProgram, Story, temporaryFolder, temporaryRepository } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

test("help and mistakes", async () => {
  using repository = temporaryRepository();
  const story = new Story(repository);
  await story.run([]);
  await story.run(["rewind", "--help"]);
  await story.run(["config", "--help"]);
  await story.run(["lgo"]);
  await story.run(["log", "--al"]);
  await story.run(["show"]);
  await story.run(["-C", "nowhere", "status"]);
  await story.run(["enable", "--agent", "claud-code"]);
  await story.run(["enable", "--scope", "everywhere"]);
  await story.run(["disable"]);
  expect(story.toString()).toMatchSnapshot();
});

test("help and version are commands too, and other tools' names lead to ours", async () => {
  using repository = temporaryRepository();
  const option = await repository.run(["rewind", "--help"]);
  expect(await repository.run(["help", "rewind"])).toEqual(option);
  expect((await repository.run(["help"])).stdout).toBe((await repository.run(["--help"])).stdout);
  expect((await repository.run(["version"])).stdout).toBe((await repository.run(["--version"])).stdout);
  for (const [name, ours] of [
    ["init", "enable"],
    ["history", "log"],
    ["restore", "rewind"],
    ["revert", "undo"],
    ["checkpoint", "save"],
  ]) {
    const { code, stderr } = await repository.run([name ?? ""]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Did you mean \`backtrail ${ours}\`?`)]);
  }
});

test("the help of every command begins with a sentence", async () => {
  using repository = temporaryRepository();
  const { stdout } = await repository.run(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+)(?:, [a-z]+)? {2}/gm)].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(30);
  for (const name of names) {
    const help = (await repository.run([name, "--help"])).stdout;
    const [sentence = ""] = help.split("\n\nUsage: ");
    expect({ name, sentence }).toEqual({ name, sentence: expect.stringMatching(/^[A-Z`].*\.$/s) });
  }
});

test("an option of the group's own is refused where it would say nothing", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const lines = [
    ["fork", "list", "--branch", "x"],
    ["fork", "--branch", "x", "list"],
    ["fork", "list", "-d", "x", "--json"],
    ["fork", "diff", "x", "--run"],
    ["fork", "drop", "x", "--agent", "codex", "--yes"],
    ["fork", "take", "x", "--limit", "2000"],
  ];
  for (const line of lines) {
    const { code, stdout, stderr } = await repository.run(line);
    expect({ line, code, stdout }).toEqual({ line, code: 2, stdout: "" });
    expect(stderr).toMatch(/`fork (?:list|diff|drop|take)` takes no --(?:branch|directory|run|agent|limit)\./);
  }
  expect((await repository.run(["fork", "list", "--json"])).code).toBe(0);
});

test("every command that prints has --json, and it is JSON", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  for (const command of [
    "status",
    "log",
    "config",
    "agents",
    "agents show claude",
    "agents detect",
    "doctor",
    "save x",
    "show",
    "diff last",
    "disable",
  ]) {
    expect(typeof (await repository.json(command.split(" "), { env: { BACKTRAIL_WORKER: "off" } }))).toBe("object");
  }
});

test("agents: listed, made, checked", async () => {
  using folder = temporaryFolder();
  const { agents } = await folder.json<{ agents: Record<string, unknown>[] }>(["agents", "list"]);
  const claude = agents.find(({ id }) => id === "claude-code");
  expect(Object.keys(claude ?? {})).toEqual(["id", "name", "version", "capabilities"]);
  expect(claude?.["capabilities"]).toMatchObject({ hooks: true, chat: true, tokens: true, rewind: true });
  const made = await folder.json<{ profile: string; files: string[] }>(["agents", "new", "my-agent"]);
  expect(made.files).toContain(made.profile);
  const checked = await folder.run(["agents", "check", "my-agent"]);
  expect(checked.code).toBe(0);
  expect(checked.stdout).toContain("user-prompt-submit.example.json");
  expect(checked.stdout).toContain("my-agent passes its examples.");
  expect((await folder.json<{ agents: { id: string }[] }>(["agents"])).agents.map(({ id }) => id)).toContain(
    "my-agent",
  );
  const refusals = [
    ["new", "my-agent"],
    ["new", "claude-code"],
    ["new", "My Agent"],
    ["show", "nobody"],
    ["check", "nobody"],
  ];
  const codes = await Promise.all(refusals.map(async (words) => (await folder.run(["agents", ...words])).code));
  expect(codes).toEqual([4, 4, 2, 2, 3]);
});

test("completion offers commands, steps and agents, and a script for each shell", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const saved = await repository.json<{ step: { id: string } }>(["save", "here"], { env: { BACKTRAIL_WORKER: "off" } });
  const offered = async (...words: string[]) => {
    const { stdout, code } = await repository.run(["complete", "--", ...words]);
    expect(code).toBe(0);
    return stdout.split("\n").map((line) => line.split("\t")[0]);
  };
  expect(await offered("re")).toEqual(expect.arrayContaining(["rewind", "redo"]));
  expect(await offered("rewind", "")).toEqual(expect.arrayContaining(["last", "prev", saved.step.id]));
  expect(await offered("enable", "--agent", "")).toContain("claude-code");
  expect(await offered("config", "set", "")).toContain("tier");
  expect(await offered("config", "set", "push.enabled", "")).toEqual(expect.arrayContaining(["true", "false"]));
  expect(await offered("config", "set", "tier", "")).toContain("minimal");
  expect(await offered("config", "set", "strategy", "")).toContain("auto-commit");
  repository.write("src/app.ts", "");
  expect(await offered("blame", "s")).toContain("src/");
  expect(await offered("diff", "--paths", "src/")).toContain("src/app.ts");
  expect(await offered("log", "--", "src/")).toContain("src/app.ts");
  expect(await offered("fork", "take", "x", "--paths", "src/")).toContain("src/app.ts");
  for (let i = 0; i < 21; i++) await repository.run(["save"], { env: { BACKTRAIL_WORKER: "off" } });
  expect(await offered("rewind", "")).not.toContain(saved.step.id);
  expect(await offered("rewind", saved.step.id.slice(0, 4))).toContain(saved.step.id);
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const { stdout, code } = await repository.run(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("backtrail");
  }
  expect((await repository.run(["completion", "tcsh"])).code).toBe(2);
});

test("completion knows turns, steps, sessions, runs and forks", async () => {
  using world = new StandIn();
  const { repository } = world;
  await hooked(world);
  await world.run(["fix the login"], { BACKTRAIL_WORKER: "off" });
  await world.run(["write tests"], { BACKTRAIL_WORKER: "off" });
  await repository.run(["save", "keep"], { env: { BACKTRAIL_WORKER: "off" } });
  await repository.run(["fork", "1", "--branch", "again"], { env: { BACKTRAIL_WORKER: "off" } });
  const offered = async (...words: string[]) => {
    const { stdout } = await repository.run(["complete", "--", ...words]);
    return new Map(stdout.split("\n").map((line) => line.split("\t", 2) as [string, string | undefined]));
  };
  const { steps } = await repository.json<{ steps: { id: string; kind: string; session: string; prompt: string }[] }>([
    "log",
    "--limit",
    "0",
  ]);
  const find = (kind: string, prompt: string) =>
    steps.find((step) => step.kind === kind && step.prompt === prompt)?.id ?? "";
  const sessions = [...new Set(steps.flatMap(({ session }) => session ?? []))];

  const turns = await offered("undo", "");
  expect(turns.get(find("turn-end", "write tests"))).toMatch(/: @1: write tests$/);
  expect(turns.get("last")).toBe("the newest turn");
  expect(turns.has("prev")).toBe(false);
  expect(turns.has(find("turn-start", "write tests"))).toBe(false);
  await repository.run(["undo", "last", "--yes"], { env: { BACKTRAIL_WORKER: "off" } });
  expect((await offered("undo", "")).has(find("turn-end", "write tests"))).toBe(false);

  const places = await offered("rewind", "");
  expect(places.get(find("turn-start", "fix the login"))).toMatch(/: before: fix the login$/);
  expect(places.get(find("turn-end", "fix the login"))).toMatch(/: after: fix the login$/);
  expect(places.has("keep")).toBe(true);
  expect((await offered("fork", "")).has(find("turn-end", "fix the login"))).toBe(true);
  for (const command of ["diff", "take", "drop"])
    expect([...(await offered("fork", command, "")).keys()]).toContain("again");
  for (const flag of ["--session", "--resume", "--resume-tree", "--parent"]) {
    expect([...(await offered("run", flag, "")).keys()]).toEqual(expect.arrayContaining(sessions));
  }
  expect([...(await offered("sessions", "show", "")).keys()]).toEqual(expect.arrayContaining(sessions));
  expect([...(await offered("undo", "--session", "")).keys()]).toEqual(expect.arrayContaining(sessions));
});

test("what an agent calls its session is offered only where a shell takes it for a word", async () => {
  using world = new StandIn();
  await hooked(world);
  for (const session_id of ["$(touch owned)", "two words", "plain-1"]) {
    const payload = { session_id, cwd: world.repository.path, prompt: "x" };
    await world.repository.hook("claude-code", "user-prompt-submit", {
      ...payload,
      hook_event_name: "UserPromptSubmit",
    });
  }
  const { stdout } = await world.repository.run(["complete", "--", "log", "--session", ""]);
  expect(stdout).toContain("plain-1");
  expect(stdout).not.toMatch(/owned|two words/);
});

test("bash completes with the script, read twice, without anything else installed", async () => {
  using repository = temporaryRepository();
  const script = `
    PATH="$(dirname "$0"):$PATH"
    for _ in 1 2; do source <(backtrail completion bash); done
    compopt() { :; }
    COMP_WORDS=(backtrail re) COMP_CWORD=1 COMP_LINE="backtrail re" COMP_POINT=12
    __backtrail_complete
    echo "\${COMPREPLY[@]}"
    COMP_WORDS=(backtrail '$(echo run > run)' "") COMP_CWORD=2
    __backtrail_complete`;
  const env = repository.environment();
  const result = await runProgram("bash", ["--norc", "-c", script, executable()], { cwd: repository.path, env });
  expect(result).toMatchObject({ stdout: "rewind redo resume redact\n", stderr: "" });
  expect(repository.exists("run")).toBe(false);
});
