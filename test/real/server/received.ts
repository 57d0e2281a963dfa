/**
 * Everything that agents asked of the model server, kept as one JSON line a request, so that a story in
 * another process can ask what the model really saw.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { type Conversation, outline } from "./conversation.ts";
import type { Usage } from "./protocol.ts";

export interface ReceivedCall {
  type: "call";
  number: number;
  protocol: string;
  model: string;
  stream: boolean;
  tools: string[];
  session: string | null;
  subagent: string | null;
  conversation: Conversation;
  instructions?: string | undefined;
  /** What was answered. */
  scenario: string;
  index: number;
  status: number;
  usage: Usage;
}

/** A request that was not to the model, or that no protocol knew (status 404). */
interface ReceivedOther {
  type: "other";
  number: number;
  method: string;
  path: string;
  status: number;
}

/** How an answer ended: the agent may hang up before its end. */
interface ReceivedEnd {
  type: "end";
  number: number;
  complete: boolean;
}

export type ReceivedRecord = ReceivedCall | ReceivedOther | ReceivedEnd;

export class Received {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  add(record: ReceivedRecord): void {
    appendFileSync(this.path, `${JSON.stringify(record)}\n`);
  }

  records(): ReceivedRecord[] {
    let text: string;
    try {
      text = readFileSync(this.path, "utf8");
    } catch {
      return [];
    }
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return whole
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as ReceivedRecord);
  }

  /** Calls of the agent itself: not of its subagents, and none of the asides that offer no tools. */
  calls(where: { session?: string } = {}): ReceivedCall[] {
    return this.all().filter(
      (call) => call.subagent === null && call.tools.length > 0 && (!where.session || call.session === where.session),
    );
  }

  all(): ReceivedCall[] {
    return this.records().filter((record) => record.type === "call");
  }

  last(where: { session?: string } = {}): ReceivedCall {
    const call = this.calls(where).at(-1);
    if (!call) throw new Error(`the model server received no call${where.session ? ` of ${where.session}` : ""}`);
    return call;
  }

  /** The conversation that the model saw last, a line a part. */
  lastOutline(where: { session?: string } = {}): string[] {
    return outline(this.last(where).conversation);
  }

  /** Whether the answer to a call was taken to its end; null while it is still being given. */
  wasComplete(call: ReceivedCall): boolean | null {
    const end = this.records().find((record) => record.type === "end" && record.number === call.number);
    return end?.type === "end" ? end.complete : null;
  }
}

export function totalUsage(calls: ReceivedCall[]): Usage {
  const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const { usage } of calls) {
    total.input += usage.input;
    total.output += usage.output;
    total.cacheRead += usage.cacheRead;
    total.cacheWrite += usage.cacheWrite;
  }
  return total;
}
