/** Turns for the bench of the hub: their texts are pieces of the prose and code in node_modules, so words repeat as they do in real ones. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SharedTurn } from "../src/team/protocol.ts";
import { Random } from "../test/fuzz/random.ts";
import { exampleTurn } from "../test/hub/served.ts";

const SOURCES = join(import.meta.dirname, "..", "node_modules");
const MAX_FILES = 3_000;
const FILE_PART = 20_000;
export const DAYS = 180;
export const REPOSITORIES = 20;
const DAY_MS = 86_400_000;
/** A message has about 40 words. */
const LENGTHS = { message: 280, prompt: 105 } as const;
const SESSION_TURNS = 10;

export class Load {
  readonly #source: Random;
  readonly #texts = textOfFiles();

  constructor(seed: number) {
    this.#source = new Random(seed);
  }

  repository(): string {
    return `example.com/r${this.#source.below(REPOSITORIES)}`;
  }

  /** The turns of whole sessions, each within one day. */
  turns(prefix: string, count: number, messages: number): SharedTurn[] {
    let began = 0;
    return Array.from({ length: count }, (_, i) => {
      if (i % SESSION_TURNS === 0) began = Date.now() - this.#source.below(DAYS * DAY_MS) - DAY_MS / 2;
      const session = `${prefix}-${Math.floor(i / SESSION_TURNS)}`;
      return this.#turn(session, 1 + (i % SESSION_TURNS), messages, began + (i % SESSION_TURNS) * 600_000);
    });
  }

  #turn(session: string, number: number, messages: number, at: number): SharedTurn {
    return {
      ...exampleTurn(session, number),
      startedAt: new Date(at).toISOString(),
      endedAt: new Date(at + 60_000).toISOString(),
      text:
        messages === 0
          ? null
          : { session, prompt: this.piece(LENGTHS.prompt), paths: [`src/${this.words(1)}.ts`], checkpoints: [] },
      messages:
        messages === 0
          ? null
          : Array.from({ length: messages }, (_, i) => ({
              kind: i % 2 === 0 ? ("answer" as const) : ("tool-result" as const),
              tool: i % 2 === 0 ? null : "Bash",
              text: this.piece(LENGTHS.message),
            })),
    };
  }

  piece(length: number): string {
    const at = this.#source.below(this.#texts.length - length);
    return this.#texts.slice(at, at + length);
  }

  /** Some whole words that follow each other somewhere. */
  words(count: number): string {
    for (;;) {
      const found = this.piece(40 * count).match(/\b[A-Za-z]{4,20}\b/g) ?? [];
      if (found.length > count + 1) return found.slice(1, count + 1).join(" ");
    }
  }
}

function textOfFiles(): string {
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:md|d\.ts|js)$/.test(name))
    .sort()
    .slice(0, MAX_FILES);
  const parts = names.map((name) => readFileSync(join(SOURCES, name), "utf8").slice(0, FILE_PART));
  return parts
    .join("\n")
    .replaceAll(/\p{Cc}/gu, " ")
    .toWellFormed();
}
