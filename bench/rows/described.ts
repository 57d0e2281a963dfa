/** The cost of a user's profile without an adapter: the same session by Claude Code and by such an agent. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import claude from "../../src/agents/builtin/claude-code/profile.json";
import { type Contender, compare, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, countSteps, enable, settle, turnEnd, turnStart } from "../session.ts";

const FILES = 1_000;
const CHANGED = 5;
const AGENT = "described";

export function describedRows(executable: string, place: string, pairs: number): Row[] {
  const begin = (agent: string): BenchSession => {
    const repository = new Repository(join(place, `by-${agent}`), FILES);
    if (agent === AGENT) describe(repository);
    enable(executable, repository, agent);
    const session = new BenchSession(executable, repository, agent);
    session.turn();
    settle(executable, repository);
    return session;
  };
  const builtin = begin("claude-code");
  const described = begin(AGENT);
  const changed = (session: BenchSession) => () => session.repository.change(CHANGED);
  const start = (session: BenchSession) => turnStart(session, changed(session));
  const end = (session: BenchSession) => turnEnd(session, changed(session));
  return [
    row("turn start", start(described), start(builtin), described, pairs),
    row("turn end", end(described), end(builtin), described, pairs),
    row("a file written", written(described), written(builtin), null, pairs),
  ];
}

function row(what: string, ours: Contender, base: Contender, counted: BenchSession | null, pairs: number): Row {
  const before = counted ? countSteps(counted.repository) : 0;
  const times = compare(base, ours, pairs);
  const taken = counted ? countSteps(counted.repository) - before : 0;
  const expected = counted ? 2 * (pairs + 1) : 0;
  if (taken !== expected) throw new Error(`${what}: ${taken} steps were recorded, not ${expected}.`);
  const group = "Hooks of an agent that is JSON alone (5 changed)";
  return { group, what, base: "Claude Code\u2019s, built in", goal: { kind: "ratio", most: 1.1 }, times };
}

function written(session: BenchSession): Contender {
  return { prepare: () => {}, run: () => timed(session.wrote()) };
}

/** Claude Code's hooks and lines as a user would describe them, under another name. */
function describe({ home }: Repository): void {
  const file = join(home, "backtrail", "config", "agents", `${AGENT}.json`);
  mkdirSync(dirname(file), { recursive: true });
  const { borrowed_by: _, ...hooks } = claude.hooks;
  const settings = { local: { path: ".described/settings.json", format: "claude-settings" } };
  const each = (type: string) => ({ "$.type": type });
  const of = (type: string) => ({ "$.type": type });
  const content = ["$.message.content"];
  const lines = {
    rules: [
      { is: "prompt", when: { ...of("user"), "$.message.content.0": null }, text: content },
      { is: "answer", when: of("assistant"), in: content, each: each("text"), text: ["$.text"] },
      {
        is: "tool-use",
        when: of("assistant"),
        in: content,
        each: each("tool_use"),
        tool_name: ["$.name"],
        tool_use_id: ["$.id"],
        tool_input: ["$.input"],
        file_paths: ["$.input.file_path"],
      },
      { is: "tool-result", when: of("user"), in: content, each: each("tool_result"), tool_use_id: ["$.tool_use_id"] },
    ],
    id: ["$.uuid"],
    session_id: ["$.sessionId"],
    time: ["$.timestamp"],
    model: ["$.message.model"],
    message_id: ["$.message.id"],
    tokens: {
      input: ["$.message.usage.input_tokens"],
      output: ["$.message.usage.output_tokens"],
      cache_read: ["$.message.usage.cache_read_input_tokens"],
      cache_write: ["$.message.usage.cache_creation_input_tokens"],
    },
  };
  const { $schema: __, mcp: ___, commands: ____, run: _____, ...profile } = claude;
  const own = {
    ...profile,
    id: AGENT,
    display_name: "Described",
    short_names: [],
    hooks: { ...hooks, settings },
    transcript: { ...claude.transcript, lines, fork: true },
  };
  writeFileSync(file, JSON.stringify(own));
}
