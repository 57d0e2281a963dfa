/** The real Claude Code: which version, what it needs in order to run offline, and how stories drive it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, byShell, driven, jsonResult } from "./agent-driver.ts";
import type { RealAgent, Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const KEY_END = "0123456789abcdefghij";
const VERSION = "2.1.325";

export const claudeCode: RealAgent = {
  package: {
    agent: "claude-code",
    name: "@anthropic-ai/claude-code",
    // An exact version: under Node 20, npm would quietly take an older one whose engines allow it.
    version: VERSION,
    integrity: {
      "@anthropic-ai/claude-code":
        "sha512-OUxCb0sx734zJh9zGTP9oF01gZ44DCGFaw7hgD4byepjRRGyvHzgUOwC7dlCgVIljV6CiEVDjq+anY3GUvKFQw==",
      "@anthropic-ai/claude-code-linux-x64":
        "sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==",
      "@anthropic-ai/claude-code-linux-arm64":
        "sha512-NCvQcOxr685Y4mkYUjQT8l/Ouzw0k2xWloWeyzfsUtWiOedHosPkaW6XCSpzAl1dMuvDNBF97qpWgVDrSdK2Vw==",
      "@anthropic-ai/claude-code-linux-x64-musl":
        "sha512-oGdN1c/gsReTlQ5lAktxX8AV7bt3USQsGrTDlFjf+bdIk7Kc8GCTZLGS7aBh59vGsgn4Oz255v/SSZ7+6wWz6g==",
      "@anthropic-ai/claude-code-linux-arm64-musl":
        "sha512-xZLgceKCX42bUXTqz3Cd1Tc7Li43ys8+gO1SA8ZKJ4q+a0ALv+N2LHQUC1Sr+AY3Qv16VQU/yAvU/iS24CuJdg==",
    },
    // The main package's own program is put in place by an install script; the platform's package has it.
    programs: ["", "-musl"].map((libc) => `node_modules/@anthropic-ai/claude-code-linux-${process.arch}${libc}/claude`),
  },
  command: "claude",
  environment: (url) => ({
    ANTHROPIC_API_KEY: `sk-ant-dummy-${KEY_END}`,
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    ENABLE_TOOL_SEARCH: "false",
    // It refuses some modes to root unless it is told that this is a sandbox.
    IS_SANDBOX: "1",
  }),
  furnish(home, project) {
    mkdirSync(join(home, ".claude"), { recursive: true });
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, allowedTools: [] };
    const state = {
      hasCompletedOnboarding: true,
      lastOnboardingVersion: VERSION,
      theme: "dark",
      customApiKeyResponses: { approved: [KEY_END], rejected: [] },
      projects: { [project]: trusted },
    };
    writeFileSync(join(home, ".claude.json"), JSON.stringify(state));
  },
};

export const driver: AgentDriver = {
  ...driven("Claude Code", claudeCode),
  tools: {
    write: (file_path, content) => toolUse("Write", { file_path, content }),
    edit: (file_path, old_string, new_string) => toolUse("Edit", { file_path, old_string, new_string }),
    shell: (command) => toolUse("Bash", { command, description: "Run a command" }),
    read: (file_path) => toolUse("Read", { file_path }),
  },
  turn: (rig, text, session) => prompt(rig, text, ...(session ? ["--resume", session] : [])),
  goOn: shellPrompt,
  namesSession: true,
};

/** Files may be edited and commands run without a question. */
export const UNATTENDED = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"];

/** One prompt without a terminal. */
export async function prompt(rig: Rig, text: string, ...args: string[]): Promise<Answered> {
  const done = await rig.run(["claude", "-p", text, "--output-format", "json", ...UNATTENDED, ...args]);
  return { code: done.code, stderr: done.stderr, ...jsonResult(done.stdout) };
}

/** One prompt to a command that a person would copy from the screen, through a shell as they would. */
export async function shellPrompt(rig: Rig, command: string, text: string, cwd?: string): Promise<Answered> {
  const done = await byShell(rig, command, ["-p", text, "--output-format", "json", ...UNATTENDED], { cwd });
  return { code: done.code, stderr: done.stderr, ...jsonResult(done.stdout) };
}

/** The agent in a terminal, ready for a prompt. */
export async function openClaude(rig: Rig, ...args: string[]): Promise<Terminal> {
  return whenReady(await rig.terminal(["claude", ...UNATTENDED, ...args]));
}

/** The agent in a terminal by a command that a person would copy from the screen. */
export async function openByShell(rig: Rig, command: string): Promise<Terminal> {
  return whenReady(await rig.terminal(["sh", "-c", `${command} "$@"`, "sh", ...UNATTENDED]));
}

async function whenReady(terminal: Terminal): Promise<Terminal> {
  await terminal.waitFor(/accept edits on|for shortcuts/);
  return terminal;
}

export async function leaveClaude(terminal: Terminal): Promise<void> {
  await terminal.submit("/exit");
  await terminal.waitForExit();
  terminal.close();
}
