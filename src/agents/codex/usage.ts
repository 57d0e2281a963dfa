/**
 * Tokens. Newer rollouts have a record for every answer of the model; in older ones a running count is written
 * again and again, and only one that follows an answer is news.
 */
import { addTokens, NO_TOKENS, sumOfTokens, type Tokens, tokenCount } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";
import type { Content } from "./lines.ts";

export class TokenCount {
  readonly #byResponse = new Map<string, Tokens>();
  #counted: Tokens = { ...NO_TOKENS };
  #answered = false;

  add(content: Content): void {
    switch (content.type) {
      case "usage":
        this.#byResponse.set(content.response ?? `${this.#byResponse.size}`, content.tokens);
        break;
      case "count":
        if (this.#answered) this.#counted = addTokens(this.#counted, content.tokens);
        this.#answered = false;
        break;
      case "message":
        if (content.role === "assistant") this.#answered = true;
        break;
      case "answer":
      case "call":
      case "thinking":
        this.#answered = true;
        break;
      default:
        break;
    }
  }

  sum(): Tokens {
    if (this.#byResponse.size === 0) return this.#counted;
    return sumOfTokens(this.#byResponse.values());
  }
}

/** The input is given with what was read from the cache and written to it. */
export function usageOf(usage: unknown): Tokens {
  if (!isRecord(usage)) return { ...NO_TOKENS };
  const cacheRead = tokenCount(usage["cached_input_tokens"]);
  const cacheWrite = tokenCount(usage["cache_write_input_tokens"]);
  const input = Math.max(0, tokenCount(usage["input_tokens"]) - cacheRead - cacheWrite);
  return { input, output: tokenCount(usage["output_tokens"]), cacheRead, cacheWrite };
}
