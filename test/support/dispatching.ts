/** Events given to the dispatcher in this process, as they would come from Claude Code's hooks. */
import { randomUUID } from "node:crypto";
import type { Agent } from "../../src/agents/agent.ts";
import type { Event, ToolKind } from "../../src/agents/event.ts";
import { getAgent } from "../../src/agents/registry.ts";
import { sessionKey } from "../../src/base/ids.ts";
import { defaultConfig } from "../../src/config/load.ts";
import type { Workspace } from "../../src/git/workspace.ts";
import { type Dispatched, dispatch } from "../../src/lifecycle/dispatcher.ts";
import { loadSession, type SessionState } from "../../src/lifecycle/session-state.ts";
import { listSteps } from "../../src/steps/list.ts";
import type { Step } from "../../src/steps/model.ts";
import { ScriptedTranscript } from "./claude/transcript.ts";
import type { TemporaryRepository } from "./repository.ts";

export const AGENT = "claude-code";

export class Teller {
  readonly id: string = randomUUID();
  readonly transcript: ScriptedTranscript;
  tier = "balanced";
  /** The agent's process; this one unless told otherwise. */
  pid: number | null = process.pid;
  readonly #workspace: Workspace;
  #agent: Agent | undefined;

  constructor(repository: TemporaryRepository, workspace: Workspace) {
    this.#workspace = workspace;
    this.transcript = new ScriptedTranscript(repository.home, repository.path, this.id);
  }

  get key(): string {
    return sessionKey(AGENT, this.id);
  }

  get state(): SessionState {
    const state = loadSession(this.#workspace, this.key);
    if (!state) throw new Error("The session is not known.");
    return state;
  }

  /** Its steps, oldest first. */
  get steps(): Step[] {
    return listSteps(this.#workspace, { session: this.id }).reverse();
  }

  get kinds(): string[] {
    return this.steps.map((step) => step.kind);
  }

  async tell(type: Event["type"], more: Partial<Event> = {}): Promise<Dispatched> {
    const event: Event = {
      type,
      sessionId: this.id,
      previousSessionId: null,
      transcriptPath: this.transcript.path,
      prompt: null,
      timestamp: new Date().toISOString(),
      model: null,
      tool: null,
      subagent: null,
      response: null,
      metadata: {},
      ...more,
    };
    const { root } = this.#workspace;
    const context = {
      agent: AGENT,
      cwd: root,
      projectRoot: null,
      transcriptPath: event.transcriptPath,
      sessionId: this.id,
      envFile: null,
      pid: this.pid,
    };
    const config = { ...defaultConfig(), tier: this.tier };
    return dispatch({ workspace: this.#workspace, agent: await this.#knownAgent(), event, context, config });
  }

  async begin(prompt: string, metadata: Record<string, string> = {}): Promise<void> {
    await this.tell("TurnStart", { prompt, metadata });
    this.transcript.user(prompt, randomUUID());
  }

  async end(answer = "Done."): Promise<void> {
    this.transcript.assistant([{ type: "text", text: answer }]);
    await this.tell("TurnEnd");
  }

  tool(type: "ToolStart" | "ToolEnd", kind: ToolKind, command: string | null = null, id: string = randomUUID()) {
    return this.tell(type, { tool: { kind, name: kind, id, command, paths: [] } });
  }

  /** The real agent's, but nobody waits for a transcript that is written beforehand here. */
  async #knownAgent(): Promise<Agent> {
    if (!this.#agent) {
      const agent = await getAgent(AGENT);
      if (!agent?.analyser) throw new Error("The agent is missing.");
      this.#agent = { profile: agent.profile, toEvent: () => null, analyser: agent.analyser };
    }
    return this.#agent;
  }
}
