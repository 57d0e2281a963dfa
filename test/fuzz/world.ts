/** A repository with everything in its store that there can be, put back to how it was before each case. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settled } from "../journeys/commits.ts";
import { type Result, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { demand, demandPrintable } from "./target.ts";

/** Longer than any hook or command may take here. */
const BOUND_MS = 25_000;

export class FuzzWorld {
  readonly repository: TemporaryRepository;
  readonly agent: ScriptedClaude;
  /** Below `.git`: what may be damaged. */
  files: string[] = [];
  #copy = "";

  private constructor(repository: TemporaryRepository) {
    this.repository = repository;
    this.agent = new ScriptedClaude(repository);
  }

  static async make(): Promise<FuzzWorld> {
    const world = new FuzzWorld(temporaryRepository());
    const { repository, agent } = world;
    // No worker but those that are waited for: one that still runs would change what is copied.
    const environment = repository.environment.bind(repository);
    repository.environment = (extra) => environment({ BACKTRAIL_WORKER: "off", ...extra });
    await repository.run(["enable", "--agent", "claude-code"]);
    await agent.start();
    await agent.turn("First", [write("a.txt", "one\n")]);
    repository.commit("with a checkpoint");
    await settled(repository);
    await agent.turn("Second", [write("b.txt", "two\n")]);
    await repository.run(["save", "named"]);
    await repository.run(["rewind", "1", "--yes"]);
    await agent.begin("Third");
    await settled(repository);
    const store = repository.at(".git", "backtrail");
    // A checkpoint that waits, and a save that a killed process left.
    repository.write("c.txt", "three\n");
    await repository.run(["save", "cut off"], { env: { BACKTRAIL_FAULT: "save:journal" } });
    world.#queueOne(store);
    world.files = readdirSync(store, { recursive: true, encoding: "utf8" })
      .filter(
        (name) => statSync(join(store, name), { throwIfNoEntry: false })?.isFile() && !/\.lock$|index\./.test(name),
      )
      .map((name) => join("backtrail", name))
      .sort();
    world.#copy = join(repository.path, "..", "pristine");
    cpSync(repository.path, world.#copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return world;
  }

  #queueOne(store: string): void {
    const [key = ""] = readdirSync(join(store, "checkpoints")).filter((name) => name.endsWith(".json"));
    const moment = { turn: 1, generation: 0, offset: 0 };
    const session = {
      key: key.slice(0, -5),
      agent: "claude-code",
      id: this.agent.session,
      model: null,
      files: ["a.txt"],
    };
    const entry = {
      v: 1,
      checkpoint: "0123456789ab",
      commit: this.repository.git("rev-parse", "HEAD"),
      branch: "main",
    };
    const sessions = [{ ...session, since: { ...moment, turn: 0 }, until: moment, transcriptPath: null }];
    mkdirSync(join(store, "queue"), { recursive: true });
    const content = { ...entry, strategy: "manual-commit", time: "2026-01-05T09:00:00.000Z", sessions };
    writeFileSync(join(store, "queue", "000000000000001-0123456789ab-x.json"), JSON.stringify(content));
  }

  reset(): void {
    rmSync(this.repository.path, { recursive: true, force: true });
    cpSync(this.#copy, this.repository.path, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  /** A command as a person types it: it may fail with words, but never as a fault of ours. */
  async command(args: string[]): Promise<Result> {
    const result = await this.repository.run(args, { timeout: BOUND_MS });
    const said = `backtrail ${args.join(" ")}`;
    demand(result.signal === null, `${said} was ended by ${result.signal}.`);
    demand([0, 1, 2, 3, 4].includes(result.code ?? -1), `${said} ended with ${result.code}.`);
    demand(!result.stderr.includes("a fault in Backtrail"), `${said}: ${result.stderr}`);
    demandPrintable(result.stdout + result.stderr, said);
    return result;
  }

  /** A hook: it ends well, in time, without a word on stderr. */
  async hook(
    agent: string,
    verb: string,
    payload: string | Uint8Array,
    env: Record<string, string> = {},
  ): Promise<void> {
    const said = `hooks ${agent} ${verb}`;
    const result = await this.repository.run(["hooks", agent, verb], {
      input: payload,
      env: { CLAUDE_PROJECT_DIR: this.repository.path, ...env },
      timeout: BOUND_MS,
    });
    demand(result.signal === null && result.code === 0, `${said} ended with ${result.signal ?? result.code}.`);
    demand(result.stderr === "", `${said} said: ${result.stderr}`);
    if (result.stdout !== "")
      demand(typeof JSON.parse(result.stdout) === "object", `${said} answered ${result.stdout}`);
  }

  payload(event: string): Record<string, unknown> {
    return {
      session_id: this.agent.session,
      transcript_path: this.agent.transcript.path,
      cwd: this.repository.path,
      hook_event_name: event,
      prompt: "Fuzzed",
    };
  }

  remove(): void {
    this.repository.remove();
  }
}
