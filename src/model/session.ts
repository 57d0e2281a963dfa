/** A session: one conversation with an agent, named by the agent's own id for it. */
export interface SessionRef {
  agent: string;
  session: string;
}

/** A key that identifies a session. Two agents may use the same session id. */
export function sessionRefKey({ agent, session }: { agent: string | null; session: string | null }): string {
  return `${agent}\0${session}`;
}
