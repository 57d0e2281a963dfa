/** Agents that tell less than others: hooks that their user makes by hand, no hooks at all, ends of turns alone. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runProgram } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

const SESSION = "5f0c2b1e-1111-4222-8333-444444444444";
const OFF = { BACKTRAIL_WORKER: "off" };

interface Logged {
  steps: { kind: string; turn: number; prompt: string | null; session: string; files: { added: string[] } }[];
}

function describe(world: StandIn, profile: Record<string, unknown>): void {
  const file = join(world.repository.home, "backtrail/config/agents", `${profile["id"]}.json`);
  mkdirSync(dirname(file), { recursive: true });
  const always = { v: 2, detection: { min_score: 50, score_rules: [] }, protected_dirs: [], tested_versions: [] };
  writeFileSync(file, JSON.stringify({ ...always, ...profile }));
}

/** Runs the commands that `enable` printed, as the agent would. */
async function called(world: StandIn, command: string, payload: object, time?: string): Promise<void> {
  const env = world.environment({ ...OFF, BACKTRAIL_CLOCK: time });
  const done = await runProgram("/bin/sh", ["-c", command], {
    cwd: world.repository.path,
    env,
    input: JSON.stringify({ session_id: SESSION, cwd: world.repository.path, ...payload }),
  });
  expect(done).toMatchObject({ code: 0, stderr: "" });
}

const BY_HAND = {
  id: "handy",
  display_name: "Handy",
  hooks: {
    settings: { user: { format: "none" } },
    install: { asked: { verb: "asked" }, answered: { verb: "answered", matcher: "all" } },
    fields: { session_id: ["$.session_id"], cwd: ["$.cwd"], prompt: ["$.prompt"] },
    events: { asked: "TurnStart", answered: "TurnEnd" },
    tools: {},
  },
};

test("hooks by hand: enable prints the commands, and they record", async () => {
  using world = new StandIn();
  const { repository } = world;
  describe(world, BY_HAND);
  const enabled = await repository.run(["enable", "--agent", "handy"], { env: OFF });
  expect(enabled).toMatchObject({ code: 0 });
  const command = (name: string) => new RegExp(`^  ${name}: (.*)$`, "m").exec(enabled.stdout)?.[1] ?? "";
  expect(command("asked")).toContain("hooks handy asked");
  expect(repository.git("status", "--porcelain")).toBe("");

  await called(world, command("asked"), { prompt: "Write it" });
  repository.write("it.txt", "it\n");
  await called(world, command("answered \\(all\\)"), {});
  const { steps } = await repository.json<Logged>(["log"], { env: OFF });
  expect(steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
    ["turn-end", 1, "Write it"],
    ["turn-start", 1, "Write it"],
  ]);
  const status = await repository.json<{ agents: object[] }>(["status"], { env: OFF });
  expect(status.agents).toContainEqual(expect.objectContaining({ id: "handy", hooks: "by-hand", heard: true }));
  expect((await repository.run(["status"], { env: OFF })).stdout).toContain("hooks installed by hand");
  expect(await repository.run(["doctor", "--check"], { env: OFF })).toMatchObject({ code: 0 });
  const disabled = await repository.run(["disable"], { env: OFF });
  expect(disabled).toMatchObject({ code: 0 });
  expect(disabled.stderr).toContain("remove them from its settings");
});

test("an empty prompt inside an open turn begins no turn", async () => {
  using world = new StandIn();
  const { repository } = world;
  describe(world, BY_HAND);
  const { stdout } = await repository.run(["enable", "--agent", "handy"], { env: OFF });
  const command = (name: string) => new RegExp(`^  ${name}: (.*)$`, "m").exec(stdout)?.[1] ?? "";
  // Later than a hook that is installed twice would repeat it.
  const at = (second: number) => `2026-11-19T09:00:${second}.000Z`;
  await called(world, command("asked"), { prompt: "Write it" }, at(10));
  repository.write("it.txt", "it\n");
  await called(world, command("asked"), { prompt: "" }, at(20));
  await called(world, command("answered \\(all\\)"), {}, at(30));
  const { steps } = await repository.json<Logged>(["log"], { env: OFF });
  expect(steps.map(({ kind, turn, files }) => [kind, turn, files.added])).toEqual([
    ["turn-end", 1, ["it.txt"]],
    ["turn-start", 1, []],
  ]);
});

const RUN_ALONE = {
  id: "plain",
  display_name: "Plain",
  executable: "plain",
  run: { command: ["{prompt}", "{args}"], stream: { output: "text", end: "exit", rules: [] } },
};

test("no hooks: a run is recorded before and after, as one session, and can be undone", async () => {
  using world = new StandIn();
  const { repository } = world;
  describe(world, RUN_ALONE);
  world.agent("plain", 'printf "%s\\n" "$1" >> told.txt; echo "I wrote $1"');
  repository.write("mine.txt", "mine\n");
  const enabled = await repository.run(["enable", "--agent", "plain"], { env: OFF });
  expect(enabled).toMatchObject({ code: 0 });
  expect(enabled.stdout).toContain("when `backtrail run` starts it");
  expect(enabled.stdout).toContain("backtrail run --agent plain");
  expect(enabled.stdout).not.toContain("Start the agent as usual");
  const checked = await repository.run(["agents", "check", "plain"], { env: OFF });
  expect(checked.stdout).toContain("plain is a valid profile. Nothing was recorded that could prove it.");

  expect(await world.run(["once", "--agent", "plain"], OFF)).toMatchObject({ code: 0 });
  const { steps } = await repository.json<Logged>(["log"], { env: OFF });
  expect(steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
    ["turn-end", 1, "once"],
    ["turn-start", 1, "once"],
  ]);
  expect(steps[0]?.files.added).toEqual(["told.txt"]);
  const shown = await repository.json<{ step: object }>(["show", "last"], { env: OFF });
  expect(shown.step).toMatchObject({ response: "I wrote once", interrupted: false });

  const { sessions } = await repository.json<{ sessions: { id: string }[] }>(["sessions"], { env: OFF });
  expect(sessions.map(({ id }) => id)).toEqual([steps[0]?.session ?? ""]);
  expect(await repository.run(["doctor", "--check"], { env: OFF })).toMatchObject({ code: 0 });

  expect(await repository.run(["rewind", "1", "--yes"], { env: OFF })).toMatchObject({ code: 0 });
  expect(repository.exists("told.txt")).toBe(false);
  expect(repository.read("mine.txt")).toBe("mine\n");
});

test("no hooks: the id that the agent tells early is the session's, and its files are in the turn", async () => {
  using world = new StandIn();
  const { repository } = world;
  const stream = {
    end: "exit",
    session_id: ["$.id"],
    rules: [{ when: { "$.said": { exists: true } }, is: "message" }],
  };
  describe(world, { ...RUN_ALONE, run: { command: ["{prompt}"], stream } });
  const tells = `echo '{"id":"${SESSION}"}'`;
  const deed = 'echo told > told.txt; printf \'{"said":"Done"}\\n\'';
  await repository.run(["enable", "--agent", "plain"], { env: OFF });
  for (const words of [`echo early > early.txt; ${tells}; sleep 0.3; ${deed}`, `rm early.txt; ${tells}; exit 1`]) {
    world.agent("plain", words);
    await world.run(["once", "--agent", "plain"], OFF);
  }
  const { steps } = await repository.json<Logged>(["log"], { env: OFF });
  expect(steps.map(({ kind, turn, session, files }) => [kind, turn, session, files.added])).toEqual([
    ["turn-end", 2, SESSION, []],
    ["turn-start", 2, SESSION, []],
    ["turn-end", 1, SESSION, ["early.txt", "told.txt"]],
    ["turn-start", 1, SESSION, []],
  ]);
  const { sessions } = await repository.json<{ sessions: { id: string }[] }>(["sessions"], { env: OFF });
  expect(sessions.map(({ id }) => id)).toEqual([SESSION]);
  expect(await repository.run(["doctor", "--check"], { env: OFF })).toMatchObject({ code: 0 });
});

const LINES = {
  list: "$.said",
  rules: [
    { is: "prompt", when: { "$.by": "user" }, text: ["$.text"] },
    { is: "answer", when: { "$.by": "agent" }, text: ["$.text"] },
  ],
  cwd: ["$.where"],
  tokens: { output: ["$.cost"] },
};

test("no hooks and no id: the new file where transcripts are tells the session, and all of it is the turn", async () => {
  using world = new StandIn();
  const { repository } = world;
  const transcript = { format: "json", directory: ".filer", place: "{session}.json", lines: LINES, fork: true };
  const stream = { output: "text", end: "exit", session_from: "files", rules: [] };
  describe(world, {
    ...RUN_ALONE,
    transcript: { ...transcript, recognised_by: [["$.said", "$.where"]] },
    resume: ["plain", "--fork", "{session}"],
    run: { command: ["{prompt}"], stream },
  });
  const said = '[{"by":"user","text":"once"},{"by":"agent","text":"Done","cost":5}]';
  // Another project's session begins at the same time.
  const other = `echo '{"where":"/elsewhere","said":[]}' > ~/.filer/0.json`;
  const own = `printf '{"where":"%s","said":%s}' "$PWD" '${said}' > ~/.filer/${SESSION}.json`;
  world.agent("plain", `mkdir -p ~/.filer; ${other}; ${own}; sleep 0.5; echo told > told.txt; echo Bye`);
  await repository.run(["enable", "--agent", "plain"], { env: OFF });
  const run = await world.run(["once", "--agent", "plain"], OFF);
  expect(run.stdout).toContain(`"session_id":"${SESSION}"`);
  const { step } = await repository.json<{ step: { id: string } }>(["show", "last"], { env: OFF });
  expect(step).toMatchObject({ session: SESSION, turn: 1, prompt: "once", response: "Done", tokens: { output: 5 } });
  const resumed = await repository.run(["resume", SESSION], { env: OFF });
  expect(resumed.stdout).toContain(`plain --fork ${SESSION}`);
  // It has no settings file that could be put back.
  expect((await repository.run(["doctor", "--check"], { env: OFF })).stdout).not.toContain("settings put back");
});

test("an agent without a recorded conversation is continued by its own command, and the plan says why", async () => {
  using world = new StandIn();
  const { repository } = world;
  const resume = ["handy", "--resume", "{session}"];
  describe(world, { ...BY_HAND, resume, cannot: { rewind: "It keeps its threads in a database." } });
  const { stdout } = await repository.run(["enable", "--agent", "handy"], { env: OFF });
  const command = (name: string) => new RegExp(`^  ${name}: (.*)$`, "m").exec(stdout)?.[1] ?? "";
  await called(world, command("asked"), { prompt: "Write it" });
  repository.write("it.txt", "it\n");
  await called(world, command("answered \\(all\\)"), {});
  const resumed = await repository.run(["resume", SESSION.slice(0, 8)], { env: OFF });
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stdout).toContain(`handy --resume ${SESSION}`);
  const { chat } = await repository.json<{ chat: object }>(["resume", SESSION], { env: OFF });
  expect(chat).toMatchObject({ agent: "handy", session: SESSION, transcript: null });
  const rewound = await repository.run(["rewind", "1", "--yes"], { env: OFF });
  expect(rewound.stdout + rewound.stderr).toContain("Handy can't rewind its chat: It keeps its threads in a database.");
});

test("no hooks: a run that fails is an interrupted turn, and its files are in it", async () => {
  using world = new StandIn();
  const { repository } = world;
  describe(world, RUN_ALONE);
  world.agent("plain", "echo half > half.txt; exit 3");
  await repository.run(["enable", "--agent", "plain"], { env: OFF });
  expect((await world.run(["once", "--agent", "plain"], OFF)).code).not.toBe(0);
  const { step } = await repository.json<{ step: object }>(["show", "last"], { env: OFF });
  expect(step).toMatchObject({ kind: "turn-end", interrupted: true, files: { added: ["half.txt"] } });
});

test("an agent that reports only the ends of its turns: each is a separate turn, and rewind undoes one", async () => {
  using world = new StandIn();
  const { repository } = world;
  const { hooks } = BY_HAND;
  const install = { answered: { verb: "answered" } };
  describe(world, { ...BY_HAND, hooks: { ...hooks, install, events: { answered: "TurnEnd" } } });
  const enabled = await repository.run(["enable", "--agent", "handy"], { env: OFF });
  const command = /^ {2}answered: (.*)$/m.exec(enabled.stdout)?.[1] ?? "";
  for (const name of ["one", "two", "three"]) {
    repository.write(`${name}.txt`, `${name}\n`);
    await called(world, command, {});
  }
  const { steps } = await repository.json<Logged>(["log"], { env: OFF });
  expect(steps.map(({ kind, turn, files }) => [kind, turn, files.added])).toEqual([
    ["turn-end", 3, ["three.txt"]],
    ["turn-end", 2, ["two.txt"]],
    ["turn-end", 1, expect.anything()],
  ]);
  expect(await repository.run(["rewind", "1", "--yes"], { env: OFF })).toMatchObject({ code: 0 });
  expect(["one", "two", "three"].filter((name) => repository.exists(`${name}.txt`))).toEqual(["one", "two"]);
});

test("an agent that tells tools and ends of turns: its first tool begins the turn, in each session", async () => {
  using world = new StandIn();
  const { repository } = world;
  const install = { used: { verb: "used" }, answered: { verb: "answered" } };
  const fields = { session_id: ["$.session_id"], cwd: ["$.cwd"], tool_name: ["$.tool"] };
  const events = { used: "TurnStart", answered: "TurnEnd" };
  describe(world, { ...BY_HAND, hooks: { ...BY_HAND.hooks, install, fields, events } });
  const enabled = await repository.run(["enable", "--agent", "handy"], { env: OFF });
  const command = (name: string) => new RegExp(`^  ${name}: (.*)$`, "m").exec(enabled.stdout)?.[1] ?? "";
  const at = (second: number) => `2026-11-19T09:00:${second}.000Z`;
  for (const [index, name] of ["one", "two"].entries()) {
    const session_id = SESSION.replace(/.$/, String(index));
    await called(world, command("used"), { session_id, tool: "write" }, at(10 + 30 * index));
    repository.write(`${name}.txt`, `${name}\n`);
    await called(world, command("used"), { session_id, tool: "shell" }, at(20 + 30 * index));
    await called(world, command("answered"), { session_id }, at(30 + 25 * index));
  }
  const { steps } = await repository.json<Logged>(["log"], { env: OFF });
  const ends = steps.filter(({ kind }) => kind === "turn-end");
  expect(ends.map(({ turn, files }) => [turn, files.added])).toEqual([
    [1, ["two.txt"]],
    [1, ["one.txt"]],
  ]);
  expect(await repository.run(["undo", "2", "--yes"], { env: OFF })).toMatchObject({ code: 0 });
  expect(["one", "two"].filter((name) => repository.exists(`${name}.txt`))).toEqual(["two"]);
});

test("a profile with neither hooks nor runs is refused, and says what it lacks", async () => {
  using world = new StandIn();
  describe(world, { id: "mute", display_name: "Mute" });
  const enabled = await world.repository.run(["enable", "--agent", "mute"], { env: OFF });
  expect(enabled).toMatchObject({ code: 2 });
  expect(enabled.stderr).toContain("neither hooks nor a command for runs");
});
