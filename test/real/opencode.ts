/** The real OpenCode: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven } from "./agent-driver.ts";
import { type Available, availability, type RealAgent, type Rig } from "./rig.ts";
import { MODEL, reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const VERSION = "1.18.33";
const PLUGINS = { "@opencode-ai/plugin": VERSION };

const openCode: RealAgent = {
  package: {
    agent: "opencode",
    // The main package only chooses among those of the platforms, and brings several of them.
    name: "opencode-linux-x64",
    version: VERSION,
    integrity: {
      "opencode-linux-x64":
        "sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==",
    },
    programs: ["node_modules/opencode-linux-x64/bin/opencode"],
  },
  command: "opencode",
  environment: (url) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(url)),
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  }),
  furnish(home, project) {
    furnishDirectory(join(home, ".config/opencode"), PLUGINS);
    furnishDirectory(join(project, ".opencode"), PLUGINS);
  },
};

/** Only one platform's package is pinned. */
async function openCodeAvailability(): Promise<Available> {
  if (process.arch === "x64") return availability(openCode);
  const reason = `it is pinned for x64, and this is ${process.arch}`;
  process.stderr.write(`SKIPPED: stories with the real opencode: ${reason}\n`);
  return { program: null, reason };
}

export function configuration(url: string): object {
  const model = {
    name: "Model 1",
    tool_call: true,
    limit: { context: 200_000, output: 8_000 },
    cost: { input: 1, output: 2 },
  };
  const options = { baseURL: `${url}/v1`, apiKey: "dummy" };
  return {
    model: `local/${MODEL}`,
    small_model: `local/${MODEL}`,
    autoupdate: false,
    share: "disabled",
    provider: { local: { npm: "@ai-sdk/openai-compatible", name: "Local", options, models: { [MODEL]: model } } },
  };
}

/** Otherwise it installs a package for plugins into each directory of its own, and waits for that. */
export function furnishDirectory(directory: string, dependencies: Record<string, string>): void {
  mkdirSync(join(directory, "node_modules"), { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ dependencies }));
  const lock = { lockfileVersion: 3, packages: { "": { dependencies } } };
  writeFileSync(join(directory, "package-lock.json"), JSON.stringify(lock));
  // As it writes it itself.
  writeFileSync(join(directory, ".gitignore"), "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore");
}

/** What OpenCode and its relatives share: their tools, and what they report of the usage. */
export const relatives = {
  tools: {
    write: (filePath, content) => toolUse("write", { filePath, content }),
    edit: (filePath, oldString, newString) => toolUse("edit", { filePath, oldString, newString }),
    shell: (command) => toolUse("bash", { command, description: "Run a command" }),
    read: (filePath) => toolUse("read", { filePath }),
  },
  // What the agent could know of it; titles, which it asks for by the way, are not counted.
  usage: (calls) => reported(totalUsage(calls.filter((call) => call.tools.length > 0))),
  model: MODEL,
  namesSession: true,
} satisfies Partial<AgentDriver>;

export const driver: AgentDriver = {
  ...relatives,
  ...driven("OpenCode", openCode),
  available: openCodeAvailability,
  turn: (rig, text, session) => prompt(rig, text, ...(session ? ["-s", session] : [])),
  async goOn(rig, command, text, cwd) {
    // Without a network it would wait for a package in each directory that it sees for the first time.
    const place = /^cd (\S+) &&/.exec(command)?.[1];
    if (place) await rig.output(["cp", "-rn", `${rig.project}/.opencode/.`, `${place}/.opencode/`]);
    const headless = command.replace("opencode -s", "opencode run --format json -s");
    const done = await byShell(rig, headless, [], { cwd, input: text });
    return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
  },
};

/** One prompt without a terminal. An argument with a space in it would reach the model in quotation marks. */
async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  const done = await rig.run(["opencode", "run", "--format", "json", ...args], { input: text });
  return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
}

/** The agent in a terminal by a command that a person would type or copy, ready for a prompt. */
export async function openByShell(rig: Rig, command = "opencode"): Promise<Terminal> {
  const terminal = await rig.terminal(["sh", "-c", command]);
  await terminal.waitFor(/Ask anything|ctrl\+p/);
  return terminal;
}

export async function leaveOpenCode(terminal: Terminal): Promise<void> {
  await terminal.submit("/exit");
  await terminal.waitForExit();
  terminal.close();
}

export function readResult(stdout: string): { result: string; sessionId: string } {
  const read = { result: "", sessionId: "" };
  for (const line of stdout.split("\n").filter((each) => each.startsWith("{"))) {
    const event = JSON.parse(line) as { type: string; sessionID?: string; part?: { text?: string } };
    read.sessionId = event.sessionID ?? read.sessionId;
    if (event.type === "text") read.result = event.part?.text ?? "";
  }
  return read;
}
