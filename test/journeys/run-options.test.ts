/** What a run may take, where it happens, how it is shown, and many of them at once. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { executable, runProgram } from "../support/binary.ts";
import { hooked } from "../support/hooked.ts";
import { ended, isAlive, StandIn, until } from "../support/stand-in.ts";

/** It tells that it works, and what it uses, and goes on for ever. */
const ENDLESS = `
init "endless-$$"; echo $$ >> "$CALLED"
printf '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"On it."}],"usage":{"input_tokens":100,"output_tokens":50}}}\\n'
sleep 60 & wait`;
/** It ends as the prompt says. */
const OBEDIENT = `
for a; do asked="$a"; done
init "s-$asked"
case "$asked" in *fail*) printf '{"type":"result","subtype":"error","is_error":true,"result":"No luck"}\\n'; exit 1;; esac
say "Working."
done_ "Done: $asked"`;

test("a run that takes too long is stopped, and its status says so", async () => {
  using world = new StandIn();
  world.agent("claude", ENDLESS);
  const result = await world.run(["go on", "--timeout", "300ms"]);
  expect(result).toMatchObject({ code: 1, stderr: "error: claude was stopped after 0.3 s.\n" });
  expect(result.stdout.split("\n")[2]).toBe('{"result":"On it.","agent":"claude"}');
  expect(isAlive(Number(readFileSync(world.called, "utf8")))).toBe(false);
  expect((await world.run(["--list"])).stdout).toContain("[timed-out]");
  const name = Object.keys(world.files())[0]?.replace(".jsonl", "") ?? "";
  expect(world.log(name).at(-1)).toEqual({ type: "aiwr_stopped", reason: "timed-out" });
});

test("a run over its budget is stopped; a run that reports its cost at the end is not", async () => {
  using world = new StandIn();
  world.agent("claude", ENDLESS);
  const result = await world.run(["go on", "--budget", "120"]);
  expect(result).toMatchObject({ code: 1, stderr: "error: claude was stopped at 150 tokens, over its budget.\n" });
  expect((await world.run(["--list"])).stdout).toContain("[over-budget]");
  const spender =
    'printf \'{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":0.75}\\n\'';
  world.agent("claude", `init spent; ${spender}`);
  expect(await world.run(["go on", "--budget", "$0.50"])).toMatchObject({
    code: 0,
    stderr: "warning: claude exceeded its budget, but reported this only at the end: $0.75.\n",
  });
  world.agent("gemini", "exit 0");
  const unknown = await world.run(["go on", "--agent", "gemini", "--budget", "$1"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toBe(
    "error: gemini does not report what it costs, and its model is unknown.\n" +
      "hint: Name the model with --model, or give the budget in tokens, such as --budget 200k.\n",
  );
  const unpriced = await world.run(["go on", "--agent", "gemini", "--model", "home-made", "--budget", "$1"]);
  expect(unpriced.stderr).toContain("the price of home-made is unknown.");
  expect((await world.run(["go on", "--timeout", "soon"])).code).toBe(2);
  expect((await world.run(["go on", "--tag", "two words"])).code).toBe(2);
});

test("a budget in dollars uses the model's price while the agent reports no cost", async () => {
  using world = new StandIn();
  world.agent(
    "claude",
    ENDLESS.replace('"id":"m1"', '"id":"m1","model":"claude-opus-5-5"').replace(":100,", ":100000,"),
  );
  const result = await world.run(["go on", "--budget", "$0.25"]);
  expect(result).toMatchObject({ code: 1, stderr: "error: claude was stopped at ~ $0.40, over its budget.\n" });
  const { sessions } = JSON.parse((await world.repository.run(["sessions", "--json"])).stdout);
  expect(sessions[0]).toMatchObject({ status: "over-budget", cost: { usd: 0.401, estimated: true } });
  expect((await world.repository.run(["sessions"])).stdout).toContain("  ~ $0.40\n");
  // What the agent tells at its end counts more than the estimate.
  const end = '{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":0.75}';
  world.agent("claude", `${ENDLESS.split("sleep")[0]} printf '${end}\\n'`);
  expect((await world.run(["again", "--output", "text"])).code).toBe(0);
  const told = JSON.parse((await world.repository.run(["sessions", "--json"])).stdout);
  expect(told.sessions[0]).toMatchObject({ prompt: "again", cost: { usd: 0.75, estimated: false } });
});

test("a prompt, or many, from standard input", async () => {
  using world = new StandIn();
  const piped = (args: string[], input: string) =>
    runProgram(executable(), ["run", ...args], { cwd: world.repository.path, env: world.environment(), input });
  world.agent("claude", "init s-one; done_ Done");
  const one = await piped(["-", "--output", "text"], "fix it,\nall of it\n\n");
  expect(one).toMatchObject({ code: 0, stdout: "Done\n", stderr: "" });
  expect(Object.values(world.files())[0]).toStartWith('{"type":"aiwr_start","prompt":"fix it,\\nall of it",');
  world.agent("claude", OBEDIENT);
  const none = await piped(["-"], " \n");
  expect(none).toMatchObject({ code: 2, stdout: "" });
  expect(none.stderr).toContain("The prompt on stdin is empty.");
  const many = await piped(["--prompts", "-", "--output", "text"], "one\ntwo\n");
  expect(many.stdout).toBe("Done: one\n---\nDone: two\n");
  expect((await piped(["--prompts", "-"], "")).stderr).toContain("There is no prompt in standard input.");
});

test("only the text, as it comes, or the three lines", async () => {
  using world = new StandIn();
  world.agent("claude", OBEDIENT);
  expect((await world.run(["it", "--output", "text"])).stdout).toBe("Done: it\n");
  expect((await world.run(["it", "--output", "stream"])).stdout).toBe("Working.\n");
  expect((await world.run(["it", "--output", "json"])).stdout.split("\n")).toHaveLength(4);
  world.agent("claude", `init evil; done_ '\\u001b[31mred\\u001b]0;owned\\u0007'`);
  expect((await world.run(["it", "--output", "text"])).stdout).toBe("red\n");
});

test("a run in a separate worktree is recorded there, logged here, and leaves the user's files alone", async () => {
  using world = new StandIn();
  world.repository.write("a.txt", "a\n");
  world.repository.commit("first");
  await hooked(world);
  world.repository.write("mine.txt", "not committed\n");
  const result = await world.run(["Try this: now!", "--worktree", "--tag", "try"]);
  const place = `${world.repository.path}.runs/try-this-now`;
  expect(result).toMatchObject({ code: 0 });
  expect(result.stderr).toBe(
    `note: The run is in ${place}, on the branch run/try-this-now.\n` +
      "note: 1 file with uncommitted changes is not there.\n",
  );
  expect(readFileSync(`${place}/notes.txt`, "utf8")).toBe("Try this: now!\n");
  expect(existsSync(`${place}/mine.txt`)).toBe(false);
  expect(world.repository.exists("notes.txt")).toBe(false);
  expect(world.repository.git("status", "--porcelain")).toBe("?? mine.txt");
  expect(world.repository.git("-C", place, "status", "--porcelain")).toBe("?? notes.txt");
  const { sessions } = JSON.parse((await world.repository.run(["sessions", "--json"])).stdout) as {
    sessions: { worktree: string; recorded: boolean; log: string }[];
  };
  expect(sessions).toEqual([expect.objectContaining({ worktree: "try-this-now", recorded: true, tags: ["try"] })]);
  expect(sessions[0]?.log).toStartWith(world.logs);
  expect((await world.repository.run(["fork", "list"])).stdout).toMatch(/^try-this-now .* Try this: now!\n/);
  // From there as well, it is one session.
  const there = await world.repository.run(["sessions"], { cwd: place });
  expect(there.stdout).toMatch(/completed {2}run, 1 turn, \d steps {2}\$0\.25 {2}#try\n/);
  // The next one of that name gets another place.
  await world.run(["try this now", "--worktree"]);
  expect(existsSync(`${place}-2/notes.txt`)).toBe(true);
});

test("a run finishes an interrupted restore before its agent starts, and one for each prompt does so once", async () => {
  using world = new StandIn();
  world.repository.writeAll({ "a.txt": "one\n", "b.txt": "one\n" });
  await hooked(world);
  world.agent("claude", `init "at-$$"; cat a.txt b.txt >> "$CALLED"; done_ "Done"`);
  await world.repository.run(["save", "ones"]);
  for (const args of [["look"], ["--prompts", world.repository.at("../prompts.txt")]]) {
    writeFileSync(world.repository.at("../prompts.txt"), "look\nlook\n");
    writeFileSync(world.called, "");
    world.repository.writeAll({ "a.txt": "two\n", "b.txt": "two\n" });
    const env = { BACKTRAIL_FAULT: "restore:file:1" };
    expect((await world.repository.run(["rewind", "ones", "--yes"], { env })).signal).toBe("SIGKILL");
    const result = await world.run([...args]);
    expect(result.code).toBe(0);
    expect(result.stderr.match(/Finished an interrupted rewind/g)).toHaveLength(1);
    expect(new Set(readFileSync(world.called, "utf8").trim().split("\n"))).toEqual(new Set(["one"]));
  }
});

test("there is no worktree without a commit", async () => {
  using world = new StandIn();
  world.agent("claude", OBEDIENT);
  world.repository.git("checkout", "--quiet", "--orphan", "nothing");
  const result = await world.run(["it", "--worktree"]);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain("Nothing is committed here yet");
  expect(existsSync(world.logs)).toBe(false);
});

test("one run for each prompt, up to a limit at once; a failed run stops no other", async () => {
  using world = new StandIn();
  world.agent("claude", OBEDIENT);
  const prompts = world.repository.write("prompts.txt", "one\n\ntwo-fail\nthree\n");
  const result = await world.run(["--prompts", prompts, "--parallel", "2", "--tag", "batch"]);
  expect(result.code).toBe(1);
  const lines = result.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.sort((a, b) => Number(a["index"]) - Number(b["index"]))).toEqual([
    expect.objectContaining({ index: 1, prompt: "one", session_id: "s-one", status: "completed", result: "Done: one" }),
    expect.objectContaining({ index: 2, prompt: "two-fail", status: "failed", error: "No luck", tokens: null }),
    expect.objectContaining({ index: 3, prompt: "three", status: "completed", worktree: null }),
  ]);
  expect(result.stderr).toMatch(/^\[1\/3\] began {2}"one"$/m);
  expect(result.stderr).toMatch(/^\[2\/3\] claude failed in [\d.]+ s {2}"two-fail": No luck$/m);
  expect(result.stderr).toEndWith("3 runs: 2 completed, 1 failed.\n");
  expect(Object.keys(world.files())).toEqual(["s-one.jsonl", "s-three.jsonl", "s-two-fail.jsonl"]);

  world.repository.write("blocks.txt", "first\n---\nsecond\n");
  const text = await world.run(["--prompts", "blocks.txt", "--parallel", "2", "--output", "text"]);
  expect(text).toMatchObject({ code: 0, stdout: "Done: first\n---\nDone: second\n" });
});

test("Ctrl-C ends all of them, and starts no other", async () => {
  using world = new StandIn();
  world.agent("claude", ENDLESS);
  const prompts = world.repository.write("prompts.txt", "one\ntwo\nthree\n");
  const child = world.start(["--prompts", prompts, "--parallel", "2"]);
  const pids = () =>
    existsSync(world.called) ? readFileSync(world.called, "utf8").trim().split("\n").map(Number) : [];
  await until(() => pids().length === 2, "two agents run");
  child.kill("SIGINT");
  const result = await ended(child);
  expect(result.code).toBe(130);
  expect(result.stderr).toEndWith("3 runs: 2 interrupted, 1 not started; 300 tokens.\n");
  expect(pids().map(isAlive)).toEqual([false, false]);
});

test("options that exclude each other are reported", async () => {
  using world = new StandIn();
  world.agent("claude", OBEDIENT);
  world.repository.write("prompts.txt", "one\n");
  for (const [args, message] of [
    [["--parallel", "2"], "--parallel needs --prompts"],
    [["hello", "--prompts", "prompts.txt"], "--prompts can't be combined with a prompt"],
    [["--prompts", "prompts.txt", "--output", "stream"], "can't be streamed"],
    [["--prompts", "prompts.txt", "--parallel", "0"], "is not a number of parallel runs"],
    [["--prompts", "none.txt"], "can't be read (ENOENT)"],
  ] as const) {
    const result = await world.run([...args]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
  }
});
