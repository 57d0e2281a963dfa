/** A run that is cut off: the agent goes with it, the log has every line that was printed, and `--list` says so. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { ended, isAlive, StandIn, until } from "../support/stand-in.ts";

/** An agent with a child of its own, which writes down both and the signals it gets, and works for a minute. */
const WORKING = `
echo $$ >> "$CALLED"; sleep 61 & echo $! >> "$CALLED"
trap 'echo SIGINT >> "$CALLED"; exit 5' INT; trap 'echo SIGTERM >> "$CALLED"; exit 6' TERM
trap 'echo SIGHUP >> "$CALLED"; exit 7' HUP
init a1; say 'First half.'; echo ready >> "$CALLED"; wait; wait`;

const linesOf = (world: StandIn) =>
  existsSync(world.called) ? readFileSync(world.called, "utf8").trim().split("\n") : [];
const processes = (world: StandIn) =>
  linesOf(world)
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
const ready = (world: StandIn) => until(() => linesOf(world).includes("ready"), "the agent works");
const gone = (world: StandIn) => until(() => !processes(world).some(isAlive), "no process of the agent's is left");

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  test(`${signal}: it is passed on, and the run ends with ${code}`, async () => {
    using world = new StandIn();
    world.agent("claude", WORKING);
    const child = world.start(["fix it"]);
    const end = ended(child);
    await ready(world);
    child.kill(signal);
    const result = await end;
    expect(result.code).toBe(code);
    expect(result.stdout.trimEnd().split("\n").at(-1)).toBe('{"result":"First half.","agent":"claude"}');
    expect(linesOf(world)).toContain(signal);
    await gone(world);
    expect(world.log("a1").map((line) => line["type"])).toEqual(["aiwr_start", "system", "assistant"]);
    expect((await world.run(["--list"])).stdout).toContain('  a1  [claude]  [interrupted]  "fix it"');
  });
}

test("an agent that heeds nothing is killed after five seconds", async () => {
  using world = new StandIn();
  world.agent(
    "claude",
    `trap '' INT TERM HUP; echo $$ >> "$CALLED"; init a1; echo ready >> "$CALLED"; while :; do sleep 1; done`,
  );
  const child = world.start(["fix it"]);
  const end = ended(child);
  await ready(world);
  child.kill("SIGINT");
  expect((await end).code).toBe(130);
  await gone(world);
}, 30_000);

test("SIGKILL: the agent doesn't stay behind, and nothing that it printed is lost", async () => {
  using world = new StandIn();
  world.agent("claude", WORKING);
  const child = world.start(["fix it"]);
  const end = ended(child);
  await ready(world);
  await until(() => world.files()["a1.jsonl"]?.trimEnd().split("\n").length === 3, "the lines are logged");
  expect((await world.run(["--list"])).stdout).toContain('  a1  [claude]  [running]  "fix it"');
  child.kill("SIGKILL");
  await end;
  await gone(world);
  expect(linesOf(world)).toContain("SIGTERM");
  expect(world.log("a1").map((line) => line["type"])).toEqual(["aiwr_start", "system", "assistant"]);
  expect((await world.run(["--list"])).stdout).toContain('  a1  [claude]  [interrupted]  "fix it"');
  // And it can be continued: what follows stands behind a separator.
  world.agent("claude", "init a1; done_ 'Second half.'");
  expect((await world.run(["go on", "--session", "a1"])).code).toBe(0);
  expect(world.files()["a1.jsonl"]?.split("\n")).toContain("----------");
  expect((await world.run(["--list"])).stdout).toContain('  a1  [claude]  [completed]  "fix it"');
}, 30_000);

test("the reader of the output is gone: the run continues, and its log is complete", async () => {
  using world = new StandIn();
  world.agent("claude", `init a1; until [ -e "$CALLED" ]; do sleep 0.05; done; say more; done_ 'All of it.'; exit 3`);
  const child = world.start(["fix it"]);
  const end = ended(child);
  child.stdout?.destroy();
  await Bun.write(world.called, "go");
  expect((await end).code).toBe(3);
  expect(world.log("a1").map((line) => line["type"])).toEqual(["aiwr_start", "system", "assistant", "result"]);
});

test("what the agent leaves running on purpose doesn't keep the run from ending", async () => {
  using world = new StandIn();
  world.agent("claude", `sleep 62 & echo $! >> "$CALLED"; init a1; done_ 'Started a server.'`);
  expect((await world.run(["start it"])).code).toBe(0);
  const [left] = processes(world);
  expect(left !== undefined && isAlive(left)).toBe(true);
  if (left !== undefined) process.kill(left, "SIGKILL");
});
