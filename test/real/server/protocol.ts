/**
 * A wire protocol turns HTTP requests into calls to a model and replies into bytes. The server knows
 * nothing of any of them; another vendor's API is another file that implements this.
 */
import type { Conversation } from "./conversation.ts";
import type { Choice } from "./scenario.ts";

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string | undefined>;
  body: unknown;
}

/** An agent asks the model to go on with a conversation. */
export interface ModelCall {
  conversation: Conversation;
  model: string;
  stream: boolean;
  tools: string[];
  /** The system prompt, where it stands beside the conversation. */
  instructions?: string;
  /** The agent's own session id and, inside a subagent, that one's id: where the request tells. */
  session: string | null;
  subagent: string | null;
}

/** Anything else that an agent asks of its vendor: models, token counts, pings. */
export interface PlainAnswer {
  status: number;
  body: unknown;
}

export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface Answer extends Choice {
  /** Unique for every answer given. */
  id: string;
  usage: Usage;
}

/** A piece of a streamed answer. `last` pieces close the answer: a stalling reply never sends them. */
export interface Piece {
  data: string;
  last?: boolean;
}

export interface Protocol {
  readonly name: string;
  /** null where the request is not of this protocol. */
  read(request: HttpRequest): ModelCall | PlainAnswer | null;
  whole(call: ModelCall, answer: Answer): unknown;
  pieces(call: ModelCall, answer: Answer): Piece[];
  error(status: number, message: string): unknown;
}

export function isModelCall(read: ModelCall | PlainAnswer): read is ModelCall {
  return "conversation" in read;
}
