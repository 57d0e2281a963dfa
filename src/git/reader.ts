/**
 * Reads objects: from what the caller remembers, from loose files, and through one `git cat-file`, which
 * is started only when the others do not have it.
 */
import { UserError } from "../base/errors.ts";
import { gitLocation } from "./location.ts";
import { readLoose } from "./loose.ts";
import { converse, gitFailure } from "./run.ts";
import type { Workspace } from "./workspace.ts";

export interface GitObject {
  id: string;
  type: string;
  data: Buffer;
}

interface Answer extends GitObject {
  size: number;
}

interface Waiting {
  /** Whether data follows git's line about the object. */
  wantsData: boolean;
  resolve(answer: Answer | undefined): void;
  reject(error: unknown): void;
}

const NO_DATA = Buffer.alloc(0);
const WHOLE_ID = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export class ObjectReader {
  /** Trees that git had to be asked for: worth remembering. */
  readonly coldTrees = new Map<string, Buffer>();

  readonly #workspace: Workspace;
  readonly #remembered: ReadonlyMap<string, Buffer>;
  #child: ReturnType<typeof converse> | undefined;
  readonly #queue: Waiting[] = [];
  #chunks: Buffer[] = [];
  #size = 0;
  #needed = 0;
  #ended = false;
  #asked = "";

  /** `remembered` holds trees by their ids. */
  constructor(workspace: Workspace, remembered: ReadonlyMap<string, Buffer> = new Map()) {
    this.#workspace = workspace;
    this.#remembered = remembered;
  }

  /** Any name that git resolves to an object ("<id>", "<commit>^{tree}"); undefined when there is none. */
  async read(name: string): Promise<GitObject | undefined> {
    if (!WHOLE_ID.test(name)) return this.#ask(name);
    const known = this.#remembered.get(name);
    if (known) {
      this.coldTrees.set(name, known);
      return { id: name, type: "tree", data: known };
    }
    const loose = readLoose(this.#workspace.commonDir, name);
    if (loose) return loose;
    const object = await this.#ask(name);
    if (object?.type === "tree") this.coldTrees.set(name, object.data);
    return object;
  }

  /** The object's data; an error when it is missing or of another type. */
  async require(name: string, type: string): Promise<Buffer> {
    const object = await this.read(name);
    if (!object)
      throw new UserError(
        "failed",
        `Object ${name} is missing from the repository.`,
        "Run `git fsck` to see what else is.",
      );
    if (object.type !== type) throw new UserError("failed", `Object ${name} is a ${object.type}, not a ${type}.`);
    return object.data;
  }

  /** How many bytes an object has, without reading them; undefined when there is none. */
  async sizeOf(id: string): Promise<number | undefined> {
    return (await this.#ask(id, false))?.size;
  }

  close(): void {
    this.#ended = true;
    this.#child?.kill("SIGKILL");
  }

  #ask(name: string, wantsData = true): Promise<Answer | undefined> {
    if (this.#ended) return Promise.reject(new UserError("failed", "git cat-file ended unexpectedly."));
    const child = this.#child ?? this.#start();
    return new Promise((resolve, reject) => {
      this.#queue.push({ wantsData, resolve, reject });
      if (this.#asked === "") queueMicrotask(() => this.#send(child));
      this.#asked += `${wantsData ? "contents" : "info"} ${name}\n`;
    });
  }

  /** What is asked for together goes to git together: each write wakes it up. */
  #send(child: ReturnType<typeof converse>): void {
    const asked = this.#asked;
    this.#asked = "";
    if (this.#ended) return;
    child.stdin.write(asked);
    child.stdin.flush();
  }

  #start(): ReturnType<typeof converse> {
    const { args, cwd } = gitLocation(this.#workspace);
    const child = converse([...args, "cat-file", "--batch-command"], { cwd });
    this.#child = child;
    this.#pump(child).catch((error: unknown) => this.#fail(error));
    return child;
  }

  async #pump(child: ReturnType<typeof converse>): Promise<void> {
    for await (const chunk of child.stdout) {
      this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      this.#size += chunk.byteLength;
      if (this.#size >= this.#needed) this.#drain();
    }
    const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    // Say, an object that a partial clone would have to fetch, and can't.
    this.#fail(gitFailure(["cat-file"], code, said));
  }

  #drain(): void {
    let buffer = this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#needed = 0;
    for (;;) {
      const newline = buffer.indexOf(10);
      if (newline === -1) break;
      const header = buffer.toString("utf8", 0, newline);
      const match = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(header);
      if (!match) {
        this.#queue.shift()?.resolve(undefined);
        buffer = buffer.subarray(newline + 1);
        continue;
      }
      const size = Number(match[3]);
      const [id = "", type = ""] = match.slice(1);
      if (this.#queue[0]?.wantsData === false) {
        this.#queue.shift()?.resolve({ id, type, size, data: NO_DATA });
        buffer = buffer.subarray(newline + 1);
        continue;
      }
      const end = newline + 1 + size + 1;
      if (buffer.length < end) {
        this.#needed = end;
        break;
      }
      this.#queue.shift()?.resolve({ id, type, size, data: buffer.subarray(newline + 1, end - 1) });
      buffer = buffer.subarray(end);
    }
    this.#chunks = buffer.length > 0 ? [buffer] : [];
    this.#size = buffer.length;
  }

  #fail(error: unknown): void {
    this.#ended = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(error);
  }
}
