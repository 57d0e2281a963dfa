/** An agent that is somebody else's program: admitted by its user, recorded like any other, and never able to do harm. */
import { expect, test } from "bun:test";
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runProgram, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const PARROT = join(import.meta.dirname, "..", "conformance", "example-agent", "parrot.mjs");
const SESSION = "b7c1f0de-8f6c-4b0e-9a53-0c6f5d1f9e01";

interface Shown {
  id: string;
  kind: string;
  agent: string;
  prompt: string | null;
  model: string | null;
  response: string | null;
  tokens: { input: number; output: number } | null;
  files: { added: string[]; modified: string[]; deleted: string[] };
}

class World implements Disposable {
  readonly repository: TemporaryRepository = temporaryRepository();
  readonly bin = join(this.repository.home, "bin");
  readonly env = { BACKTRAIL_WORKER: "off", PATH: `${this.bin}${delimiter}${process.env["PATH"]}` };
  readonly transcript = join(this.repository.home, ".parrot", `${SESSION}.jsonl`);

  constructor() {
    mkdirSync(this.bin);
    mkdirSync(join(this.repository.home, ".parrot"));
  }

  parrot(name = "backtrail-agent-parrot"): void {
    symlinkSync(PARROT, join(this.bin, name));
  }

  /** A program of this name; `script` is what it does, as a shell reads it. */
  program(name: string, script: string): string {
    const path = join(this.bin, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  run(...args: string[]) {
    return this.repository.run(args, { env: this.env });
  }

  /** As the parrot does: the line of its hooks file, through a shell. */
  async send(hook: string, more: object = {}) {
    const hooks = this.repository.read(".git/parrot-hooks").split("\n");
    const command = hooks.find((line) => line.startsWith(`${hook}\t`))?.split("\t")[1] ?? "";
    expect(command).toContain(`hooks parrot ${hook}`);
    const result = await runProgram("/bin/sh", ["-c", command], {
      cwd: this.repository.path,
      // A hook is often run with a bare PATH.
      env: this.repository.environment({ BACKTRAIL_WORKER: "off" }),
      input: JSON.stringify({ session_id: SESSION, transcript: this.transcript, ...more }),
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    return result.stdout;
  }

  say(line: object): void {
    appendFileSync(this.transcript, `${JSON.stringify(line)}\n`);
  }

  async steps(): Promise<Shown[]> {
    return (await this.repository.json<{ steps: Shown[] }>(["log"], { env: this.env })).steps;
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

test("once allowed, it is connected, recorded and rewound like any other", async () => {
  using world = new World();
  const { repository } = world;
  world.parrot();
  const asked = await world.run("enable", "--agent", "parrot");
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain("Give --external.");
  expect(existsSync(repository.at(".git/parrot-hooks"))).toBe(false);

  const enabled = await world.run("enable", "--agent", "parrot", "--external");
  expect(enabled).toMatchObject({ code: 0 });
  expect(enabled.stdout).toContain("Parrot");
  expect(enabled.stdout).toContain("put in place by");
  expect(repository.git("status", "--porcelain")).toBe("");

  expect(await world.send("wake")).toStartWith("squawk: ");
  await world.send("hear", { prompt: "Say hello" });
  world.say({ who: "user", text: "Say hello" });
  repository.write("hello.txt", "hello\n");
  world.say({ who: "parrot", text: "Hello!", files: ["hello.txt"], tokens: [12, 3] });
  await world.send("spoken");
  await world.send("hear", { prompt: "Say goodbye" });
  world.say({ who: "user", text: "Say goodbye" });
  repository.write("goodbye.txt", "goodbye\n");
  world.say({ who: "parrot", text: "Goodbye!", files: ["goodbye.txt"], tokens: [20, 4] });
  await world.send("spoken");
  await world.send("sleep");

  const ends = (await world.steps()).filter(({ kind }) => kind === "turn-end");
  expect(ends).toMatchObject([
    { agent: "parrot", prompt: "Say goodbye", files: { added: ["goodbye.txt"], modified: [], deleted: [] } },
    { agent: "parrot", prompt: "Say hello", files: { added: ["hello.txt"], modified: [], deleted: [] } },
  ]);
  const { step } = await repository.json<{ step: Shown }>(["show", "last"], { env: world.env });
  expect(step).toMatchObject({ model: "parrot-1", response: "Goodbye!", tokens: { input: 20, output: 4 } });

  const rewound = await world.run("rewind", "1", "--yes");
  expect(rewound.code).toBe(0);
  expect(rewound.stdout + rewound.stderr).toContain("Chat rewind unavailable (not supported for Parrot)");
  expect([repository.exists("hello.txt"), repository.exists("goodbye.txt")]).toEqual([true, false]);
  await world.run("redo", "--yes");
  expect(repository.read("goodbye.txt")).toBe("goodbye\n");

  expect((await world.run("doctor")).stdout).toContain("parrot");
  expect((await world.run("disable")).code).toBe(0);
  expect(existsSync(repository.at(".git/parrot-hooks"))).toBe(false);
});

test("it can speak to its user, and gets back what it said of the session before", async () => {
  using world = new World();
  world.parrot();
  await world.run("enable", "--agent", "parrot", "--external");
  await world.send("wake");
  expect(await world.send("hear", { prompt: "How are you?" })).toBe("squawk: I was: +\n");
  await world.send("spoken");
  expect(await world.send("hear", { prompt: "How are you?" })).toBe("squawk: I was: +++\n");
});

test("hooks may be named with dots, and files are left alone as directories are", async () => {
  using world = new World();
  const { repository } = world;
  const info = {
    protocol_version: 1,
    name: "dotty",
    type: "Dotty",
    protected_dirs: [".dotty"],
    protected_files: ["dotty.json", "../outside"],
    hook_names: ["agent.start", "agent.end", "agent end", "../x"],
    capabilities: { hooks: true, compact_transcript: true, uses_terminal: true },
  };
  const event = (type: number) => JSON.stringify({ type, session_id: SESSION, prompt: "Say hello" });
  world.program(
    "entire-agent-dotty",
    `case "$1 $3" in
"info ") echo '${JSON.stringify(info)}' ;;
"are-hooks-installed ") echo '{"installed":true}' ;;
"install-hooks ") echo '{"hooks_installed":2}' ;;
"parse-hook agent.start") echo '${event(2)}' ;;
"parse-hook agent.end") echo '${event(3)}' ;;
*) exit 1 ;;
esac`,
  );
  expect(await world.run("enable", "--agent", "dotty", "--external")).toMatchObject({ code: 0 });
  repository.write("dotty.json", "before\n");
  await repository.hook("dotty", "agent.start", {}, { env: world.env });
  repository.write("hello.txt", "hello\n");
  repository.write("dotty.json", "after\n");
  await repository.hook("dotty", "agent.end", {}, { env: world.env });
  expect((await world.steps())[0]).toMatchObject({ kind: "turn-end", agent: "dotty", prompt: "Say hello" });
  expect((await world.run("rewind", "1", "--yes")).code).toBe(0);
  expect(repository.exists("hello.txt")).toBe(false);
  expect(repository.read("dotty.json")).toBe("after\n");
});

test("a transcript that is one document, rewritten with every turn, is kept whole and gives the answer", async () => {
  using world = new World();
  const { repository } = world;
  const info = {
    protocol_version: 1,
    name: "pager",
    type: "Pager",
    hook_names: ["start", "end"],
    capabilities: { hooks: true, transcript_analyzer: true, token_calculator: true },
  };
  const event = (type: number) =>
    JSON.stringify({ type, session_id: SESSION, prompt: "Say hello", session_ref: world.transcript });
  world.program(
    "entire-agent-pager",
    `case "$1" in
info) echo '${JSON.stringify(info)}' ;;
are-hooks-installed) echo '{"installed":true}' ;;
install-hooks) echo '{"hooks_installed":2}' ;;
parse-hook) if [ "$3" = start ]; then echo '${event(2)}'; else echo '${event(3)}'; fi ;;
extract-summary) sed -n 's/.*"last": *\\("[^"]*"\\).*/{"summary":\\1,"has_summary":true}/p' "$3" ;;
extract-modified-files) echo '{"files":["of-another-turn.txt"],"current_position":9}' ;;
calculate-tokens) echo '{"input_tokens":999,"output_tokens":999}' ;;
*) exit 1 ;;
esac`,
  );
  expect(await world.run("enable", "--agent", "pager", "--external")).toMatchObject({ code: 0 });
  for (const [turn, answer] of ["First.", "Second."].entries()) {
    await repository.hook("pager", "start", {}, { env: world.env });
    repository.write(`${turn}.txt`, "hello\n");
    writeFileSync(world.transcript, JSON.stringify({ turns: turn + 1, last: answer }, null, turn * 2));
    await repository.hook("pager", "end", {}, { env: world.env });
    const { step } = await repository.json<{ step: Shown }>(["show", "last"], { env: world.env });
    expect(step).toMatchObject({ agent: "pager", response: answer, files: { added: [`${turn}.txt`] } });
    expect(step.tokens?.input ?? 0).toBe(0);
  }
});

test("only the user can allow it", async () => {
  using world = new World();
  const { repository } = world;
  const path = world.program("backtrail-agent-evil", `touch "${repository.home}/ran"`);
  repository.write(".backtrail/settings.json", JSON.stringify({ external_agents: [path, "evil"] }));
  repository.write(".backtrail/settings.local.json", JSON.stringify({ external_agents: [path, "evil"] }));
  await world.run("enable", "--agent", "claude-code");
  for (const args of [["agents", "list"], ["status"], ["agents", "show", "evil"], ["config", "list"]]) {
    await world.run(...args);
  }
  await repository.hook("evil", "stop", { session_id: SESSION, cwd: repository.path }, { env: world.env });
  expect(existsSync(join(repository.home, "ran"))).toBe(false);
  const set = await world.run("config", "set", "--local", "external_agents", path);
  expect(set).toMatchObject({ code: 4 });
});

test("one in the repository is not admitted, not even through a link", async () => {
  using world = new World();
  const { repository } = world;
  const inside = repository.write("tools/backtrail-agent-evil", `#!/bin/sh\ntouch "${repository.home}/ran"\n`);
  chmodSync(inside, 0o755);
  symlinkSync(inside, join(world.bin, "entire-agent-evil"));
  for (const path of [world.env.PATH, `${repository.at("tools")}${delimiter}${process.env["PATH"]}`]) {
    const enabled = await repository.run(["enable", "--agent", "evil", "--external"], { env: { PATH: path } });
    expect(enabled).toMatchObject({ code: 4 });
    expect(enabled.stderr).toContain("is in this repository");
  }
  expect(existsSync(join(repository.home, "ran"))).toBe(false);
});

test("a name of ours cannot be taken over", async () => {
  using world = new World();
  world.program("backtrail-agent-claude-code", `touch "${world.repository.home}/ran"`);
  expect((await world.run("enable", "--agent", "claude-code", "--external")).code).toBe(0);
  expect(existsSync(join(world.repository.home, "ran"))).toBe(false);
});

const INFO = (name: string) =>
  `{"protocol_version":1,"name":"${name}","type":"Bad","hook_names":["stop"],"capabilities":{"hooks":true}}`;

test.each([
  ["garbage", "echo nonsense", "not valid JSON"],
  ["another name", `echo '${INFO("else")}'`, "name differs from its program"],
  ["another version", `echo '${INFO("bad").replace(":1", ":2")}'`, "version 1"],
  ["a crash", "echo out of seed >&2; kill -9 $$", "out of seed"],
  ["no hooks after all", `echo '${INFO("bad").replace('"stop"', "")}'`, "declares hooks but lists none"],
  ["an endless answer", "cat /dev/zero", "more than 64 MiB"],
])("at its admission: %s", async (_what, script, words) => {
  using world = new World();
  world.program("entire-agent-bad", script);
  const enabled = await world.run("enable", "--agent", "bad", "--external");
  expect(enabled.code).toBe(1);
  expect(enabled.stderr).toContain(words);
  expect(existsSync(join(world.repository.home, "backtrail", "config", "config.json"))).toBe(false);
});

test.each([
  ["hangs", "sleep 60 & sleep 60"],
  ["answers without end", "cat /dev/zero"],
  ["answers nonsense", "echo '[1,2'"],
  ["answers an event that there is not", `echo '{"type":99,"session_id":"x"}'`],
  ["answers an event without a session", `echo '{"type":3,"session_id":7}'`],
  ["crashes", "kill -9 $$"],
])("in a hook: one that %s", async (_what, script) => {
  using world = new World();
  const { repository } = world;
  world.program(
    "backtrail-agent-bad",
    `case "$1" in
      info) echo '${INFO("bad")}' ;;
      install-hooks) echo '{"hooks_installed":1}' ;;
      are-hooks-installed) echo '{"installed":true}' ;;
      *) ${script} ;;
    esac`,
  );
  expect((await world.run("enable", "--agent", "bad", "--external")).code).toBe(0);
  const began = performance.now();
  const hook = await repository.hook("bad", "stop", { session_id: SESSION, cwd: repository.path }, { env: world.env });
  expect(hook).toMatchObject({ code: 0, stdout: "", stderr: "" });
  // Five seconds are its own, the rest is the machine's.
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(await world.steps()).toEqual([]);
  const failures = join(repository.path, ".git", "backtrail", "log.jsonl");
  expect(readFileSync(failures, "utf8")).toContain("bad");
});

test("what its transcript tells badly is missing, and the step is saved all the same", async () => {
  using world = new World();
  const { repository } = world;
  world.program(
    "backtrail-agent-bad",
    `case "$1" in
      info) echo '${INFO("bad").replace('"hooks":true', '"hooks":true,"transcript_analyzer":true,"token_calculator":true,"transcript_preparer":true,"hook_response_writer":true')}' ;;
      install-hooks) echo '{"hooks_installed":1}' ;;
      are-hooks-installed) echo '{"installed":true}' ;;
      parse-hook) echo '{"type":3,"session_id":"s","session_ref":"${world.transcript}","model":"m","timestamp":"never"}' ;;
      extract-prompts) echo '{"prompts":[1,"What was asked",null,7]}' ;;
      extract-modified-files) echo '{"files":"all"}' ;;
      calculate-tokens) echo '{"input_tokens":-5,"output_tokens":"many"}' ;;
      *) exit 7 ;;
    esac`,
  );
  await world.run("enable", "--agent", "bad", "--external");
  world.say({ any: "thing" });
  repository.write("new.txt", "new\n");
  await repository.hook("bad", "stop", { cwd: repository.path }, { env: world.env });
  expect(await world.steps()).toMatchObject([
    { kind: "turn-end", agent: "bad", prompt: "What was asked", files: { added: ["new.txt"] } },
  ]);
});

test("what it says of itself is asked once for each version of its program", async () => {
  using world = new World();
  const calls = join(world.repository.home, "calls");
  const script = `echo "$1" >> "${calls}"; echo '${INFO("bad").replace('"hooks":true', '"hooks":false')}'`;
  const path = world.program("backtrail-agent-bad", script);
  await world.run("config", "set", "external_agents", path);
  const asked = () => readFileSync(calls, "utf8").split("\n").filter(Boolean).length;
  expect((await world.run("agents", "list")).stdout).toContain("bad");
  await world.run("agents", "list");
  expect(asked()).toBe(1);
  world.program("backtrail-agent-bad", `${script}\n# another version`);
  await world.run("agents", "list");
  expect(asked()).toBe(2);
});

test("what an agent made for Entire keeps in .entire/tmp is in no status and no step", async () => {
  using world = new World();
  const { repository } = world;
  world.parrot("entire-agent-parrot");
  const exclude = repository.at(".git/info/exclude");
  const before = existsSync(exclude) ? readFileSync(exclude, "utf8") : null;
  expect(await world.run("enable", "--agent", "parrot", "--external")).toMatchObject({ code: 0 });
  repository.write(".entire/tmp/raw.jsonl", "said in private\n");
  repository.write("mine.txt", "x\n");
  expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe("?? mine.txt");
  await world.run("save", "now");
  const [step] = (await repository.json<{ steps: Shown[] }>(["log"], { env: world.env })).steps;
  expect(JSON.stringify(step)).not.toContain(".entire");
  expect(await world.run("disable")).toMatchObject({ code: 0 });
  expect(existsSync(exclude) ? readFileSync(exclude, "utf8") : null).toBe(before);
});
