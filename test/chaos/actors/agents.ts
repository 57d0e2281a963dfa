/** Two agents that work in the world: what each is in the middle of, and what was said. */
import { createHash } from "node:crypto";
import type { Random } from "../../fuzz/random.ts";
import { token } from "../content.ts";
import type { AgentName, Invocation, Turn } from "../invocation.ts";
import type { World } from "../world.ts";
import { pickPlace } from "./files.ts";

export interface Session {
  agent: AgentName;
  id: string;
  cwd: string;
  transcript: string;
  /** The prompt of the turn that is open. */
  prompt: string | null;
  /** The last line of the transcript that others can name. */
  last: string | null;
  lines: number;
}

export class Agents {
  readonly #open = new Map<AgentName, Session>();
  readonly told: Turn[] = [];

  current(agent: AgentName): Session | undefined {
    return this.#open.get(agent);
  }

  /** Goes on with the session, unless the user begins another one. */
  sessionFor(world: World, random: Random, agent: AgentName, transcript: (cwd: string, id: string) => string): Session {
    const current = this.#open.get(agent);
    const places = world.places();
    if (current && places.includes(current.cwd) && !random.once(5)) return current;
    const cwd = pickPlace({ repository: world.repository, places }, random);
    const id = uuid(random);
    const fresh = { agent, id, cwd, transcript: transcript(cwd, id), prompt: null, last: null, lines: 0 };
    this.#open.set(agent, fresh);
    return fresh;
  }

  /** The agent is gone, as after a kill: no hook tells of it. */
  vanish(agent: AgentName): undefined {
    this.#open.delete(agent);
  }
}

export function uuid(random: Random): string {
  const hex = createHash("sha1").update(token(random)).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A call of one of an agent's hooks, with the fields that every payload has. */
export function hookCall(
  session: Session,
  verb: string,
  event: string,
  fields: Record<string, unknown>,
  then?: () => void,
): Invocation {
  const { agent, cwd, id, transcript } = session;
  const payload = { session_id: id, transcript_path: transcript, cwd, hook_event_name: event, ...fields };
  const args = ["hooks", agent, verb];
  return { name: `${agent} ${verb}`, cwd, args, input: JSON.stringify(payload), then };
}
