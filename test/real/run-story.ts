/**
 * One story of headless runs, told with any real agent: a run, its child, a continued session, a resumed tree, an
 * interrupt, an error of the model server. What differs between agents is handed in.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentDriver } from "./agent-driver.ts";
import { Backtrail } from "./backtrail.ts";
import { makeProject, readIn } from "./project.ts";
import type { Rig } from "./rig.ts";
import type { Finished } from "./sandbox.ts";
import { failing, reply, type Scenario, scenario, stalling } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;

export interface RunPage {
  /** As runs call the agent. */
  name: string;
  /** For the agent behind `--`. */
  args?: (rig: Rig) => string[];
  env?: Record<string, string>;
  /** How an error of the model server reads on stderr. */
  refusal: RegExp;
}

interface ListedSession {
  id: string;
  agent: string;
  parent: string | null;
}

interface Said {
  done: Finished;
  lines: Record<string, unknown>[];
  session: string;
}

export async function testRuns(driver: AgentDriver, page: RunPage): Promise<void> {
  const { program } = await driver.available();
  describe.skipIf(program === null)(`${driver.id}, run by Backtrail`, () => {
    test(
      "a run, its child, a continued session, a resumed tree, an interrupt, an error",
      async () => {
        const rig = await driver.start(program ?? "", (project) => scenarios(project, driver));
        try {
          await makeProject(rig);
          await story(rig, driver.id, page);
        } finally {
          await rig.stop();
        }
      },
      TIMEOUT_MS,
    );
  });
}

function scenarios(project: string, { tools }: AgentDriver): Scenario[] {
  const first = tools.write(join(project, "first.txt"), "one\n");
  return [
    // First: the earlier prompts, with their marks, stand in what it is told.
    scenario("again", [reply("I know what was done.")]),
    scenario("first", [reply("I will write it.", first), reply("It is written.")]),
    scenario("child", [reply("The child has looked.")]),
    scenario("more", [reply("There is more.")]),
    scenario("slow", [stalling(reply("This will take a while."))]),
    scenario("refused", [failing(400, "this is not possible")]),
  ];
}

async function story(rig: Rig, id: string, page: RunPage): Promise<void> {
  const { name } = page;
  const backtrail = new Backtrail(rig);
  await rig.output(["backtrail", "enable", "--agent", id]);
  const status = () => rig.output(["git", "status", "--porcelain"]);
  expect(await status()).toBe("");

  const first = await run(rig, page, "Write a file [[first]]");
  expect(first.lines).toEqual([
    { type: "aiwr_start", prompt: "Write a file [[first]]", agent: name, model: first.lines[0]?.["model"] },
    { session_id: first.session, agent: name },
    { result: "It is written.", agent: name },
  ]);
  expect(first.done).toMatchObject({ code: 0, stderr: "" });
  expect(readIn(rig, "first.txt")).toBe("one\n");
  expect(await status()).toBe("?? first.txt\n");
  // What the hooks recorded and what was logged are one session.
  expect([...new Set((await backtrail.steps()).map((step) => step.session))]).toEqual([first.session]);
  const logs = join(rig.project, ".aiwr", "logs");
  const day = join(logs, readdirSync(logs).find((entry) => !entry.startsWith(".")) ?? "");
  expect(linesOf(join(day, `${first.session}.jsonl`))[0]).toEqual(first.lines[0]);

  const child = await run(rig, page, "Have a look [[child]]", "--parent", first.session);
  expect(child.lines.at(-1)).toEqual({ result: "The child has looked.", agent: name });
  const folder = join(day, first.session);
  expect(readdirSync(folder).sort()).toEqual([`${child.session}.jsonl`, `${first.session}.jsonl`].sort());
  expect(linesOf(join(folder, `${child.session}.jsonl`))[1]).toEqual({ type: "aiwr_meta", parent_id: first.session });
  const { sessions } = await backtrail.json<{ sessions: ListedSession[] }>("sessions");
  const listed = (id: string) => sessions.find((session) => session.id === id);
  const path = expect.stringContaining(`/${first.session}/`);
  expect(listed(first.session)).toMatchObject({ agent: id, recorded: true, log: path, children: [child.session] });
  expect(listed(child.session)).toMatchObject({ recorded: true, log: path, parent: first.session });
  // The agent's own hooks know whose child it is.
  const recorded = await backtrail.json<{ sessions: ListedSession[] }>("status");
  expect(recorded.sessions.find((session) => session.id === child.session)?.parent).toBe(first.session);

  const more = await run(rig, page, "And more [[more]]", "--session", first.session);
  expect(more.session).toBe(first.session);
  expect(readFileSync(join(folder, `${first.session}.jsonl`), "utf8")).toContain("\n----------\n");
  // The agent went on with the same conversation.
  const continued = rig.received.lastOutline().join("\n");
  expect(continued).toContain("Write a file [[first]]");
  expect(continued).toContain("And more [[more]]");

  const again = await run(rig, page, "What was done? [[again]]", "--resume-tree", first.session);
  expect(again.lines.at(-1)).toEqual({ result: "I know what was done.", agent: name });
  expect(again.session).not.toBe(first.session);
  const told = JSON.stringify(rig.received.calls().at(-1));
  for (const part of [`# Session ${first.session}`, `## Session ${child.session}`, "The child has looked."]) {
    expect(told).toContain(part);
  }

  const slow = await interrupted(rig, page, "Take your time [[slow]]");
  expect(slow.done.code).toBe(130);
  expect(slow.lines).toHaveLength(3);
  expect(await rig.output(["sh", "-c", LEFT_BEHIND])).toBe("");

  const refused = await run(rig, page, "Do it [[refused]]");
  expect(refused.done.code).not.toBe(0);
  expect(refused.done.stderr).toMatch(page.refusal);

  const list = (await rig.output(["backtrail", "run", "--list"])).split("\n").slice(1, -1);
  expect(list).toEqual([
    `  ${refused.session}  [${name}]  [failed]  "Do it [[refused]]"`,
    `  ${slow.session}  [${name}]  [interrupted]  "Take your time [[slow]]"`,
    `  ${again.session}  [${name}]  [completed]  "What was done? [[again]]"`,
    `  ${first.session}  [${name}]  [completed]  "Write a file [[first]]"`,
    `    └─ ${child.session}  [${name}]  [completed]  "Have a look [[child]]"`,
  ]);
}

/** Processes of the agent that still run: an interrupt takes all of them along. */
const LEFT_BEHIND = `for p in /proc/[0-9]*; do
  case "$(tr '\\0' ' ' < $p/cmdline 2>/dev/null)" in *"[[slow]]"*) [ "\${p#/proc/}" = $$ ] || cat $p/cmdline;; esac
done`;

async function run(rig: Rig, page: RunPage, prompt: string, ...options: string[]): Promise<Said> {
  const args = page.args?.(rig) ?? [];
  const rest = args.length > 0 ? ["--", ...args] : [];
  const command = ["backtrail", "run", prompt, "--agent", page.name, ...options, ...rest];
  const done = await rig.run(command, page.env && { env: page.env });
  return said(done);
}

/** Interrupted as by Ctrl-C, once the agent has told its session. */
async function interrupted(rig: Rig, page: RunPage, prompt: string): Promise<Said> {
  const args = page.args?.(rig) ?? [];
  const rest = args.length > 0 ? ["--", ...args] : [];
  const script = `out=$(mktemp)
    "$@" > "$out" & pid=$!
    until grep -q session_id "$out" && grep -q slow "$RECEIVED"; do sleep 0.1; done
    kill -INT $pid; wait $pid; code=$?; cat "$out"; exit $code`;
  const command = ["backtrail", "run", prompt, "--agent", page.name, ...rest];
  const done = await rig.run(["sh", "-c", script, "sh", ...command], {
    env: { ...page.env, RECEIVED: rig.received.path },
  });
  return said(done);
}

function said(done: Finished): Said {
  const lines = done.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { done, lines, session: String(lines.find((line) => "session_id" in line)?.["session_id"] ?? "") };
}

function linesOf(path: string): unknown[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}
