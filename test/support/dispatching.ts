/** Events given to the dispatcher in this process, as they would come from Claude Code's hooks. */
import { randomUUID } from "node:crypto";
import type { Agent } from "../../src/agents/contract/agent.ts";
import { getAgent } from "../../src/agents/registry/registry.ts";
import { sessionKey } from "../../src/base/ids.ts";
import { defaultConfig } from "../../src/config/load.ts";
import type { Workspace } from "../../src/git/workspace.ts";
import type { Event, ToolKind } from "../../src/model/event.ts";
import type { Step } from "../../src/model/step.ts";
import { type Dispatched, dispatch } from "../../src/recording/dispatcher.ts";
import { loadSession, type SessionState } from "../../src/recording/session/store.ts";
import { stepsIn } from "../../src/steps/log.ts";
import { ScriptedTranscript } from "./claude/transcript.ts";
import { enabledWorkspace } from "./own-process.ts";
import { type TemporaryRepository, temporaryRepository } from "./repository.ts";

const AGENT = "claude-code";

export class ScriptedSession {
  readonly id: string;
  readonly transcript: ScriptedTranscript;
  tier = "balanced";
  /** Tiers of the user's own. */
  tiers: Record<string, unknown> = {};
  /** The agent's process; this one unless told otherwise. */
  pid: number | null = process.pid;
  readonly #workspace: Workspace;
  #agent: Agent | undefined;

  constructor(repository: TemporaryRepository, workspace: Workspace, id: string = randomUUID()) {
    this.id = id;
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
    return stepsIn(this.#workspace).list({ worktree: this.#workspace.worktree, session: this.id }).reverse();
  }

  get kinds(): string[] {
    return this.steps.map((step) => step.kind);
  }

  async send(type: Event["type"], more: Partial<Event> = {}): Promise<Dispatched> {
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
    const config = { ...defaultConfig(), tier: this.tier, tiers: this.tiers };
    return dispatch({ workspace: this.#workspace, agent: await this.#knownAgent(), event, context, config });
  }

  async begin(prompt: string, metadata: Record<string, string> = {}): Promise<void> {
    await this.send("TurnStart", { prompt, metadata });
    this.transcript.user(prompt, randomUUID());
  }

  async end(answer = "Done."): Promise<void> {
    this.transcript.assistant([{ type: "text", text: answer }]);
    await this.send("TurnEnd");
  }

  tool(type: "ToolStart" | "ToolEnd", kind: ToolKind, command: string | null = null, id: string = randomUUID()) {
    return this.send(type, { tool: { kind, name: kind, id, command, paths: [] } });
  }

  /** The real agent's, but nobody waits for a transcript that is written beforehand here. */
  async #knownAgent(): Promise<Agent> {
    if (!this.#agent) {
      const agent = await getAgent(AGENT);
      if (!agent?.analyzer) throw new Error("The agent is missing.");
      const { profile, analyzer, isUsingTool } = agent;
      this.#agent = { profile, toEvent: () => null, analyzer, isUsingTool };
    }
    return this.#agent;
  }
}

/** A repository that is recorded, and sessions in it. */
export async function dispatchingPlace() {
  const repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const session = () => new ScriptedSession(repository, workspace);
  return { repository, workspace, session, [Symbol.dispose]: () => repository.remove() };
}

/** A process that has ended. */
export async function deadPid(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}
