/** Derives a run's result from the agent's stream by the profile's rules: the answer, the status and the tokens. */

import type { StreamRule, StreamSection } from "../agents/contract/profile.ts";
import { plainText, tokensAt } from "../agents/generic/transcript.ts";
import { holds } from "../agents/registry/conditions.ts";
import { firstAt, textAt } from "../agents/registry/paths.ts";
import { firstGroup } from "../agents/registry/regex.ts";
import { addTokens, NO_TOKENS, type Tokens } from "../model/tokens.ts";
import { type Cost, estimatedCost, sumOfCosts } from "../transcripts/prices.ts";

export interface Usage {
  tokens: Tokens;
  /** The cost that the agent reports, otherwise an estimate from the model's price; null if neither is known. */
  cost: Cost | null;
}

/** The agent and model that the usage belongs to, as far as they are known before the stream reports them. */
export interface Spender {
  /** The agent's id in the registry. */
  agent: string;
  model: string | null;
}

const MAX_RECENT = 200;

/** One event of a run, for renderers. */
export type StreamEvent =
  | { kind: "prompt" | "message" | "delta" | "failure"; text: string }
  | { kind: "tool"; name: string; input: unknown }
  | { kind: "end"; ok: boolean; text: string | null };

export class RunResult {
  /** The agent's own session id, once a line reports it. */
  sessionId: string | null = null;
  readonly #stream: StreamSection;
  readonly #spender: Spender | null;
  #model: string | null;
  #text = "";
  /** True while a message arrives in pieces: the next piece belongs to the same message. */
  #open = false;
  #final: string | null = null;
  #ended: boolean | null = null;
  #failure: string | null = null;
  /** Null until the stream reports any. */
  #counted: Usage | null = null;
  /** Messages that the agent may report again. The oldest are folded into `#counted`, so that memory stays bounded. */
  #recent = new Map<string, Usage>();

  constructor(stream: StreamSection, spender: Spender | null = null) {
    this.#stream = stream;
    this.#spender = spender;
    this.#model = spender?.model ?? null;
  }

  /** The text of the final record if it has one, otherwise the assistant's last message. */
  get text(): string {
    return this.#final ?? this.#text;
  }

  /** The newest model that the stream reports; until then, the requested model. */
  get model(): string | null {
    return this.#model;
  }

  /** The agent's own error message. */
  get failure(): string | null {
    return this.#failure;
  }

  /** The status that the stream reports. Without a final record, the run was interrupted. */
  get status(): "completed" | "failed" | "interrupted" {
    if (this.#ended === false || this.#failure !== null) return "failed";
    return this.#ended === true ? "completed" : "interrupted";
  }

  /** Null if the stream reports none. */
  get usage(): Usage | null {
    return [...this.#recent.values()].reduce(added, this.#counted);
  }

  /** The process ended with 0; some agents report nothing else about their end. */
  exited(): void {
    const { end, output } = this.#stream;
    if (this.#failure === null && (end === "exit" || (output === "text" && end !== "record"))) this.#ended = true;
  }

  /** A line of an agent that prints plain text: a part of its answer, perhaps with the session's id. */
  takeText(line: string): StreamEvent[] {
    const { session_pattern: pattern } = this.#stream;
    if (this.sessionId === null && pattern !== undefined) this.sessionId = firstGroup(pattern, line);
    const text = this.#open ? `\n${line}` : line;
    this.#say(text, true);
    return [{ kind: "delta", text }];
  }

  take(line: Record<string, unknown>): StreamEvent[] {
    if (this.sessionId === null && holds(this.#stream.session_when, line)) {
      this.sessionId = textAt(line, this.#stream.session_id);
    }
    const model = textAt(line, this.#stream.model);
    // Messages that the agent generates itself carry a model name like "<synthetic>".
    if (model !== null && !model.startsWith("<")) this.#model = model;
    const events: StreamEvent[] = [];
    for (const rule of this.#stream.rules) {
      if (!holds(rule.when, line)) continue;
      for (const value of rule.in ? membersOf(rule, line) : [line]) this.#apply(rule, value, events);
    }
    return events;
  }

  #apply(rule: StreamRule, value: unknown, events: StreamEvent[]): void {
    const text = plainText(firstAt(value, rule.text));
    switch (rule.is) {
      case "prompt":
        events.push({ kind: "prompt", text });
        return;
      case "message":
      case "delta":
        if (text === "") return;
        this.#say(text, rule.is === "delta");
        events.push({ kind: rule.is, text });
        return;
      case "tool":
        this.#text = "";
        this.#open = false;
        events.push({ kind: "tool", name: textAt(value, rule.name) ?? "", input: firstAt(value, rule.input) ?? null });
        return;
      case "failure":
        // Keep the first failure, which is the cause; later ones only report that the agent gave up.
        this.#failure ??= text;
        events.push({ kind: "failure", text });
        return;
      case "end": {
        const ok = holds(rule.succeeds_when, value);
        this.#ended = ok;
        if (text !== "") this.#final = text;
        if (!ok && text !== "") this.#failure ??= text;
        events.push({ kind: "end", ok, text: text === "" ? null : text });
        return;
      }
      case "usage":
        this.#count(rule, value);
    }
  }

  #say(text: string, piece: boolean): void {
    this.#text = piece && this.#open ? this.#text + text : text;
    this.#open = piece;
    // A new message means that the agent retried and continues.
    this.#failure = null;
    this.#ended = null;
    this.#final = null;
  }

  #count(rule: StreamRule, value: unknown): void {
    const tokens = rule.tokens ? tokensAt(value, rule.tokens) : null;
    const reported = firstAt(value, rule.cost);
    const usd = typeof reported === "number" && Number.isFinite(reported) && reported >= 0 ? reported : null;
    if (tokens === null && usd === null) return;
    const cost = usd === null ? this.#estimate(tokens ?? NO_TOKENS) : { usd, estimated: false };
    const usage: Usage = { tokens: tokens ?? NO_TOKENS, cost };
    const id = textAt(value, rule.message_id);
    if (rule.total) {
      this.#recent.clear();
      this.#counted = usage;
    } else if (id === null) this.#counted = added(this.#counted, usage);
    else {
      this.#recent.set(id, usage);
      const [oldest] = this.#recent;
      if (this.#recent.size <= MAX_RECENT || !oldest) return;
      this.#recent.delete(oldest[0]);
      this.#counted = added(this.#counted, oldest[1]);
    }
  }

  #estimate(tokens: Tokens): Cost | null {
    if (this.#spender === null) return null;
    return estimatedCost([{ agent: this.#spender.agent, model: this.#model, tokens, time: null }]);
  }
}

function added(sum: Usage | null, usage: Usage): Usage {
  return sum === null ? usage : plus(sum, usage);
}

export function plus(a: Usage, b: Usage): Usage {
  return {
    tokens: addTokens(a.tokens, b.tokens),
    cost: sumOfCosts([a, b]),
  };
}

function membersOf(rule: StreamRule, line: unknown): unknown[] {
  const list = firstAt(line, rule.in);
  return Array.isArray(list) ? list.filter((member) => holds(rule.each, member)) : [];
}
