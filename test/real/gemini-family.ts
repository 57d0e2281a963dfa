/** What Gemini CLI and Qwen Code, which was made from it, have in common. */
import type { Rig } from "./rig.ts";
import type { Terminal } from "./terminal.ts";

/** Settings: nobody is told of the use. */
export const UNTRACKED = { privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false } };

/** The agent in a terminal by a command that a person would type, ready for a prompt. */
export async function openUnattended(rig: Rig, command: string): Promise<Terminal> {
  const terminal = await rig.terminal(["sh", "-c", `${command} --yolo`]);
  await terminal.waitFor("Type your message");
  return terminal;
}

/**
 * Types a line, to be sent by an Enter. An Enter right behind a letter is taken for a part of something pasted: keys that
 * come faster than `pasteMs` are no person's.
 */
export async function typeLine(terminal: Terminal, line: string, pasteMs: number): Promise<void> {
  terminal.press("-l", "--", line);
  await terminal.waitFor(line.slice(0, 30));
  await new Promise((resolve) => setTimeout(resolve, pasteMs));
}

export async function quit(
  terminal: Terminal,
  say: (terminal: Terminal, line: string) => Promise<void>,
): Promise<void> {
  await say(terminal, "/quit");
  await terminal.waitForExit();
  terminal.close();
}
