/** The contract of headless runs, by both names: arguments, three lines, logs, tree, errors. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { executable, type Result } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

/** Its session's id is the last word of the prompt; it writes down how it was called. */
const NAMED = `
printf '%s\\n' "$*" >> "$CALLED"
id=$(printf '%s' "$*" | tail -n 1); id=\${id##* }
init "$id"; say "Working on it."; done_ "Done: ü $id"`;

const BOTH = {
  "backtrail run": (world: StandIn, args: string[], env?: Record<string, string>) => world.run(args, env),
  aiwr: (world: StandIn, args: string[], env?: Record<string, string>) => world.aiwr(args, env),
};

const called = (world: StandIn) => readFileSync(world.called, "utf8").trimEnd().split("\n");
const parsed = (result: Result) =>
  result.stdout
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

for (const [name, command] of Object.entries(BOTH)) {
  describe(name, () => {
    test("a run, a child, a grandchild, a continued session, the list", async () => {
      using world = new StandIn();
      world.agent("claude", NAMED);
      world.agent(
        "gemini",
        `printf '%s\\n' '{"type":"init","session_id":"e5f6g7h8"}' '{"type":"message","role":"assistant","content":"Grüße, ","delta":true}' '{"type":"message","role":"assistant","content":"Welt","delta":true}' '{"type":"result","status":"success"}'`,
      );
      const first = await command(world, ["fix the authentication bug a1b2c3d4"]);
      expect(first).toMatchObject({ code: 0, stderr: "" });
      expect(first.stdout).toBe(
        [
          '{"type":"aiwr_start","prompt":"fix the authentication bug a1b2c3d4","agent":"claude","model":"opus"}',
          '{"session_id":"a1b2c3d4","agent":"claude"}',
          '{"result":"Done: ü a1b2c3d4","agent":"claude"}',
          "",
        ].join("\n"),
      );
      const gemini = await command(world, ["implement feature X", "--agent", "gemini"]);
      expect(parsed(gemini)[2]).toEqual({ result: "Grüße, Welt", agent: "gemini" });
      expect((await command(world, ["write tests i9j0k1l2", "--parent", "e5f6g7h8"])).code).toBe(0);
      expect((await command(world, ["and more m3n4o5p6", "--parent", "i9j0k1l2"])).code).toBe(0);
      expect((await command(world, ["continue a1b2c3d4", "--session", "a1b2c3d4"])).code).toBe(0);

      const list = await command(world, ["--list"]);
      const today = new Date().toISOString().slice(0, 10);
      expect(list).toMatchObject({ code: 0, stderr: "" });
      expect(list.stdout).toBe(
        [
          `Sessions (${today}):`,
          '  e5f6g7h8  [gemini]  [completed]  "implement feature X"',
          '    └─ i9j0k1l2  [claude]  [completed]  "write tests i9j0k1l2"',
          '      └─ m3n4o5p6  [claude]  [completed]  "and more m3n4o5p6"',
          '  a1b2c3d4  [claude]  [completed]  "fix the authentication bug a1b2c3d4"',
          "",
        ].join("\n"),
      );
      expect(Object.keys(world.files())).toEqual([
        "a1b2c3d4.jsonl",
        "e5f6g7h8/e5f6g7h8.jsonl",
        "e5f6g7h8/i9j0k1l2/i9j0k1l2.jsonl",
        "e5f6g7h8/i9j0k1l2/m3n4o5p6.jsonl",
      ]);
      expect(world.log("e5f6g7h8/i9j0k1l2/m3n4o5p6").slice(0, 2)).toEqual([
        { type: "aiwr_start", prompt: "and more m3n4o5p6", agent: "claude", model: "opus" },
        { type: "aiwr_meta", parent_id: "i9j0k1l2" },
      ]);
      const runs = world.files()["a1b2c3d4.jsonl"]?.split("\n----------\n") ?? [];
      expect(runs.map((run) => run.split("\n")[0])).toEqual([
        '{"type":"aiwr_start","prompt":"fix the authentication bug a1b2c3d4","agent":"claude","model":"opus"}',
        '{"type":"aiwr_start","prompt":"continue a1b2c3d4","agent":"claude","model":"opus"}',
      ]);
      expect(called(world).at(-1)).toContain("--resume a1b2c3d4 -- continue a1b2c3d4");
    });

    test("an error has a hint, and nothing is started", async () => {
      using world = new StandIn();
      world.agent("claude", NAMED);
      const errors: [string[], number, string][] = [
        [
          ["x", "--agent", "nobody"],
          2,
          "Unknown agent: nobody. Available: claude, gemini, codex, opencode, cline, copilot, cursor, droid, kilo, kimi, pi, qwen",
        ],
        [["x", "--agent", "codex"], 1, "codex not found in PATH"],
        [["x", "--parent", "nobody"], 1, "Parent session not found: nobody"],
        [["x", "--session", "nobody"], 1, "Session not found: nobody"],
        [["x", "--resume", "nobody"], 1, "Session not found: nobody"],
        [["--resume-tree", "nobody"], 1, "Session not found: nobody"],
        [[], 2, "The prompt is empty."],
        [["x", "y"], 2, "Too many arguments"],
        [["x", "--session", "a", "--resume", "b"], 2, "'--session <id>' cannot be used with option '--resume <id>'"],
      ];
      for (const [args, code, message] of errors) {
        const result = await command(world, args, { PATH: `${world.bin}:/usr/bin:/bin` });
        expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: "" });
        expect(result.stderr).toContain(message);
        expect(result.stderr).toContain("\nhint: ");
      }
      expect(await Bun.file(world.called).exists()).toBe(false);
      expect((await command(world, ["--list"])).stdout).toBe("");
    });
  });
}

test("which agent: --agent, AIWR_DEFAULT_AGENT, the setting; and a session's own when it is continued", async () => {
  using world = new StandIn();
  const codex = `printf '%s\\n' "$*" >> "$CALLED"; printf '%s\\n' '{"type":"thread.started","thread_id":"t1"}' '{"type":"item.completed","item":{"type":"agent_message","text":"ok"}}' '{"type":"turn.completed"}'`;
  world.agent("claude", NAMED);
  world.agent("codex", codex);
  const agentOf = async (args: string[], env?: Record<string, string>) =>
    (parsed(await world.run(args, env))[0] as { agent: string }).agent;
  expect(await agentOf(["x s1"])).toBe("claude");
  expect(await agentOf(["x"], { AIWR_DEFAULT_AGENT: "codex" })).toBe("codex");
  expect(await agentOf(["x"], { BACKTRAIL_DEFAULT_AGENT: "codex" })).toBe("codex");
  expect(await agentOf(["x s2", "--agent", "claude-code"], { AIWR_DEFAULT_AGENT: "codex" })).toBe("claude");
  expect(await agentOf(["more", "--session", "t1"])).toBe("codex");
  expect(called(world).at(-1)).toBe("exec resume t1 --json --dangerously-bypass-approvals-and-sandbox -- more");
  const wrong = await world.run(["more", "--session", "t1", "--agent", "claude"]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("Session t1 belongs to codex, so claude can't continue it.");
});

test("which model, and words for the agent: flags, `--`, settings; a prompt is never read as a flag", async () => {
  using world = new StandIn();
  world.agent("claude", NAMED);
  const settings = { run: { agents: { claude: { model: "haiku", args: ["--add-dir", "/x"] } } } };
  world.repository.write("../home/backtrail/config/config.json", JSON.stringify(settings));
  const modelOf = async (args: string[]) => (parsed(await world.run(args))[0] as { model: string | null }).model;
  expect(await modelOf(["x s1"])).toBe("haiku");
  expect(called(world).at(-1)).toMatch(/--model haiku --session-id \S+ --add-dir \/x -- x s1$/);
  expect(await modelOf(["x s2", "--model", "opus"])).toBe("opus");
  expect(await modelOf(["x s3", "--", "--model", "sonnet", "--max-turns", "3"])).toBe("sonnet");
  expect(called(world).at(-1)).toMatch(
    /acceptEdits --session-id \S+ --add-dir \/x --model sonnet --max-turns 3 -- x s3$/,
  );
  expect(await modelOf(["x s4", "--", "--model=fable"])).toBe("fable");
  expect(await modelOf(["--help me s5", "--model", "opus"])).toBe("opus");
  expect(called(world).at(-1)).toEndWith(" -- --help me s5");
});

test("--quiet prints the result alone, --verbose what the agent prints, without its escapes", async () => {
  using world = new StandIn();
  world.agent("claude", `init a1; printf 'thinking\\033[31m hard\\n' >&2; done_ ok`);
  const quiet = await world.run(["x", "--quiet"]);
  expect(quiet).toMatchObject({ code: 0, stdout: '{"result":"ok","agent":"claude"}\n', stderr: "" });
  const verbose = await world.run(["x", "--verbose"]);
  expect(verbose.stdout.split("\n")).toHaveLength(4);
  expect(verbose.stderr).toContain("thinking hard\n");
  expect(verbose.stderr).toContain('{"type":"system"');
});

test("a resumed session learns what was done, with its tree or without, within a limit", async () => {
  using world = new StandIn();
  world.agent("claude", NAMED);
  await world.run(["begin a1b2c3d4"]);
  await world.run(["a part of it e5f6", "--parent", "a1b2c3d4"]);
  await world.run(["on with it s3", "--resume", "a1b2c3d4"]);
  const alone = readFileSync(world.called, "utf8");
  expect(alone).toContain("--append-system-prompt This is the record of an earlier session.");
  expect(alone).toContain(
    "# Session a1b2c3d4 (claude, completed)\nPrompt: begin a1b2c3d4\nAgent: Working on it.\nResult: Done: ü a1b2c3d4",
  );
  expect(alone).not.toContain("Session e5f6");
  await world.run(["on with it s4", "--resume-tree", "a1b2c3d4"]);
  expect(readFileSync(world.called, "utf8")).toContain(
    "\n\n## Session e5f6 (claude, completed, started by a1b2c3d4)\nPrompt: a part of it e5f6\n",
  );
  // Without a prompt it goes on.
  expect(parsed(await world.run(["--resume", "a1b2c3d4"]))[0]).toMatchObject({
    prompt: "Continue with the unfinished work.",
  });
});

test("a run started by an agent, or in a recorded session, finds its parent", async () => {
  using world = new StandIn();
  const { repository } = world;
  repository.git("init", "--quiet");
  repository.commit("Begin");
  await repository.run(["enable", "--agent", "claude-code"]);
  const aiwr = `AIWR="$(dirname "$BACKTRAIL")/aiwr"`;
  // By the id that it was given; by the id that it told instead; by the run's own name.
  world.agent(
    "claude",
    `${aiwr}; for word; do :; done
    case "$word" in
      outer) init outer; sleep 0.1; "$AIWR" inner > /dev/null; done_ outer;;
      *) init "$word"; done_ "$word";;
    esac`,
  );
  await world.run(["outer"], { BACKTRAIL: executable() });
  expect(Object.keys(world.files())).toEqual(["outer/inner.jsonl", "outer/outer.jsonl"]);
  expect(repository.git("status", "--porcelain")).toBe("");

  const payload = { session_id: "recorded", hook_event_name: "SessionStart", cwd: repository.path, source: "startup" };
  const hook = await repository.run(["hooks", "claude-code", "session-start"], { input: JSON.stringify(payload) });
  expect(hook.code).toBe(0);
  await world.run(["child"], { BACKTRAIL_SESSION_ID: "recorded" });
  expect(world.log("child")[1]).toEqual({ type: "aiwr_meta", parent_id: "recorded" });
  await world.run(["named", "--parent", "recorded"]);
  expect(world.log("named")[1]).toEqual({ type: "aiwr_meta", parent_id: "recorded" });
  await world.run(["orphan"], { BACKTRAIL_SESSION_ID: "nobody" });
  expect(world.log("orphan")[1]).toMatchObject({ type: "system" });
});

test("logs of other tools without a start record are listed by what their lines say, and children by their parent", async () => {
  using world = new StandIn();
  const day = ".aiwr/logs/2024-12-22";
  const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const claude = (id: string, more: object) => ({ session_id: id, ...more });
  world.repository.write(
    `${day}/aaaa1111.jsonl`,
    lines(
      claude("aaaa1111", { type: "system", subtype: "init", model: "claude-opus-4" }),
      claude("aaaa1111", { type: "user", message: { role: "user", content: "fix the parser" } }),
      claude("aaaa1111", { type: "assistant", message: { content: [{ type: "text", text: "Fixed." }] } }),
      claude("aaaa1111", { type: "result", subtype: "success", result: "Fixed." }),
    ),
  );
  world.repository.write(
    ".aiwr/logs/2024-12-23/bbbb2222.jsonl",
    lines(
      { type: "aiwr_meta", parent_id: "aaaa1111" },
      { type: "init", session_id: "bbbb2222", model: "gemini-3" },
      { type: "message", role: "user", content: "test the parser", session_id: "bbbb2222" },
      { type: "message", role: "assistant", content: "Tested.", delta: true, session_id: "bbbb2222" },
      { type: "result", status: "success", session_id: "bbbb2222" },
    ),
  );
  world.repository.write(
    `${day}/cccc3333.jsonl`,
    lines(
      { type: "text", sessionID: "cccc3333", part: { text: "half an ans" } },
      { type: "step_finish", sessionID: "cccc3333", part: { reason: "length" } },
    ),
  );
  const { stdout } = await world.aiwr(["--list"]);
  expect(stdout).toBe(
    `Sessions (2024-12-22):
  cccc3333  [opencode]  [failed]  ""
  aaaa1111  [claude]  [completed]  "fix the parser"
    └─ bbbb2222  [gemini]  [completed]  "test the parser"
`,
  );
});

test("help speaks of the name that it was called by", async () => {
  using world = new StandIn();
  const { stdout } = await world.aiwr(["--help"]);
  expect(stdout).toContain("Usage: aiwr [prompt] [options]");
  expect(stdout).not.toContain("backtrail run");
  expect((await world.aiwr(["--nonsense"])).stderr).toContain("`aiwr --help` lists its options.");
});
