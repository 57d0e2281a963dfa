/** Logs where they can't be written, and several runs that move the same ones: none is lost, and the tree is right. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, runProgram } from "../support/index.ts";
import { permissionsCount } from "../support/recording.ts";
import { ended, StandIn, until } from "../support/stand-in.ts";

const FINE = "init a1; done_ fine";

test("no directory can be made for the logs", async () => {
  using world = new StandIn();
  world.agent("claude", `touch "$CALLED"; ${FINE}`);
  world.repository.write(".aiwr", "a file in its place");
  const result = await world.run(["fix it"]);
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toStartWith(`error: Cannot write to ${world.logs}\nhint: `);
  expect(await Bun.file(world.called).exists()).toBe(false);
});

test.skipIf(!permissionsCount)("a directory that may only be read", async () => {
  using world = new StandIn();
  world.agent("claude", FINE);
  mkdirSync(world.logs, { recursive: true });
  chmodSync(world.logs, 0o500);
  const plain = [executable(), "run", "fix it"];
  const nobody = [
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
  ];
  const [program = "", ...args] = process.getuid?.() === 0 ? [...nobody, "--", ...plain] : plain;
  const result = await runProgram(program, args, { cwd: world.repository.path, env: world.environment() });
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toBe(
    `error: Cannot write to ${world.logs}\nhint: Its permissions don't allow it. AIWR_LOG_DIR names another directory for the logs.\n`,
  );
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;

test.skipIf(!canMount)("a disk that fills up: the run continues, and reports that its log ended", async () => {
  using world = new StandIn();
  const disk = join(world.repository.home, "disk");
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).status !== 0) return;
  try {
    world.agent(
      "claude",
      `init a1; i=0; while [ $i -lt 200 ]; do say "$(printf '%01000d' $i)"; i=$((i+1)); done; done_ 'All done.'`,
    );
    const result = await world.run(["fix it"], { AIWR_LOG_DIR: disk });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('{"result":"All done.","agent":"claude"}');
    expect(result.stderr).toContain(`warning: Cannot write to ${disk}: the log is incomplete. The disk is full.`);
    writeFileSync(join(disk, "filler"), "");
    const full = await world.run(["and more"], { AIWR_LOG_DIR: disk });
    expect(full).toMatchObject({ code: 1, stdout: "" });
    expect(full.stderr).toContain(`error: Cannot write to ${disk}`);
  } finally {
    spawnSync("umount", ["-l", disk]);
  }
});

test("children started at the same instant, while their parent is still writing", async () => {
  using world = new StandIn();
  world.agent(
    "claude",
    `for word; do :; done
     case "$word" in
       parent) init parent; say one; until [ -e "$CALLED" ]; do sleep 0.02; done; say two; done_ 'The parent is done.';;
       *) init "$word"; done_ "$word is done.";;
     esac`,
  );
  const parent = world.start(["parent"]);
  const end = ended(parent);
  await until(() => Object.keys(safely(() => world.files())).includes("parent.jsonl"), "the parent has its name");
  const names = ["c1", "c2", "c3", "c4", "c5", "c6"];
  const children = await Promise.all(names.map((name) => world.run([name, "--parent", "parent"])));
  expect(children.map((child) => child.code)).toEqual(names.map(() => 0));
  // The parent's file has been moved under its hands, and a child of a child moves another.
  expect((await world.run(["grandchild", "--parent", "c3"])).code).toBe(0);
  await Bun.write(world.called, "go");
  expect((await end).code).toBe(0);

  expect(Object.keys(world.files()).sort()).toEqual(
    ["c1", "c2", "c4", "c5", "c6", "parent", "c3/c3", "c3/grandchild"].map((name) => `parent/${name}.jsonl`).sort(),
  );
  expect(world.log("parent/parent").map((line) => line["type"])).toEqual([
    "aiwr_start",
    "system",
    "assistant",
    "assistant",
    "result",
  ]);
  const list = (await world.run(["--list"])).stdout.trimEnd().split("\n").slice(1);
  expect(list[0]).toBe('  parent  [claude]  [completed]  "parent"');
  expect(list.filter((line) => /^ {4}└─ c\d {2}\[claude\] {2}\[completed\]/.test(line))).toHaveLength(6);
  expect(list).toContain('      └─ grandchild  [claude]  [completed]  "grandchild"');
});

test("an agent that continues a session with a log writes to that log", async () => {
  using world = new StandIn();
  world.agent("claude", FINE);
  await world.run(["first"]);
  await world.run(["second", "--", "--continue"]);
  expect(Object.keys(world.files())).toEqual(["a1.jsonl"]);
  const types = world.files()["a1.jsonl"]?.trimEnd().split("\n");
  expect(types?.filter((line) => line.includes("aiwr_start"))).toHaveLength(2);
  expect(types?.filter((line) => line === "----------")).toHaveLength(1);
  // Also where that has moved meanwhile.
  world.agent("claude", "init b1; done_ fine");
  await world.run(["child", "--parent", "a1"]);
  world.agent("claude", FINE);
  await world.run(["third", "--", "--continue"]);
  expect(Object.keys(world.files())).toEqual(["a1/a1.jsonl", "a1/b1.jsonl"]);
  expect(world.files()["a1/a1.jsonl"]?.match(/aiwr_start/g)).toHaveLength(3);
});

test("without its index, `--list` reads the logs, and says the same", async () => {
  using world = new StandIn();
  world.agent("claude", FINE);
  await world.run(["first"]);
  world.agent("claude", "init b1; say half; exit 3");
  await world.run(["second", "--parent", "a1"]);
  world.agent("claude", `init c1; printf '{"type":"result","is_error":true,"result":"no"}\\n'; exit 1`);
  await world.run(["third"]);
  const before = (await world.run(["--list"])).stdout;
  rmSync(join(world.logs, ".index.jsonl"));
  const after = (await world.run(["--list"])).stdout;
  // What a log can't tell is the exit status.
  expect(after).toBe(before.replace('[failed]  "second"', '[interrupted]  "second"'));
  expect((await world.run(["--list"])).stdout).toBe(after);
});

function safely<T extends object>(read: () => T): T | Record<string, never> {
  try {
    return read();
  } catch {
    return {};
  }
}
