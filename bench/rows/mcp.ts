/** The MCP server's first answer from a cold start and the status line, against the bare start of the same executable. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare, type Program, timed } from "../measure.ts";
import { Repository } from "../repository.ts";
import type { Row } from "../row.ts";
import { BenchSession, enable, settle } from "../session.ts";

const GOAL = { kind: "ratio", most: 6 } as const;
const STATUS_LINE_GOAL = { kind: "ratio", most: 2 } as const;
const TURNS = 20;

export function mcpRows(executable: string, place: string, pairs: number): Row[] {
  const repository = new Repository(join(place, "mcp"), 1_000);
  enable(executable, repository);
  const session = new BenchSession(executable, repository);
  for (let n = 0; n < TURNS; n++) session.turn();
  settle(executable, repository);
  const wrote = session.wrote();
  const client = { name: "bench", version: "1" };
  const opening = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client };

  const asking = (n: number, tool: string, input: object): Program => {
    const requests = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: opening },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: tool, arguments: input } },
    ];
    const file = join(place, `mcp-requests-${n}`);
    writeFileSync(file, requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
    return piped(n, file, `"${executable}" mcp`, 2);
  };
  /** The server answers only while its input is open: the second half closes it when it has read the answers. */
  const piped = (n: number, file: string, command: string, answers: number): Program => {
    const open = join(place, `mcp-open-${n}`);
    execFileSync("mkfifo", [open]);
    const script = `{ cat "${file}"; cat "${open}"; } | ${command} | { head -n ${answers} > /dev/null; : > "${open}"; }`;
    return { program: "/bin/sh", args: ["-c", script], cwd: repository.path, env: wrote.env };
  };
  const empty = join(place, "mcp-nothing");
  writeFileSync(empty, "");
  const bare = piped(0, empty, `"${executable}" hooks git nothing`, 1);
  const row = (what: string, program: Program): Row => ({
    group: "The MCP server",
    what,
    base: "bare start",
    goal: GOAL,
    times: compare({ run: () => timed(bare) }, { run: () => timed(program) }, pairs),
  });
  const start = (...args: string[]): Program => ({ program: executable, args, cwd: repository.path, env: wrote.env });
  const [nothing, statusLine] = [start("hooks", "git", "nothing"), start("statusline")];
  return [
    {
      group: "The status line",
      what: "`backtrail statusline`",
      base: "bare start",
      goal: STATUS_LINE_GOAL,
      times: compare({ run: () => timed(nothing) }, { run: () => timed(statusLine) }, pairs),
    },
    row("start, list turns, end", asking(1, "turns", {})),
    row("start, recall, end", asking(2, "recall", { query: "file" })),
  ];
}
