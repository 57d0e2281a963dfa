/**
 * What a journey shows: every command with its output, errors and exit status as one text for a snapshot. Ids,
 * times and places are replaced by names, the same name for the same thing throughout one story.
 */
import type { Result } from "./binary.ts";
import type { CommandOptions, TemporaryRepository } from "./repository.ts";

const PATTERNS: [name: string, pattern: RegExp][] = [
  ["session", /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g],
  ["object", /\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g],
  ["step", /\b[k-z]{12}\b/g],
  ["time", /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g],
];

export class Story {
  readonly #repository: TemporaryRepository;
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #parts: string[] = [];

  constructor(repository: TemporaryRepository) {
    this.#repository = repository;
  }

  /** Runs a command and adds it to the story. */
  async run(args: string[], options: CommandOptions = {}): Promise<Result> {
    const result = await this.#repository.run(args, options);
    this.#parts.push(this.#shown(args, result));
    return result;
  }

  /** The story so far, for `expect(…).toMatchSnapshot()`. */
  toString(): string {
    return this.#parts.join("\n");
  }

  /** Replaces what differs from run to run by names. */
  normalize(text: string): string {
    let shown = text.replaceAll(this.#repository.path, "<repository>").replaceAll(this.#repository.home, "<home>");
    for (const [kind, pattern] of PATTERNS) shown = shown.replace(pattern, (value) => this.#nameOf(kind, value));
    return shown;
  }

  #shown(args: string[], result: Result): string {
    const lines = [`$ backtrail ${args.join(" ")}`, result.stdout.trimEnd()];
    // What takes longer than a second is announced, which depends on the machine.
    const stderr = result.stderr.replace(/^[A-Z][a-z ]+…\n/gm, "");
    if (stderr) lines.push(stderr.trimEnd().replace(/^/gm, "! "));
    lines.push(`[${result.signal ?? result.code}]`, "");
    return this.normalize(lines.filter((line, index) => line !== "" || index === lines.length - 1).join("\n"));
  }

  #nameOf(kind: string, value: string): string {
    const known = this.#names.get(value);
    if (known) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `<${kind}-${count}>`;
    this.#names.set(value, name);
    return name;
  }
}
