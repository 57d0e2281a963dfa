/**
 * Reads objects of the repository and of the private store: from the caller's cache, from loose files, and last through
 * one `git cat-file`, which starts only when needed.
 */

import { join } from "node:path";
import { ProblemError } from "../../base/errors.ts";
import { gitIn } from "../git.ts";
import { hasMadePrivateObjects, privateObjects, readingEnvironment } from "../private/store.ts";
import type { GitProblem } from "../problems.ts";
import { converse, endGit, gitFailure } from "../run.ts";
import type { Workspace } from "../workspace.ts";
import { readLoose } from "./loose.ts";

export interface GitObject {
  id: string;
  type: string;
  data: Buffer;
}

interface Answer extends GitObject {
  size: number;
}

interface Waiting {
  /** Whether git's reply includes the object's data. */
  wantsData: boolean;
  resolve(answer: Answer | undefined): void;
  reject(error: unknown): void;
}

const NO_DATA = Buffer.alloc(0);
const WHOLE_ID = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export class ObjectReader {
  /** Trees that came from git or the cache and are worth caching. */
  readonly coldTrees = new Map<string, Buffer>();

  readonly #workspace: Workspace;
  readonly #remembered: { get(id: string): Buffer | undefined };
  /** Object directories; includes the private store only if it existed at construction. */
  readonly #places: readonly string[];
  /** Reads a private store created after construction, which an already running git does not see. */
  #later: ObjectReader | undefined;
  /** Objects that the running git has found, so that it need not be looked for in loose files. */
  readonly #found = new Set<string>();
  #child: ReturnType<typeof converse> | undefined;
  readonly #queue: Waiting[] = [];
  #chunks: Buffer[] = [];
  #size = 0;
  #needed = 0;
  #ended = false;
  #asked = "";

  /** `remembered` holds cached trees by id. */
  constructor(workspace: Workspace, remembered: { get(id: string): Buffer | undefined } = new Map()) {
    this.#workspace = workspace;
    this.#remembered = remembered;
    const own = privateObjects(workspace);
    this.#places = [join(workspace.commonDir, "objects"), ...(own === undefined ? [] : [own])];
  }

  /** Reads any name that git resolves ("<id>", "<commit>^{tree}"); undefined if there is no such object. */
  async read(name: string): Promise<GitObject | undefined> {
    if (!WHOLE_ID.test(name)) return this.#ask(name);
    const known = this.#remembered.get(name);
    if (known) {
      this.coldTrees.set(name, known);
      return { id: name, type: "tree", data: known };
    }
    if (!this.#found.has(name)) {
      for (const place of this.#places) {
        const loose = readLoose(place, name);
        if (loose) return loose;
      }
    }
    const object = (await this.#ask(name)) ?? (await this.#readLater(name));
    if (object?.type === "tree") this.coldTrees.set(name, object.data);
    return object;
  }

  /** Returns the object's data; throws if it is missing or of another type. */
  async require(name: string, type: string): Promise<Buffer> {
    const object = await this.read(name);
    if (!object) throw new ProblemError<GitProblem>("failed", { kind: "object-missing", object: name });
    if (object.type !== type)
      throw new ProblemError<GitProblem>("failed", {
        kind: "object-type",
        object: name,
        type: object.type,
        expected: type,
      });
    return object.data;
  }

  /** Returns an object's size without reading its data; undefined if there is no such object. */
  async sizeOf(id: string): Promise<number | undefined> {
    const size = (await this.#ask(id, false))?.size;
    if (size !== undefined) this.#found.add(id);
    return size ?? (await this.#readLater(id))?.data.length;
  }

  close(): void {
    this.#ended = true;
    this.#later?.close();
    if (this.#child) endGit(this.#child);
  }

  async #readLater(name: string): Promise<GitObject | undefined> {
    if (this.#places.length > 1 || !hasMadePrivateObjects(this.#workspace)) return undefined;
    this.#later ??= new ObjectReader(this.#workspace);
    return this.#later.read(name);
  }

  #ask(name: string, wantsData = true): Promise<Answer | undefined> {
    if (this.#ended) return Promise.reject(new ProblemError<GitProblem>("failed", { kind: "git-ended" }));
    // Each input line is a request, so a name with a newline would inject another one.
    if (/[\n\0]/.test(name)) return Promise.resolve(undefined);
    const child = this.#child ?? this.#start();
    return new Promise((resolve, reject) => {
      this.#queue.push({ wantsData, resolve, reject });
      if (this.#asked === "") queueMicrotask(() => this.#send(child));
      this.#asked += `${wantsData ? "contents" : "info"} ${name}\n`;
    });
  }

  /** Sends pending requests in one write, since each write wakes git up. */
  #send(child: ReturnType<typeof converse>): void {
    const asked = this.#asked;
    this.#asked = "";
    if (this.#ended) return;
    child.stdin.write(asked);
    child.stdin.flush();
  }

  #start(): ReturnType<typeof converse> {
    const { args, cwd } = gitIn(this.#workspace);
    const env = this.#places.length > 1 ? readingEnvironment(this.#workspace) : {};
    const child = converse([...args, "cat-file", "--batch-command"], { cwd, env });
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
    // For example, a partial clone that cannot fetch the object.
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
