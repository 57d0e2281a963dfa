/** A program that speaks the external-agent protocol, called as a host calls it: in a repository and a home of its own. */
import { expect } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, type Result, runProgram } from "../support/index.ts";
import { type TemporaryRepository, temporaryRepository } from "../support/repository.ts";

export type Input = string | Uint8Array | object;

export class Program implements Disposable {
  readonly repository: TemporaryRepository = temporaryRepository();
  readonly path: string;
  /** What the host works in; outside of a repository it is any directory. */
  root: string = this.repository.path;

  /** `source` is linked to under the name that the protocol asks for. */
  constructor(name: string, source: string = executable()) {
    const directory = join(this.repository.home, "bin");
    mkdirSync(directory);
    this.path = join(directory, name);
    symlinkSync(source, this.path);
  }

  run(args: string[], input?: Input): Promise<Result> {
    const { home } = this.repository;
    return runProgram(this.path, args, {
      cwd: this.root,
      env: this.repository.environment({
        ENTIRE_REPO_ROOT: this.root,
        ENTIRE_PROTOCOL_VERSION: "1",
        BACKTRAIL_HOME: undefined,
        XDG_CONFIG_HOME: join(home, "config"),
        XDG_DATA_HOME: join(home, "data"),
        XDG_STATE_HOME: join(home, "state"),
      }),
      input:
        input === undefined || typeof input === "string" || input instanceof Uint8Array ? input : JSON.stringify(input),
    });
  }

  /** What a call that must succeed printed. */
  async text(args: string[], input?: Input): Promise<string> {
    const result = await this.run(args, input);
    expect({ args, ...result }).toMatchObject({ code: 0 });
    return result.stdout;
  }

  async json<T = Record<string, unknown>>(args: string[], input?: Input): Promise<T> {
    return JSON.parse(await this.text(args, input)) as T;
  }

  async fails(args: string[], input?: Input): Promise<Result> {
    const result = await this.run(args, input);
    expect(args.join(" ") + result.code).not.toBe(`${args.join(" ")}0`);
    expect(result.code).not.toBeNull();
    return result;
  }

  /** A transcript of this content, outside the repository. */
  transcript(content: string | Uint8Array): string {
    const path = join(this.repository.home, "transcript.jsonl");
    writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}
