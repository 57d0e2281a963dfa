/** The real Qwen Code: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven, streamedResult } from "./agent-driver.ts";
import { openUnattended, quit, typeLine, UNTRACKED } from "./gemini-family.ts";
import { linkNode, NODE, NODE_INTEGRITY, NODE_VERSION } from "./node.ts";
import { type RealAgent, Rig } from "./rig.ts";
import { MODEL, reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const qwenCode: RealAgent = {
  package: {
    agent: "qwen",
    name: "@qwen-code/qwen-code",
    version: "0.24.4",
    integrity: {
      "@qwen-code/qwen-code":
        "sha512-pmexy/Nj+BKd3Un1ogqGQE8V4GJn5B6N9PQOrU1GH+lMR29kn6Bgf6YdbZa8hNIoTmAKT1LTPK+P8TibZRPPVg==",
      ...NODE_INTEGRITY,
    },
    bundledBut: { [NODE]: NODE_VERSION },
    programs: ["node_modules/@qwen-code/qwen-code/cli-entry.js"],
  },
  command: "qwen",
  environment: (url) => ({
    OPENAI_API_KEY: "dummy",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_MODEL: MODEL,
    // Otherwise it starts itself a second time with more memory.
    QWEN_CODE_NO_RELAUNCH: "true",
    QWEN_CODE_SUPPRESS_YOLO_WARNING: "1",
    COLORTERM: "truecolor",
  }),
  furnish(home) {
    mkdirSync(join(home, ".qwen"), { recursive: true });
    const settings = {
      $version: 4,
      // It would ask the model what to remember after every turn.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      security: { auth: { selectedType: "openai" } },
      model: { name: MODEL },
      general: { enableAutoUpdate: false, disableAutoUpdate: true, disableUpdateNag: true },
      ...UNTRACKED,
      // In a terminal it would ask the model after every turn what its user may type next.
      ui: { enableFollowupSuggestions: false },
    };
    writeFileSync(join(home, ".qwen/settings.json"), JSON.stringify(settings));
  },
};

export const driver: AgentDriver = {
  ...driven("Qwen Code", qwenCode),
  async start(program, scenarios) {
    const rig = await Rig.start(qwenCode, program, scenarios);
    linkNode(rig, program);
    return rig;
  },
  tools: {
    write: (file_path, content) => toolUse("write_file", { file_path, content }),
    edit: (file_path, old_string, new_string) => toolUse("edit", { file_path, old_string, new_string }),
    shell: (command) => toolUse("run_shell_command", { command, description: "Run a command", is_background: false }),
    read: (file_path) => toolUse("read_file", { file_path }),
    looksFirst: true,
  },
  turn: (rig, text, session) => ask(rig, "qwen", text, session ? ["--resume", session] : []),
  goOn: (rig, command, text, cwd) => ask(rig, command, text, [], cwd),
  // What a hook adds to a prompt is a message of its own.
  heard: (rig) => rig.received.lastOutline().filter((line) => !line.startsWith("user: <qwen:")),
  usage: (calls) => reported(totalUsage(calls.filter((call) => call.tools.length > 0))),
  model: MODEL,
};

function answerIn(event: { type: string; result?: string }): string | null {
  return event.type === "result" ? (event.result ?? "") : null;
}

async function ask(rig: Rig, command: string, text: string, more: string[], cwd?: string): Promise<Answered> {
  const done = await byShell(rig, command, ["-p", text, "--output-format", "stream-json", "--yolo", ...more], { cwd });
  return { code: done.code, stderr: done.stderr, ...streamedResult(done.stdout, answerIn) };
}

export function openQwen(rig: Rig, command = "qwen"): Promise<Terminal> {
  return openUnattended(rig, command);
}

const PASTE_MS = 80;

/** Types a line and sends it. */
export async function say(terminal: Terminal, line: string): Promise<void> {
  await typeLine(terminal, line, PASTE_MS);
  terminal.press("Enter");
}

export function leaveQwen(terminal: Terminal): Promise<void> {
  return quit(terminal, say);
}

/** Where the agent keeps the project's conversations. */
export function chatsOf(rig: Rig): string {
  return join(rig.home, ".qwen/projects", rig.project.replace(/[^A-Za-z0-9]/g, "-"), "chats");
}
