/** A command of Backtrail's: how it is called, and how it ended. */

export type AgentName = "claude-code" | "gemini";

/** One whole turn of an agent's: what was asked, what was answered. */
export interface Turn {
  agent: AgentName;
  session: string;
  prompt: string;
  answer: string;
}

export interface Invocation {
  /** What it is called in reports. */
  name: string;
  cwd: string;
  args: string[];
  input?: string;
  env?: Record<string, string>;
  /** What its caller does next. */
  then?: (() => void) | undefined;
  /** The turn that is recorded whole, once this has ended well. */
  told?: Turn;
}

export interface Ended {
  stdout: string;
  stderr: string;
  code: number | null;
  killed: boolean;
  timedOut: boolean;
}
