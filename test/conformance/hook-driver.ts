/** Tells the story by an agent's own recorded payloads, through its own hooks. */
import { expect } from "bun:test";
import { join } from "node:path";
import type { Agent } from "../../src/agents/contract/agent.ts";
import type { EventType, ToolKind } from "../../src/model/event.ts";
import { eventOf, type Recording, type Recordings, UNRECORDED, type Words } from "./recordings.ts";
import { type AgentDriver, COMMAND, type Moment, PROMPTS, STORY, type World } from "./story.ts";

/** What the lifecycle gets to know, as far as it is the same for every agent. */
export interface ToldEvent {
  type: EventType;
  sessionId: string;
  prompt: string | null;
  tool: ToolKind | null;
  command: string | null;
}

export class HookDriver implements AgentDriver {
  readonly agent: string;
  readonly sendsPrompts: boolean;
  readonly #agent: Agent;
  readonly #recordings: Recordings;
  readonly #begin: (world: World) => Promise<void>;

  constructor(agent: Agent, recordings: Recordings, begin: (world: World) => Promise<void>) {
    this.agent = agent.profile.id;
    this.sendsPrompts = !UNRECORDED[agent.profile.id]?.includes("prompt");
    this.#agent = agent;
    this.#recordings = recordings;
    this.#begin = begin;
  }

  /** What each moment of the story lacks a recording for; empty where all of it can be told. */
  missing(): string[] {
    return STORY.flatMap((moment) => [...this.#wanted(moment, "before"), ...this.#wanted(moment, "after")])
      .filter(({ recording }) => recording === undefined)
      .map(({ name }) => name);
  }

  /** The story's events as the lifecycle gets them. */
  events(root: string): ToldEvent[] {
    return STORY.flatMap((moment) =>
      [...this.#payloads(moment, "before", root), ...this.#payloads(moment, "after", root)].map((payload) => {
        const event = eventOf(this.#agent, payload);
        if (!event) throw new Error(`${payload.verb} means nothing`);
        const { type, prompt, sessionId, tool } = event;
        return { type, prompt, sessionId, tool: tool?.kind ?? null, command: tool?.command ?? null };
      }),
    );
  }

  begin(world: World): Promise<void> {
    return this.#begin(world);
  }

  before(moment: Moment, world: World): Promise<void> {
    return this.#send(this.#payloads(moment, "before", world.repository.path), world);
  }

  send(moment: Moment, world: World): Promise<void> {
    return this.#send(this.#payloads(moment, "after", world.repository.path), world);
  }

  async #send(payloads: Recording[], { repository, env, minute }: World): Promise<void> {
    for (const { verb, raw } of payloads) {
      const { stderr, code } = await repository.hook(this.agent, verb, raw, { env, minute });
      expect({ verb, code, stderr }).toEqual({ verb, code: 0, stderr: "" });
    }
  }

  #payloads(moment: Moment, when: "before" | "after", root: string): Recording[] {
    const session = this.#session();
    return this.#wanted(moment, when).flatMap(({ recording, words }) =>
      recording ? [this.#recordings.retold(recording, { ...words, ...place(root), session_id: session })] : [],
    );
  }

  #session(): string {
    const first = this.#recordings.of("SessionStart");
    return (first && eventOf(this.#agent, first)?.sessionId) ?? "none";
  }

  /** Tools are part of the story for those whose profile speaks of them. */
  #wanted(
    moment: Moment,
    when: "before" | "after",
  ): { name: string; recording: Recording | undefined; words: Words }[] {
    const of: Recordings["of"] = (type, kind) => this.#recordings.of(type, kind);
    const told = eventTypesOf(this.#agent);
    const want = (name: string, recording: Recording | undefined, words: Words = {}) => [{ name, recording, words }];
    if (moment.what === "shell" && when === "before") {
      if (!told.has("ToolStart")) return [];
      return want("ToolStart shell", of("ToolStart", "shell"), { tool_command: COMMAND });
    }
    if (when === "before") return [];
    switch (moment.what) {
      case "session-start":
        return want("SessionStart", of("SessionStart"));
      case "prompt":
        return want("TurnStart", of("TurnStart"), { prompt: moment.text });
      case "written":
        return told.has("ToolEnd") ? want("ToolEnd write", of("ToolEnd", "write"), { tool_paths: moment.file }) : [];
      case "shell":
        return told.has("ToolEnd") ? want("ToolEnd shell", of("ToolEnd", "shell"), { tool_command: COMMAND }) : [];
      case "turn-end":
        return want("TurnEnd", of("TurnEnd"));
      case "session-end":
        return want("SessionEnd", of("SessionEnd"));
    }
  }
}

/** The events that the agent's profile knows, whatever their conditions. */
function eventTypesOf({ profile }: Agent): ReadonlySet<EventType> {
  const events = Object.values(profile.hooks?.events ?? {}).flat();
  return new Set(events.map((event) => (typeof event === "string" ? event : event.is)));
}

/** The transcript is one that was never written: what it says is each agent's own affair, and tested there. */
function place(root: string): Words {
  return { cwd: root, project_root: root, transcript_path: join(root, "..", "home", "nothing-said.jsonl") };
}

/** The same for everybody, without the events that an agent does not know or does not send. */
export function expectedEvents(driver: HookDriver, agent: Agent, sessionId: string): ToldEvent[] {
  const types = eventTypesOf(agent);
  const unrecorded = UNRECORDED[agent.profile.id] ?? [];
  const isTool = (type: EventType) => type === "ToolStart" || type === "ToolEnd";
  const event = (type: EventType, more: Partial<ToldEvent> = {}): ToldEvent => ({
    type,
    sessionId,
    prompt: null,
    tool: null,
    command: null,
    ...more,
  });
  const shell = { tool: "shell", command: COMMAND } as const;
  const all = [
    event("SessionStart"),
    event("TurnStart", { prompt: PROMPTS[0] }),
    event("ToolEnd", { tool: "write" }),
    event("ToolStart", shell),
    event("ToolEnd", shell),
    event("TurnEnd"),
    event("TurnStart", { prompt: PROMPTS[1] }),
    event("ToolEnd", { tool: "write" }),
    event("TurnEnd"),
    event("SessionEnd"),
  ];
  return all
    .filter(({ type, tool }) => !unrecorded.includes(tool === null ? type : `${type} ${tool}`))
    .filter(({ type }) => !isTool(type) || types.has(type))
    .map((each) => (driver.sendsPrompts ? each : { ...each, prompt: null }));
}
