/**
 * Lines of a hostile client through the built MCP server: it goes on answering, ends well, quotes no secret, applies
 * nothing and changes no file of the user.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { executable, ScriptedClaude, write } from "../../support/index.ts";
import { type TemporaryRepository, temporaryRepository } from "../../support/repository.ts";
import { damaged, damagedJson } from "../mutate.ts";
import type { Random } from "../random.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";
import { demandHarmless, STRACE, straceArguments } from "../watch.ts";

const SECRET = `ghp_${"Zx8KqZ3vTn5WbR7mLpY2cJd9FgHs4Ae6Uo1X"}`;
const FILES = { "a.txt": "one\n", "b.txt": `token ${SECRET}\n` };
const MAX_MESSAGE = 1024 * 1024;
const BOUND_MS = 25_000;
const LAST = "the last request";

/** With the capability, so that what could be applied by a forged reply would be. */
const OPENING = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: { elicitation: {} },
    clientInfo: { name: "claude-code", version: "1" },
  },
};
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "claude-code", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};
const YES = { action: "accept", content: { apply: true } };

const CALLS: readonly [name: string, input: object][] = [
  ["recall", { query: "token" }],
  ["why", { file: "b.txt", line: 1 }],
  ["turns", {}],
  ["turn", { id: "last" }],
  ["diff", { a: "HEAD", paths: ["b.txt"] }],
  ["last_green", {}],
  ["savepoint", { name: "fuzzed" }],
  ["propose_undo", { turn: "last", reason: `No: ${SECRET}` }],
  ["propose_rewind", { target: "prev", reason: "No." }],
];

export const mcp: Target = {
  name: "mcp",
  cost: 60,
  async open() {
    const repository = temporaryRepository();
    const environment = repository.environment.bind(repository);
    repository.environment = (extra) => environment({ BACKTRAIL_WORKER: "off", ...extra });
    await repository.run(["enable", "--agent", "claude-code"]);
    await repository.run(["config", "set", "mcp.apply", "ask"]);
    const agent = new ScriptedClaude(repository);
    await agent.start();
    await agent.turn(`First, with ${SECRET}`, [write("a.txt", FILES["a.txt"])]);
    await agent.turn("Second", [write("b.txt", FILES["b.txt"])]);
    if (!STRACE) console.log("mcp: strace is not here, so what the server writes and starts is not watched");
    return {
      input: (random) => labeled({ watched: random.once(4) ? "yes" : "no" }, linesOf(random)),
      run: (input) => tried(repository, input),
      close: () => repository.remove(),
    };
  },
};

function linesOf(random: Random): Buffer {
  const isModern = random.once(3);
  const opening = Buffer.from(isModern ? "" : `${JSON.stringify(OPENING)}\n`);
  const lines = Array.from({ length: 3 + random.below(8) }, (_, n) => {
    const text = JSON.stringify(requestOf(random, n + 2, isModern));
    if (random.once(4)) return text;
    return random.once(3) ? damaged(random, Buffer.from(text)) : damagedJson(random, text);
  });
  const parts = lines.flatMap((line) => [Buffer.from(line as string), Buffer.from("\n")]);
  return Buffer.concat([opening, ...parts]);
}

function requestOf(random: Random, id: number, isModern: boolean): object {
  const meta = isModern ? { _meta: ENVELOPE } : {};
  const [name, input] = random.pick(CALLS);
  const call = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input, ...meta } };
  switch (random.below(8)) {
    case 0:
      return { jsonrpc: "2.0", id: random.pick([id, "", "0"]), result: YES };
    case 1: {
      const uri = random.pick(["backtrail://turn/last", "backtrail://session/x", "file:///etc/passwd"]);
      return { jsonrpc: "2.0", id, method: "resources/read", params: { uri, ...meta } };
    }
    case 2: {
      const method = random.pick(["tools/list", "resources/list", "server/discover", "initialize", "nothing"]);
      return { jsonrpc: "2.0", id, method, params: meta };
    }
    case 3:
      return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: random.below(id + 1) } };
    case 4:
      return { ...call, params: { ...call.params, inputResponses: { apply: YES }, requestState: "forged" } };
    default:
      return call;
  }
}

async function tried(repository: TemporaryRepository, input: Uint8Array): Promise<void> {
  const { about, body } = unlabeled(input);
  const trace = resolve(repository.home, "trace");
  const temporary = resolve(repository.home, "tmp");
  mkdirSync(temporary, { recursive: true });
  const strace = about["watched"] === "yes" ? STRACE : null;
  const program = strace ?? executable();
  const args = strace === null ? ["mcp"] : [...straceArguments(trace), executable(), "mcp"];
  const { output, code } = await talk(program, args, repository, temporary, body);
  demand(code === 0, `The server ended with ${code}.`);
  const isTooLong = body
    .toString("latin1")
    .split("\n")
    .some((line) => line.length > MAX_MESSAGE);
  demand(isTooLong || output.includes(LAST), "The server stopped answering.");
  for (const line of output.split("\n").slice(0, -1)) JSON.parse(line);
  demand(!output.includes(SECRET), "The server printed a secret.");
  demand(!output.includes("root:x:"), "The server read another file.");
  for (const [name, content] of Object.entries(FILES))
    demand(repository.exists(name) && repository.read(name) === content, `${name} was changed.`);
  const { proposals } = await repository.json<{ proposals: { state: string }[] }>(["proposals", "--all"]);
  demand(!proposals.some(({ state }) => state === "applied"), "A proposal was applied.");
  if (strace !== null) demandHarmless(trace, repository.path, [repository.path, repository.home], "The MCP server");
}

/** Sends everything and one good request more, waits for its answer, and closes the connection. */
async function talk(
  program: string,
  args: string[],
  repository: TemporaryRepository,
  temporary: string,
  body: Uint8Array,
): Promise<{ output: string; code: number | string | null }> {
  const env = repository.environment({ TMPDIR: temporary });
  const child = spawn(program, args, { cwd: repository.path, env, stdio: ["pipe", "pipe", "ignore"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), BOUND_MS);
  let output = "";
  child.stdin.on("error", () => undefined);
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
    if (output.includes(LAST)) child.stdin.end();
  });
  const ended = new Promise<number | string | null>((done) =>
    child.on("close", (code, signal) => done(signal ?? code)),
  );
  const params = { _meta: ENVELOPE };
  child.stdin.write(body);
  child.stdin.write(`\n${JSON.stringify({ jsonrpc: "2.0", id: LAST, method: "tools/list", params })}\n`);
  const code = await ended;
  clearTimeout(timer);
  return { output, code };
}
