/**
 * An agent's payloads, told apart by what they mean and made to speak of another story than their own. They are
 * recorded, but for an agent in preview that could not be run (Cursor): its are written after its documentation.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../src/agents/contract/agent.ts";
import type { FieldName } from "../../src/agents/contract/profile.ts";
import { contextOf, toEnvelope } from "../../src/agents/registry/normalize.ts";
import { sameName } from "../../src/agents/registry/paths.ts";
import { isRecord } from "../../src/base/json.ts";
import type { Event, EventType, ToolKind } from "../../src/model/event.ts";

type Raw = Record<string, unknown>;

export interface Recording {
  /** What the hook is called with. */
  verb: string;
  raw: Raw;
}

/** Payloads of the story that an agent does not send, or that nobody has recorded yet. */
export const UNRECORDED: Readonly<Record<string, readonly string[]>> = {
  // Its hooks begin and end with a turn; prompts are only in its conversation.
  cline: ["prompt", "SessionStart", "ToolStart shell", "ToolEnd shell", "SessionEnd"],
};

/** Built after documentation that shows no payloads; test/journeys tells its story. */
export const NEVER_RUN: readonly string[] = ["antigravity"];

/** What the story says in place of what was recorded; a payload that has no such field gets none. */
export type Words = Partial<Record<FieldName, string>>;

export class Recordings {
  readonly #agent: Agent;
  readonly #all: (Recording & { event: Event | null })[];

  constructor(agent: Agent, directory: string) {
    this.#agent = agent;
    this.#all = namesIn(directory).map((name) => {
      const raw = JSON.parse(readFileSync(join(directory, name), "utf8")) as Raw;
      const verb = verbOf(agent, raw, name);
      return { verb, raw, event: eventOf(agent, { verb, raw }) };
    });
  }

  /** The plainest recording of such an event outside of subagents; undefined where there is none. */
  of(type: EventType, kind: ToolKind | null = null): Recording | undefined {
    return this.#all.find(
      ({ event }) => event?.type === type && event.subagent === null && (event.tool?.kind ?? null) === kind,
    );
  }

  retold({ verb, raw }: Recording, words: Words): Recording {
    const copy = structuredClone(raw);
    for (const [field, value] of Object.entries(words)) {
      const paths = this.#agent.profile.hooks?.fields[field as FieldName] ?? [`$.${field}`];
      for (const path of paths) put(copy, path.split(".").slice(1), value);
    }
    return { verb, raw: copy };
  }
}

export function eventOf(agent: Agent, { verb, raw }: Recording): Event | null {
  const envelope = toEnvelope(agent.profile, verb, raw);
  return agent.toEvent(envelope, contextOf(agent.profile, envelope, { env: {}, cwd: "/" }));
}

/** A session that is new before one that goes on, then the shortest name: what comes behind it is what is special. */
function namesIn(directory: string): string[] {
  const rank = (name: string) => (name.includes("startup") ? 0 : name.length);
  return readdirSync(directory).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** By the event that the payload names, or else by the name of its file. */
function verbOf({ profile }: Agent, raw: Raw, file: string): string {
  const own = toEnvelope(profile, "", raw).event || file.replace(/\.json$/, "");
  const installed = Object.entries(profile.hooks?.install ?? {});
  const exact = installed.find(([native]) => sameName(native, own));
  const begins = installed.find(([native]) => own.startsWith(native));
  return (exact ?? begins)?.[1].verb ?? own;
}

function put(node: Raw, path: string[], value: string): void {
  const [first = "", ...rest] = path;
  const key = Object.keys(node).find((name) => sameName(name, first));
  if (key === undefined) return;
  const there = node[key];
  if (rest.length > 0) {
    if (isRecord(there)) put(there, rest, value);
  } else node[key] = Array.isArray(there) ? [value] : value;
}
