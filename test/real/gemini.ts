/** The real Gemini CLI: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven, jsonResult } from "./agent-driver.ts";
import { openUnattended, quit, typeLine, UNTRACKED } from "./gemini-family.ts";
import type { RealAgent, Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const PASTE_MS = 60;

export const geminiCli: RealAgent = {
  package: {
    agent: "gemini",
    name: "@google/gemini-cli",
    version: "0.61.0",
    integrity: {
      "@google/gemini-cli":
        "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
    },
    programs: ["node_modules/@google/gemini-cli/bundle/gemini.js"],
    // A key store and a pseudo-terminal for commands; they bring packages whose versions are ranges.
    withoutOptional: true,
  },
  command: "gemini",
  environment: (url) => ({
    GEMINI_API_KEY: "dummy",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    // Otherwise it starts itself a second time with more memory.
    GEMINI_CLI_NO_RELAUNCH: "true",
    COLORTERM: "truecolor",
  }),
  furnish(home) {
    mkdirSync(join(home, ".gemini"), { recursive: true });
    writeSettings(home, false);
  },
};

/**
 * `clears`: whether it deletes old conversations when it starts. By default it does, and takes others with them: those
 * that were resumed in another minute than they were begun in.
 */
export function writeSettings(home: string, clears: boolean): void {
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      ...(clears ? {} : { sessionRetention: { enabled: false } }),
    },
    ...UNTRACKED,
  };
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
}

export const driver: AgentDriver = {
  ...driven("Gemini CLI", geminiCli),
  tools: {
    write: (file_path, content) => toolUse("write_file", { file_path, content }),
    edit: (file_path, old_string, new_string) =>
      toolUse("replace", { file_path, instruction: "Change it", old_string, new_string }),
    shell: (command) => toolUse("run_shell_command", { command }),
    read: (file_path) => toolUse("read_file", { file_path }),
  },
  turn: (rig, text, session) => prompt(rig, text, ...(session ? ["--resume", session] : [])),
  goOn: shellPrompt,
  // Gemini asks no price for filling its cache; asides, which offer no tools, are not counted.
  usage: (calls) => ({ ...totalUsage(calls.filter((call) => call.tools.length > 0)), cacheWrite: 0 }),
};

/** One prompt without a terminal. */
export async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  return ask(rig, "gemini", text, args);
}

/** One prompt to a command that a person would copy from the screen, through a shell as they would. */
export function shellPrompt(rig: Rig, command: string, text: string, cwd?: string): Promise<Answered> {
  return ask(rig, command, text, [], cwd);
}

async function ask(rig: Rig, command: string, text: string, more: string[], cwd?: string): Promise<Answered> {
  const done = await byShell(rig, command, ["-p", text, "--output-format", "json", "--yolo", ...more], { cwd });
  return { code: done.code, stderr: done.stderr, ...jsonResult(done.stdout) };
}

export function openGemini(rig: Rig, command = "gemini"): Promise<Terminal> {
  return openUnattended(rig, command);
}

/** Types a line and sends it. */
export async function say(terminal: Terminal, line: string): Promise<void> {
  await typeLine(terminal, line, PASTE_MS);
  // What was sent has this sign before it; what is only typed has a star (--yolo). While a resumed conversation is being
  // drawn, the screen may show neither.
  const sent = ` > ${line.slice(0, 30)}`;
  await terminal.pressWhile("Enter", (screen) => !screen.includes(sent) && !terminal.ended());
}

export function leaveGemini(terminal: Terminal): Promise<void> {
  return quit(terminal, say);
}

/** Where the agent keeps the project's conversations. */
export function chatsOf(rig: Rig): string {
  return join(rig.home, ".gemini/tmp/project/chats");
}
