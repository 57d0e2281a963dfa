/**
 * Everything a story with a real agent needs: the sandbox with its model server, a home, a repository, the
 * agent and Backtrail by name on a bare PATH, and a clean environment. One rig a story, removed afterwards.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type AgentPackage, installAgent } from "./install.ts";
import { type Finished, Sandbox, sandboxAbility } from "./sandbox.ts";
import { Received } from "./server/received.ts";
import type { Scenario } from "./server/scenario.ts";
import { Terminal, tmuxMissing } from "./terminal.ts";

export interface RealAgent {
  package: AgentPackage;
  /** The name that a user types. */
  command: string;
  /** What the agent needs in its environment to talk to `url` and to nobody else. */
  environment(url: string): Record<string, string>;
  /** Files that a user of long standing has in the home directory: nothing is asked at the first start. */
  furnish(home: string, project: string): void;
}

export interface Place {
  directory: string;
  home: string;
  project: string;
}

/** An agent that can be run here, or why not. */
export type Available = { program: string } | { program: null; reason: string };

/**
 * Whether stories with this agent can run. Where they cannot, that is said once, in one line, and they are
 * skipped; with BACKTRAIL_REAL=required it is an error instead.
 */
export async function availability(agent: RealAgent): Promise<Available> {
  const found = await lookFor(agent);
  if (found.program !== null) return found;
  const line = `SKIPPED: stories with the real ${agent.package.agent}: ${found.reason}`;
  if (process.env["BACKTRAIL_REAL"] === "required") throw new Error(line);
  process.stderr.write(`${line}\n`);
  return found;
}

async function lookFor(agent: RealAgent): Promise<Available> {
  const ability = sandboxAbility();
  if (ability.means === null) return { program: null, reason: ability.reason };
  const noTerminal = tmuxMissing();
  if (noTerminal) return { program: null, reason: noTerminal };
  return installAgent(agent.package);
}

export class Rig {
  readonly home: string;
  readonly project: string;
  readonly received: Received;
  readonly sandbox: Sandbox;
  readonly env: Record<string, string>;
  readonly #directory: string;

  private constructor(place: Place, sandbox: Sandbox, received: Received, env: Record<string, string>) {
    this.#directory = place.directory;
    this.home = place.home;
    this.project = place.project;
    this.sandbox = sandbox;
    this.received = received;
    this.env = env;
  }

  static async start(
    agent: Omit<RealAgent, "package">,
    program: string,
    scenarios: (project: string) => Scenario[],
  ): Promise<Rig> {
    const place = makePlace();
    const paths = {
      scenarios: join(place.directory, "scenarios.json"),
      received: join(place.directory, "received.jsonl"),
    };
    try {
      writeFileSync(paths.scenarios, JSON.stringify(scenarios(place.project)));
      symlinkSync(program, join(place.directory, "bin", agent.command));
      agent.furnish(place.home, place.project);
      const sandbox = await Sandbox.start(paths);
      const env = { ...baseEnvironment(place), ...agent.environment(sandbox.url) };
      return new Rig(place, sandbox, new Received(paths.received), env);
    } catch (error) {
      rmSync(place.directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs a command in the project, inside the sandbox. */
  run(
    command: string[],
    options: { input?: string; cwd?: string; env?: Record<string, string> } = {},
  ): Promise<Finished> {
    const env = { ...this.env, ...options.env };
    return this.sandbox.run(command, { cwd: options.cwd ?? this.project, env, input: options.input });
  }

  /** Runs a command that must succeed, and gives what it printed. */
  async output(command: string[], options: { cwd?: string } = {}): Promise<string> {
    const done = await this.run(command, options);
    if (done.code === 0) return done.stdout;
    throw new Error(`${command.join(" ")} ended with ${done.code}\n${done.stdout}${done.stderr}`);
  }

  /** Copies the built Backtrail into the rig, so that a build at the same moment changes nothing here. */
  installBacktrail(): void {
    const built = resolve(process.env["BACKTRAIL_BIN"] ?? join(import.meta.dir, "../../dist/backtrail"));
    if (!existsSync(built)) throw new Error("there is no built backtrail: run `npm run build` first");
    copyFileSync(built, join(this.#directory, "bin", "backtrail"), constants.COPYFILE_FICLONE);
  }

  removeBacktrail(): void {
    rmSync(join(this.#directory, "bin", "backtrail"));
  }

  terminal(command: string[]): Promise<Terminal> {
    return Terminal.open(this.sandbox, { directory: this.#directory, cwd: this.project, env: this.env, command });
  }

  async stop(): Promise<void> {
    await this.sandbox.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function makePlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), "bt-"));
  const place = { directory, home: join(directory, "home"), project: join(directory, "project") };
  for (const path of [place.home, place.project, join(directory, "bin"), join(directory, "temporary")]) mkdirSync(path);
  return place;
}

function baseEnvironment({ directory, home }: Place): Record<string, string> {
  const git = Bun.which("git");
  const path = [join(directory, "bin"), ...(git ? [dirname(git)] : []), "/usr/bin", "/bin"];
  const author = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
  const committer = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" };
  return {
    PATH: path.join(delimiter),
    HOME: home,
    BACKTRAIL_HOME: join(home, ".backtrail"),
    TMPDIR: join(directory, "temporary"),
    USER: "ada",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    NO_PROXY: "127.0.0.1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    ...author,
    ...committer,
  };
}
