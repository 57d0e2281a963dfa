/** Repositories of many files in nested directories, and changes to them with new content. */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanEnvironment } from "../test/support/environment.ts";
import { timed } from "./measure.ts";

const FILES_IN_DIRECTORY = 16;
const DIRECTORIES_IN_DIRECTORY = 10;
/** One changed file in this many is untracked. */
const NEW_ONE_IN = 5;
const IMPORT_AT_ONCE = 2_000;

export class Repository {
  readonly path: string;
  readonly home: string;
  readonly files: number;
  readonly #isWide: boolean;
  #generation = 0;

  /** `isWide`: all files in one directory. */
  constructor(place: string, files: number, isWide = false) {
    this.#isWide = isWide;
    this.path = join(place, "repository");
    this.home = join(place, "home");
    this.files = files;
    mkdirSync(this.path, { recursive: true });
    mkdirSync(this.home, { recursive: true });
    this.git("init", "--quiet", "--initial-branch=main");
    this.#import(join(place, "import"));
    this.git("reset", "--quiet", "--hard");
    makeObjectDirectories(join(this.path, ".git", "objects"));
    // git distrusts files written at the same moment as its index; a later refresh fixes that.
    Bun.sleepSync(1_100);
    this.git("update-index", "--refresh", "--really-refresh");
    this.git("status");
  }

  environment(extra: Record<string, string> = {}): Record<string, string> {
    return cleanEnvironment(this.home, { BACKTRAIL_WORKER: "off", CLAUDE_PROJECT_DIR: this.path, ...extra });
  }

  git(...args: string[]): void {
    timed({ program: "git", args, cwd: this.path, env: this.environment() });
  }

  /** Writes new content to this many files, the same ones each time: most are tracked, some are not. */
  change(count: number): void {
    this.#generation++;
    for (let i = 0; i < count; i++) {
      const spread = Math.floor((i * this.files) / count);
      const name =
        i % NEW_ONE_IN === NEW_ONE_IN - 1 ? `${dirname(this.#nameOf(spread))}/new-${i}.ts` : this.#nameOf(spread);
      writeFileSync(join(this.path, name), contentOf(spread, this.#generation));
    }
  }

  #nameOf(index: number): string {
    return this.#isWide ? `src/module-${index}.ts` : fileName(index);
  }

  /** As one commit, by fast-import: `git add` of that many files takes minutes. */
  #import(stream: string): void {
    writeFileSync(stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> 1767600000 +0000\ndata 5\nfirst\n");
    for (let from = 0; from < this.files; from += IMPORT_AT_ONCE) {
      const lines: string[] = [];
      for (let i = from; i < Math.min(this.files, from + IMPORT_AT_ONCE); i++) {
        const content = contentOf(i, 0);
        lines.push(`M 100644 inline ${this.#nameOf(i)}\ndata ${content.length}\n${content}\n`);
      }
      appendFileSync(stream, lines.join(""));
    }
    const script = 'exec git fast-import --quiet < "$0"';
    const env = this.environment();
    const result = spawnSync("/bin/sh", ["-c", script, stream], { cwd: this.path, env, encoding: "utf8" });
    if (result.status !== 0) throw new Error(`The files could not be imported: ${result.stderr}`);
    rmSync(stream);
  }
}

/** A repository in use has all of them, so none is created during a measurement. */
export function makeObjectDirectories(objects: string): void {
  for (let i = 0; i < 256; i++) mkdirSync(join(objects, i.toString(16).padStart(2, "0")), { recursive: true });
}

/** `src/3/14/module-7.ts`: as deep as there are many. */
function fileName(index: number): string {
  const parts: string[] = [];
  for (
    let rest = Math.floor(index / FILES_IN_DIRECTORY);
    rest > 0;
    rest = Math.floor(rest / DIRECTORIES_IN_DIRECTORY)
  ) {
    parts.unshift(`part-${rest % DIRECTORIES_IN_DIRECTORY}`);
  }
  return ["src", ...parts, `module-${index % FILES_IN_DIRECTORY}.ts`].join("/");
}

/** Something like source code, from 200 bytes to 8 KB, most of it short; ASCII, so that characters are bytes. */
function contentOf(index: number, generation: number): string {
  let seed = (Math.imul(index + 1, 2_654_435_761) ^ Math.imul(generation + 1, 40_503)) >>> 0;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const lines = 4 + Math.floor(160 * random() ** 3);
  const written = [`// ${index} ${generation}`];
  for (let i = 0; i < lines; i++) {
    const name = Math.floor(random() * 2 ** 40).toString(36);
    written.push(`export const ${name} = compute(${Math.floor(random() * 1e9)}, "${name}");`);
  }
  return `${written.join("\n")}\n`;
}
