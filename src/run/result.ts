/** What a run has come to so far: the answer, the status, the tokens; told from the stream by the profile's rules. */
import { plainText, tokensAt } from "../agents/generic/items.ts";
import { firstAt, textAt, valueAt } from "../agents/paths.ts";
import type { Condition, Conditions, StreamRule, StreamSection } from "../agents/profile.ts";
import type { Tokens } from "../transcripts/model.ts";
import { type Cost, estimatedCost, sumOfCosts } from "../transcripts/prices.ts";

export interface Usage {
  tokens: Tokens;
  /** As the agent tells it, else by the model's price; null where neither is known. */
  cost: Cost | null;
}

/** Whose tokens they are, as far as it is known before the stream tells. */
export interface Spender {
  /** The registry's name. */
  agent: string;
  model: string | null;
}

const NONE: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const MOST_RECENT = 200;

/** Something that happened, for whoever retells a run. */
export type Moment =
  | { kind: "prompt" | "message" | "delta" | "failure"; text: string }
  | { kind: "tool"; name: string; input: unknown }
  | { kind: "end"; ok: boolean; text: string | null };

export class RunResult {
  /** The agent's own id, once a line has told it. */
  sessionId: string | null = null;
  readonly #stream: StreamSection;
  readonly #spender: Spender | null;
  #model: string | null;
  #text = "";
  /** Pieces follow: the next one belongs to the same message. */
  #open = false;
  #final: string | null = null;
  #ended: boolean | null = null;
  #failure: string | null = null;
  #counted: Usage = { tokens: NONE, cost: null };
  /** Messages that may be told of again; the oldest are settled, so that a long run stays small. */
  #recent = new Map<string, Usage>();

  constructor(stream: StreamSection, spender: Spender | null = null) {
    this.#stream = stream;
    this.#spender = spender;
    this.#model = spender?.model ?? null;
  }

  /** Of the final record where it has one; else what the assistant said last. */
  get text(): string {
    return this.#final ?? this.#text;
  }

  /** What went wrong, in the agent's words. */
  get failure(): string | null {
    return this.#failure;
  }

  /** As the stream tells it: without a final record, the run was cut off. */
  get status(): "completed" | "failed" | "interrupted" {
    if (this.#ended === false || this.#failure !== null) return "failed";
    return this.#ended === true ? "completed" : "interrupted";
  }

  get usage(): Usage {
    return [...this.#recent.values()].reduce(plus, this.#counted);
  }

  take(line: Record<string, unknown>): Moment[] {
    if (this.sessionId === null && holds(this.#stream.session_when, line)) {
      this.sessionId = textAt(line, this.#stream.session_id);
    }
    const model = textAt(line, this.#stream.model);
    // What an agent says by itself carries a name like "<synthetic>".
    if (model !== null && !model.startsWith("<")) this.#model = model;
    const moments: Moment[] = [];
    for (const rule of this.#stream.rules) {
      if (!holds(rule.when, line)) continue;
      for (const value of rule.in ? membersOf(rule, line) : [line]) this.#apply(rule, value, moments);
    }
    return moments;
  }

  #apply(rule: StreamRule, value: unknown, moments: Moment[]): void {
    const text = plainText(firstAt(value, rule.text));
    switch (rule.is) {
      case "prompt":
        moments.push({ kind: "prompt", text });
        return;
      case "message":
      case "delta":
        if (text === "") return;
        this.#say(text, rule.is === "delta");
        moments.push({ kind: rule.is, text });
        return;
      case "tool":
        this.#text = "";
        this.#open = false;
        moments.push({ kind: "tool", name: textAt(value, rule.name) ?? "", input: firstAt(value, rule.input) ?? null });
        return;
      case "failure":
        // The first reason is the real one; what follows tells that it gave up.
        this.#failure ??= text;
        moments.push({ kind: "failure", text });
        return;
      case "end": {
        const ok = holds(rule.succeeds_when, value);
        this.#ended = ok;
        if (text !== "") this.#final = text;
        if (!ok && text !== "") this.#failure ??= text;
        moments.push({ kind: "end", ok, text: text === "" ? null : text });
        return;
      }
      case "usage":
        this.#count(rule, value);
    }
  }

  #say(text: string, piece: boolean): void {
    this.#text = piece && this.#open ? this.#text + text : text;
    this.#open = piece;
    // It has tried again, and goes on.
    this.#failure = null;
    this.#ended = null;
    this.#final = null;
  }

  #count(rule: StreamRule, value: unknown): void {
    const tokens = rule.tokens ? tokensAt(value, rule.tokens) : null;
    const told = firstAt(value, rule.cost);
    const usd = typeof told === "number" && Number.isFinite(told) && told >= 0 ? told : null;
    if (tokens === null && usd === null) return;
    const cost = usd === null ? this.#estimate(tokens ?? NONE) : { usd, estimated: false };
    const usage: Usage = { tokens: tokens ?? NONE, cost };
    const id = textAt(value, rule.message_id);
    if (rule.total) {
      this.#recent.clear();
      this.#counted = usage;
    } else if (id === null) this.#counted = plus(this.#counted, usage);
    else {
      this.#recent.set(id, usage);
      const [oldest] = this.#recent;
      if (this.#recent.size <= MOST_RECENT || !oldest) return;
      this.#recent.delete(oldest[0]);
      this.#counted = plus(this.#counted, oldest[1]);
    }
  }

  #estimate(tokens: Tokens): Cost | null {
    if (this.#spender === null) return null;
    return estimatedCost([{ agent: this.#spender.agent, model: this.#model, tokens, time: null }]);
  }
}

export function plus(a: Usage, b: Usage): Usage {
  return {
    tokens: {
      input: a.tokens.input + b.tokens.input,
      output: a.tokens.output + b.tokens.output,
      cacheRead: a.tokens.cacheRead + b.tokens.cacheRead,
      cacheWrite: a.tokens.cacheWrite + b.tokens.cacheWrite,
    },
    cost: sumOfCosts([a, b]),
  };
}

function membersOf(rule: StreamRule, line: unknown): unknown[] {
  const list = firstAt(line, rule.in);
  return Array.isArray(list) ? list.filter((member) => holds(rule.each, member)) : [];
}

export function holds(conditions: Conditions | undefined, value: unknown): boolean {
  return Object.entries(conditions ?? {}).every(([path, wanted]) => {
    const found = valueAt(value, path) ?? null;
    return (Array.isArray(wanted) ? wanted : [wanted]).includes(found as Condition);
  });
}
