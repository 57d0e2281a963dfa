/** A recorded session that can be rewound, and the questions to ask after a process was killed in the middle of it. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { type Result, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

export interface LoggedStep {
  id: string;
  kind: string;
  turn: number;
}

interface Restored {
  plan: { write: string[]; delete: string[]; chmod: string[] };
}

export class World implements Disposable {
  readonly repository: TemporaryRepository;
  readonly agent: ScriptedClaude;
  /** The work tree at the start of the second turn, and after it. */
  past: string[] = [];
  present: string[] = [];
  stagedThen = "";
  target = "";

  private constructor(variables: Record<string, string>) {
    this.repository = temporaryRepository();
    const environment = this.repository.environment.bind(this.repository);
    this.repository.environment = (extra) => environment({ ...variables, ...extra });
    this.agent = new ScriptedClaude(this.repository);
  }

  /** Two turns; the second one changes, adds, removes, turns one kind into another, and stages. */
  static async make(variables: Record<string, string> = {}): Promise<World> {
    const world = new World(variables);
    const { repository, agent } = world;
    repository.writeAll({ ".gitignore": "*.log\n", "build.log": "ignored\n", "tool.sh": "#!/bin/sh\n" });
    repository.writeAll({ "src/app.ts": "one\n", "src/gone.ts": "gone\n" });
    repository.writeAll({ kind: "a file\n", "folder/inner": "inner\n" });
    repository.commit("second");
    await world.run("enable", "--agent", "claude-code");
    await agent.start();
    await agent.turn("First", [write("src/first.ts", "first\n"), write("src/app.ts", "two\n")]);
    repository.git("add", "src/first.ts");
    world.past = world.files();
    world.stagedThen = repository.git("ls-files", "--stage");
    await agent.begin("Second");
    await agent.act(write("src/app.ts", "three\n"));
    await agent.act(write("new/deep/file.ts", "new\n"));
    rmSync(repository.at("src/gone.ts"));
    chmodSync(repository.at("tool.sh"), 0o755);
    rmSync(repository.at("kind"));
    repository.write("kind/now", "a directory\n");
    rmSync(repository.at("folder"), { recursive: true });
    symlinkSync("src", repository.at("folder"));
    repository.git("add", "--all");
    await agent.finish();
    world.present = world.files();
    const { steps } = await repository.json<{ steps: LoggedStep[] }>(["log", "--limit", "0"]);
    world.target = steps.find((step) => step.kind === "turn-start" && step.turn === 2)?.id ?? "";
    return world;
  }

  async run(...args: string[]): Promise<Result> {
    const result = await this.repository.run(args);
    if (result.code !== 0)
      throw new Error(`backtrail ${args.join(" ")}: ${result.signal ?? result.code} ${result.stderr}`);
    return result;
  }

  /** Runs a command that dies at a fault point. */
  die(point: string, ...args: string[]): Promise<Result> {
    return this.repository.run(args, { env: { BACKTRAIL_FAULT: point } });
  }

  steps(): Promise<LoggedStep[]> {
    return this.repository.json<{ steps: LoggedStep[] }>(["log", "--limit", "0", "--all"]).then(({ steps }) => steps);
  }

  rewind(target: string): Promise<Restored> {
    return this.repository.json<Restored>(["rewind", target, "--yes"]);
  }

  files(): string[] {
    return filesIn(this.repository.path);
  }

  /** Locks, journals, half restored and half received things. */
  leftovers(): string[] {
    return readdirSync(this.repository.at(".git"), { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(lock|tmp|takeover|part)$|(^|\/)(restore|journal)\/.|\/convert\.|(^|\/)lock$/.test(name),
    );
  }

  /** Conversations that the agent would offer to continue. */
  conversations(): string[] {
    const directory = join(this.agent.transcript.path, "..");
    return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".jsonl")) : [];
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

/** Every file but git's, the agent's own and logs of runs: kind, mode and content. */
export function filesIn(root: string, directory = "."): string[] {
  return readdirSync(join(root, directory))
    .flatMap((name) => {
      const path = join(directory, name);
      if ([".git", ".claude", ".aiwr"].includes(path)) return [];
      const place = join(root, path);
      const stat = lstatSync(place);
      if (stat.isDirectory()) return filesIn(root, path);
      if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(place)}`];
      return [`${path} ${(stat.mode & 0o100) === 0 ? "-" : "x"} ${readFileSync(place, "utf8")}`];
    })
    .sort();
}
