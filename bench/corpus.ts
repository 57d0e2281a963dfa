/**
 * Writes Claude Code transcripts for the search rows: the code and prose of the files in node_modules, in sessions of
 * about 75 kB, with planted needles. The same packages give the same bytes.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = join(import.meta.dirname, "..", "node_modules");
const SESSION_BYTES = 75_000;
const TURN_PARTS = 4;
const PART = 1_500;
/** One session in this many has a needle in each field. */
const NEEDLE_EVERY = 40;

export const NEEDLE_FIELDS = ["prompt", "answer", "thinking", "command", "output"] as const;

export interface Corpus {
  sessions: number;
  bytes: number;
  /** The word that occurs only once, in this field. */
  needles: { word: string; field: (typeof NEEDLE_FIELDS)[number] }[];
}

/** Writes transcripts of about this many megabytes below the home directory: of sixty projects, or of one. */
export function writeCorpus(home: string, megabytes: number, project?: string): Corpus {
  const parts = partsOfFiles();
  const corpus: Corpus = { sessions: 0, bytes: 0, needles: [] };
  let at = 0;
  const next = () => parts[at++ % parts.length] ?? "";
  while (corpus.bytes < megabytes * 1e6) {
    const number = corpus.sessions++;
    const session = new SessionWriter(number, project ?? `/home/dev/project-${number % 60}`);
    while (session.bytes < SESSION_BYTES) {
      const isFirst = session.bytes === 0 && number % NEEDLE_EVERY === 0;
      const needle = (field: Corpus["needles"][number]["field"]) => {
        if (!isFirst) return "";
        const word = `needle${field}${number}`;
        corpus.needles.push({ word, field });
        // On a separate line: right after `"pass": "` it would be redacted as a password.
        return `\n${word}`;
      };
      session.user(`${firstLine(next())} (${number})${needle("prompt")}`);
      for (let part = 0; part < TURN_PARTS; part++) {
        const planted = part === 0 ? needle : () => "";
        session.assistant([
          { type: "thinking", thinking: next().slice(0, 600) + planted("thinking"), signature: "" },
          { type: "text", text: next() + planted("answer") },
          {
            type: "tool_use",
            id: session.id(),
            name: "Bash",
            input: { command: `grep -rn "${next().slice(0, 200)}" .${planted("command")}` },
          },
        ]);
        session.result(next() + next() + planted("output"));
      }
    }
    const folder = join(home, ".claude", "projects", `-work-project-${number % 60}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${session.session}.jsonl`), session.text());
    corpus.bytes += session.bytes;
  }
  return corpus;
}

class SessionWriter {
  readonly session: string;
  bytes = 0;
  readonly #number: number;
  readonly #lines: string[] = [];
  readonly #cwd: string;
  #parent: string | null = null;
  #tool = "";

  constructor(number: number, cwd: string) {
    this.#number = number;
    this.#cwd = cwd;
    this.session = `${number.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
  }

  id(): string {
    this.#tool = `toolu_${this.#number}_${this.#lines.length}`;
    return this.#tool;
  }

  user(text: string): void {
    this.#add("user", { role: "user", content: text });
  }

  assistant(content: unknown[]): void {
    const usage = { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    this.#add("assistant", {
      id: `msg_${this.#lines.length}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content,
      usage,
    });
  }

  result(text: string): void {
    this.#add("user", { role: "user", content: [{ type: "tool_result", tool_use_id: this.#tool, content: text }] });
  }

  text(): string {
    return this.#lines.join("");
  }

  #add(type: string, message: unknown): void {
    const uuid = `${this.#number.toString(16).padStart(8, "0")}-${this.#lines.length.toString(16).padStart(4, "0")}-4000-8000-000000000000`;
    const timestamp = new Date(
      Date.UTC(2026, 0, 1) + this.#number * 600_000 + this.#lines.length * 1_000,
    ).toISOString();
    const common = {
      isSidechain: false,
      userType: "external",
      cwd: this.#cwd,
      version: "2.1.0",
    };
    const line = `${JSON.stringify({ parentUuid: this.#parent, ...common, sessionId: this.session, type, message, uuid, timestamp })}\n`;
    this.#parent = uuid;
    this.#lines.push(line);
    this.bytes += Buffer.byteLength(line);
  }
}

function partsOfFiles(): string[] {
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(?:ts|js|mjs|md|json)$/.test(name),
  );
  const parts: string[] = [];
  let bytes = 0;
  for (const name of names.sort()) {
    const path = join(SOURCES, name);
    const { size } = statSync(path);
    if (size > 300_000 || size < 200 || /\.min\./.test(name)) continue;
    const text = readFileSync(path, "utf8");
    for (let at = 0; at < text.length; at += PART) parts.push(text.slice(at, at + PART).toWellFormed());
    bytes += size;
    if (bytes > 60e6) break;
  }
  // Neighbors in a session come from different packages.
  return parts.map((_, index) => parts[(index * 7_919) % parts.length] ?? "");
}

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .find((line) => line.trim().length > 10)
      ?.trim()
      .slice(0, 200) ?? "Go on"
  );
}
