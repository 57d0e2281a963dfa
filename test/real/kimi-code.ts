/** The real Kimi Code: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven, streamedResult } from "./agent-driver.ts";
import pins from "./kimi-code.pins.json";
import { linkNode, NODE, NODE_INTEGRITY, NODE_VERSION } from "./node.ts";
import { type RealAgent, Rig } from "./rig.ts";
import { MODEL, reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { toolUse } from "./server/scenario.ts";

/** What its user has in the file with the hooks, to the byte. */
export function settings(url: string): string {
  return `default_model = "local/${MODEL}"  # mine
telemetry = false

[providers.local]
type = "openai"
base_url = "${url}/v1"
api_key = "dummy"

[models."local/${MODEL}"]
provider = "local"
model = "${MODEL}"
max_context_size = 200000
capabilities = ["tool_use"]`;
}

const kimiCode: RealAgent = {
  package: {
    agent: "kimi-code",
    name: "@moonshot-ai/kimi-code",
    version: "2.1.0",
    integrity: {
      "@moonshot-ai/kimi-code":
        "sha512-c9rY0DS0xNOraEgUFJ5Cexz6+S3R+PczIwCVCI4eP93xv1xpIbyFLe6wyQl29VR9UMafmfQG6+dIyJcCLEAoBQ==",
      // What it imports besides its own bundle.
      ...pins,
      ...NODE_INTEGRITY,
    },
    bundledBut: { [NODE]: NODE_VERSION, ws: "8.23.0", qrcode: "1.5.4" },
    programs: ["node_modules/@moonshot-ai/kimi-code/dist/main.mjs"],
  },
  command: "kimi",
  environment: () => ({ KIMI_DISABLE_TELEMETRY: "1", KIMI_CLI_NO_AUTO_UPDATE: "1", COLORTERM: "truecolor" }),
  furnish(home) {
    mkdirSync(join(home, ".kimi-code"), { recursive: true });
  },
};

export const driver: AgentDriver = {
  ...driven("Kimi Code", kimiCode),
  async start(program, scenarios) {
    const rig = await Rig.start(kimiCode, program, scenarios);
    linkNode(rig, program);
    writeFileSync(join(rig.home, ".kimi-code/config.toml"), settings(rig.sandbox.url));
    return rig;
  },
  tools: {
    write: (path, content) => toolUse("Write", { path, content }),
    edit: (path, old_string, new_string) => toolUse("Edit", { path, old_string, new_string }),
    shell: (command) => toolUse("Bash", { command, description: "Run a command" }),
    read: (path) => toolUse("Read", { path }),
  },
  turn: (rig, text, session) => ask(rig, "kimi", text, session ? ["--session", session] : []),
  goOn: (rig, command, text, cwd) => ask(rig, command, text, [], cwd),
  // It adds reminders of its own to prompts.
  heard: (rig) => rig.received.lastOutline().filter((line) => !line.startsWith("user: <system-reminder>")),
  usage: (calls) => reported(totalUsage(calls.filter((call) => call.tools.length > 0))),
  model: `local/${MODEL}`,
};

function answerIn(event: { role: string; content?: string }): string | null {
  return event.role === "assistant" ? (event.content ?? "") : null;
}

async function ask(rig: Rig, command: string, text: string, more: string[], cwd?: string): Promise<Answered> {
  const done = await byShell(rig, command, ["-p", text, "--output-format", "stream-json", ...more], { cwd });
  return { code: done.code, stderr: done.stderr, ...streamedResult(done.stdout, answerIn) };
}
