/** Headless runs: what the wrapper adds, how long the list takes, and that memory doesn't grow with the stream. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanEnvironment } from "../../test/support/environment.ts";
import { compare, type Program, timed } from "../measure.ts";
import type { Row } from "../row.ts";

export interface RunSizes {
  logs: number;
  megabytes: number;
}

const GROUP = "Headless runs";
const LINE = `{"type":"user","text":"${"x".repeat(1_000)}"}`;

export function runRows(executable: string, place: string, sizes: RunSizes, pairs: number): Row[] {
  const world = makeWorld(join(dirname(executable), "aiwr"), join(place, "run"));
  const bare = world.aiwr(["--version"]);
  return [
    {
      group: GROUP,
      what: "what a run takes beside its agent",
      base: "bare start (`aiwr --version`)",
      goal: { kind: "ratio", most: 2 },
      times: compare(
        { run: () => timed(bare) },
        { run: () => timed(world.aiwr(["do it"])) - timed(world.agent()) },
        pairs,
      ),
    },
    {
      group: GROUP,
      what: `\`--list\` of ${sizes.logs} sessions`,
      base: "bare start (`aiwr --version`)",
      goal: { kind: "ratio", most: 10 },
      times: compare({ run: () => timed(bare) }, { run: () => timed(world.list(sizes.logs)) }, pairs),
    },
    {
      group: `${GROUP}: peak memory, in MB instead of ms`,
      what: `a stream of ${sizes.megabytes} MB`,
      base: "one of 10 MB",
      goal: { kind: "ratio", most: 1.25 },
      times: compare(
        { run: () => world.memory(10) },
        { run: () => world.memory(sizes.megabytes) },
        Math.max(1, Math.floor(pairs / 10)),
      ),
    },
  ];
}

function makeWorld(aiwr: string, place: string) {
  const bin = join(place, "bin");
  const peak = join(place, "peak");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh
printf '%s\\n' '{"type":"system","session_id":"a1"}'
[ -z "$LINES" ] || yes '${LINE}' | head -n "$LINES"
grep VmHWM /proc/$PPID/status > '${peak}'
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'
`;
  writeFileSync(join(bin, "claude"), script);
  chmodSync(join(bin, "claude"), 0o755);
  const logs = join(place, "logs");
  const environment = (extra: Record<string, string> = {}) =>
    cleanEnvironment(place, { PATH: `${bin}:${process.env["PATH"]}`, AIWR_LOG_DIR: logs, ...extra });
  const program = (args: string[], extra?: Record<string, string>): Program => {
    return { program: aiwr, args, cwd: place, env: environment(extra) };
  };
  let listed: string | undefined;
  return {
    aiwr: program,
    agent: (): Program => ({ program: join(bin, "claude"), args: [], cwd: place, env: environment() }),
    list(count: number): Program {
      listed ??= manyLogs(join(place, "many"), count);
      return program(["--list"], { AIWR_LOG_DIR: listed });
    },
    memory(megabytes: number): number {
      rmSync(logs, { recursive: true, force: true });
      const lines = String(Math.ceil((megabytes * 1e6) / LINE.length));
      const done = spawnSync(aiwr, ["do it"], { cwd: place, env: environment({ LINES: lines }) });
      if (done.status !== 0) throw new Error(`aiwr failed: ${done.stderr}`);
      rmSync(logs, { recursive: true, force: true });
      return Number(/\d+/.exec(readFileSync(peak, "utf8"))?.[0]) / 1_000;
    },
  };
}

/** As runs leave them, with the index that they write. */
function manyLogs(logs: string, count: number): string {
  const index: string[] = [];
  const note = (log: string, value: object) => index.push(JSON.stringify({ v: 1, log, ...value }));
  for (let i = 0; i < count; i++) {
    const day = join(logs, `2026-0${1 + (i % 9)}-0${1 + (i % 7)}`);
    mkdirSync(day, { recursive: true });
    const id = crypto.randomUUID();
    const facts = { agent: "claude", prompt: `task ${i}: make it work`, parent: null, at: i };
    const start = { type: "aiwr_start", prompt: facts.prompt, agent: "claude", model: null };
    writeFileSync(join(day, `${id}.jsonl`), `${JSON.stringify(start)}\n${LINE}\n`);
    note(`run-${i}`, { ...facts, pid: 1, start: "1" });
    note(id, { was: `run-${i}` });
    note(id, { ...facts, status: "completed" });
  }
  writeFileSync(join(logs, ".index.jsonl"), `${index.join("\n")}\n`);
  return logs;
}
