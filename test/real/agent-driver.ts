/**
 * Drives one real agent in a test: starts it, knows its file tools, sends it prompts, and continues a session by the
 * command that a user would copy from the screen. Each agent's file beside this one exports its driver.
 */
import type { expect } from "bun:test";
import type { AgentPackage } from "./install.ts";
import { type Available, availability, type RealAgent, Rig } from "./rig.ts";
import type { Usage } from "./server/protocol.ts";
import { type ReceivedCall, totalUsage } from "./server/received.ts";
import { type Block, type Reply, reply, type Scenario } from "./server/scenario.ts";

export interface AgentDriver {
  /** As people call it, and as `enable --agent` does. */
  name: string;
  id: string;
  /** The version that the stories are pinned to; `scripts/drift.ts` looks for a newer one. */
  package: AgentPackage;
  available(): Promise<Available>;
  start(program: string, scenarios: (project: string) => Scenario[]): Promise<Rig>;
  tools: Tools;
  /** One prompt without a terminal: in a new session, or in one that there is. */
  turn(rig: Rig, text: string, session?: string): Promise<Answered>;
  /** One prompt without a terminal to a command that a person would copy from the screen. */
  goOn(rig: Rig, command: string, text: string, cwd?: string): Promise<Answered>;
  /** What the model was sent last, without what the agent adds to prompts. */
  heard?(rig: Rig): string[];
  /** What the agent could know of what these calls cost. */
  usage?(calls: ReceivedCall[]): Usage;
  /** As the agent calls its model, where that is not what the model is sent. */
  model?: string;
  /** Its requests to the model say which session they are of. */
  namesSession?: true;
}

/** How the model writes, changes and reads a file, and runs a command. */
export interface Tools {
  write(path: string, content: string): Block;
  edit(path: string, before: string, after: string): Block;
  shell(command: string): Block;
  read?(path: string): Block;
  /** Where several uses are said as one. */
  together?(...uses: Block[]): Block[];
  /** It changes a file only after a look at it in the same run of the program. */
  looksFirst?: true;
}

export interface Answered {
  code: number;
  result: string;
  sessionId: string;
  stderr: string;
}

/** A line that the model is sent, or what it must look like. */
export type Heard = string | ReturnType<typeof expect.stringMatching>;

/** What a driver has from its agent, unless it says otherwise. */
export function driven(
  name: string,
  agent: RealAgent,
): Pick<AgentDriver, "name" | "id" | "package" | "available" | "start"> {
  return {
    name,
    id: agent.package.agent,
    package: agent.package,
    available: () => availability(agent),
    start: (program, scenarios) => Rig.start(agent, program, scenarios),
  };
}

/** What the model does before it changes a file of an earlier turn. */
export function lookAt(path: string, { looksFirst, read }: Tools): Reply[] {
  return looksFirst && read ? [reply("A look first.", read(path))] : [];
}

export function usageOf(driver: AgentDriver, calls: ReceivedCall[]): Usage {
  return driver.usage?.(calls) ?? totalUsage(calls);
}

/** What the model was sent last, a line a part. */
export function heardBy(driver: AgentDriver, rig: Rig): string[] {
  return driver.heard?.(rig) ?? rig.received.lastOutline();
}

/** Only what the user said there. */
export function promptsHeard(driver: AgentDriver, rig: Rig): string[] {
  const said = heardBy(driver, rig).filter((line) => line.startsWith("user: "));
  return said.map((line) => line.slice("user: ".length));
}

/** A command with more behind it, through a shell as a person would start it. */
export function byShell(
  rig: Rig,
  command: string,
  args: string[],
  options: { cwd?: string | undefined; input?: string; env?: Record<string, string> } = {},
) {
  const { cwd, ...others } = options;
  return rig.run(["sh", "-c", `${command} "$@"`, "sh", ...args], { ...others, ...(cwd === undefined ? {} : { cwd }) });
}

/** Of agents that print one document at their end. */
export function jsonResult(stdout: string): { result: string; sessionId: string } {
  try {
    const parsed = JSON.parse(stdout) as { result?: string; response?: string; session_id?: string };
    return { result: parsed.result ?? parsed.response ?? "", sessionId: parsed.session_id ?? "" };
  } catch {
    return { result: stdout, sessionId: "" };
  }
}

/** Of agents that print a line an event: the session that they name, and the last text that is an answer. */
export function streamedResult<Event>(stdout: string, answerIn: (event: Event) => string | null) {
  const read = { result: "", sessionId: "" };
  for (const line of stdout.split("\n").filter((each) => each.startsWith("{"))) {
    const event = JSON.parse(line) as Event & { session_id?: string };
    read.sessionId = event.session_id ?? read.sessionId;
    read.result = answerIn(event) ?? read.result;
  }
  return read;
}
