/** The real Copilot CLI: which version, what it needs in order to run offline, and how stories drive it. */

import { type AgentDriver, type Answered, byShell, driven } from "./agent-driver.ts";
import type { RealAgent, Rig } from "./rig.ts";
import { reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const PLATFORM = `@github/copilot-linux-${process.arch}`;

const copilot: RealAgent = {
  package: {
    agent: "copilot-cli",
    // The platform's own package: the program is all in there.
    name: PLATFORM,
    version: "1.0.102",
    integrity: {
      "@github/copilot-linux-x64":
        "sha512-eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==",
      "@github/copilot-linux-arm64":
        "sha512-5rO0B2/AduCekrE+aUzipySKZxZY2b/tVRZ8Suy8ymPFNC0Q7HQiQ8DZhxj+3RhHR8rU2Z8KOJVAbtMlROX6+A==",
    },
    programs: [`node_modules/${PLATFORM}/copilot`],
  },
  command: "copilot",
  environment: (url) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_API_KEY: "dummy",
    COPILOT_MODEL: "scripted-1",
    COPILOT_AUTO_UPDATE: "false",
  }),
  furnish() {},
};

/** Nothing is asked: neither for tools nor whether the folder is trusted. */
const UNATTENDED = { COPILOT_ALLOW_ALL: "true" };

export const driver: AgentDriver = {
  ...driven("Copilot", copilot),
  tools: {
    write: (path, file_text) => toolUse("create", { path, file_text }),
    edit: (path, old_str, new_str) => toolUse("edit", { path, old_str, new_str }),
    shell: (command) => toolUse("bash", { command, description: "Run a command" }),
  },
  turn: (rig, text, session) => prompt(rig, text, ...(session ? [`--resume=${session}`] : [])),
  goOn: shellPrompt,
  heard,
  usage: (calls) => reported(totalUsage(calls)),
  model: "scripted-1",
};

/** One prompt without a terminal. */
export async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  return ask(rig, "copilot", text, args);
}

/** One prompt to a command that a person would copy from the screen, through a shell as they would. */
function shellPrompt(rig: Rig, command: string, text: string, cwd?: string): Promise<Answered> {
  return ask(rig, command, text, [], cwd);
}

async function ask(rig: Rig, command: string, text: string, more: string[], cwd?: string): Promise<Answered> {
  const done = await byShell(rig, command, ["-p", text, "--output-format", "json", ...more], { cwd, env: UNATTENDED });
  return { code: done.code, stderr: done.stderr, ...readResult(done.stdout) };
}

interface StreamLine {
  type: string;
  sessionId?: string;
  data?: { content?: string };
}

function readResult(stdout: string): { result: string; sessionId: string } {
  const read = { result: "", sessionId: "" };
  for (const line of stdout.split("\n").filter((each) => each.startsWith("{"))) {
    const event = JSON.parse(line) as StreamLine;
    read.sessionId = event.sessionId ?? read.sessionId;
    if (event.type === "assistant.message") read.result = timeless(event.data?.content ?? "");
  }
  return read;
}

/** The agent in a terminal, in a folder that it sees for the first time, ready for a prompt. */
export async function openCopilot(rig: Rig, command = "copilot"): Promise<Terminal> {
  const terminal = await rig.terminal(["sh", "-c", `${command} --allow-all-tools`]);
  await terminal.waitFor("Do you trust the files in this folder?");
  terminal.press("Enter");
  await terminal.waitFor("/ commands");
  return terminal;
}

export async function leaveCopilot(terminal: Terminal): Promise<void> {
  await terminal.submit("/exit");
  await terminal.waitForExit();
  terminal.close();
}

/** What the model was sent last, without the time that Copilot puts before each prompt. */
function heard(rig: Rig): string[] {
  return rig.received.lastOutline().map(timeless);
}

function timeless(text: string): string {
  return text.replace(/<current_datetime>.*?<\/current_datetime>\s*/g, "");
}
