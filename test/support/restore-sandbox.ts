/** For the tests of this layer: a work tree of random files, recorded and restored without a command line. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { decodePath, onDisk } from "../../src/base/fs/path-bytes.ts";
import { sideEffectRow } from "../../src/cli/render/words/restore/side-effects.ts";
import { createWorkspace, type Workspace, writeStore } from "../../src/git/workspace.ts";
import type { Step } from "../../src/model/step.ts";
import { saveManually } from "../../src/recording/save.ts";
import { applyRewind, planRewind } from "../../src/restore/rewind.ts";
import { isEmptyPlan, type Receipt, type RestorePlan, type RewindOptions } from "../../src/restore/types.ts";
import { TemporaryDirectory } from "./directory.ts";
import { put, putLink } from "./work-tree.ts";

export type Content = { file: Buffer; executable: boolean } | { link: string };
/** By path; directories are there because of what is in them. */
export type Files = Map<string, Content>;

export function file(content: string | Buffer, executable = false): Content {
  return { file: Buffer.from(content), executable };
}

export interface Kind {
  /** No git repository at all. */
  folder?: boolean;
  /** Where the user's own files are, and with them the store of such a folder. */
  home?: string;
  sha256?: boolean;
  config?: Record<string, string>;
  /** In .git/info/attributes. */
  attributes?: string;
}

export class Playground implements Disposable {
  readonly #around = new TemporaryDirectory();
  readonly place: string;
  root: string;
  workspace!: Workspace;

  constructor() {
    this.place = this.#around.path;
    this.root = join(this.place, "work");
    mkdirSync(this.root);
  }

  static async make(kind: Kind = {}): Promise<Playground> {
    const ground = new Playground();
    process.env["HOME"] = ground.place;
    process.env["BACKTRAIL_HOME"] = kind.home ?? join(ground.place, "own");
    process.env["GIT_CONFIG_GLOBAL"] = "/dev/null";
    process.env["GIT_CONFIG_NOSYSTEM"] = "1";
    if (!kind.folder) {
      ground.git("init", "--quiet", "--initial-branch=main", ...(kind.sha256 ? ["--object-format=sha256"] : []));
      for (const [key, value] of Object.entries(kind.config ?? {})) ground.git("config", key, value);
      ground.write(".git/info/exclude", "*.ign\n");
      if (kind.attributes) ground.write(".git/info/attributes", kind.attributes);
    }
    await ground.enable(ground.root);
    return ground;
  }

  async enable(root: string): Promise<void> {
    this.root = root;
    this.workspace = await createWorkspace(root);
    writeStore(this.workspace, { v: 1, enabledAt: new Date().toISOString(), agents: {} });
  }

  git(...args: string[]): string {
    return this.gitWith("", ...args)
      .toString("utf8")
      .trimEnd();
  }

  gitWith(input: string | Buffer, ...args: string[]): Buffer {
    return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: this.root,
      input,
      stdio: ["pipe", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], HOME: this.place, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    });
  }

  /** Whether git lists something as it was: what is staged, with modes and stages. */
  staged(): string {
    return this.gitWith("", "ls-files", "--stage", "-z").toString("latin1");
  }

  write(path: string, content: string | Buffer | Content): void {
    const made = typeof content === "string" || Buffer.isBuffer(content) ? file(content) : content;
    if ("link" in made) putLink(this.root, path, made.link);
    else put(this.root, path, made.file, made.executable ? 0o755 : 0o644);
  }

  read(path: string): string {
    return readFileSync(onDisk(this.root, path), "utf8");
  }

  exists(path: string): boolean {
    return existsSync(onDisk(this.root, path));
  }

  /** Makes these the only files, ignored ones and git's own apart. */
  become(files: Files): void {
    for (const path of this.files().keys()) rmSync(onDisk(this.root, path));
    for (const name of readdirSync(this.root, { encoding: "buffer" })) {
      const text = decodePath(name);
      if (text !== ".git" && !text.endsWith(".ign")) rmSync(onDisk(this.root, text), { recursive: true, force: true });
    }
    for (const [path, content] of files) this.write(path, content);
  }

  /** Everything that lies here but git's own and what is ignored. */
  files(keep: (path: string) => boolean = (path) => !/(^|\/)[^/]*\.ign(\/|$)/.test(path)): Files {
    const found: Files = new Map();
    const waiting = [""];
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const place = directory === "" ? this.root : onDisk(this.root, directory);
      for (const name of readdirSync(place, { encoding: "buffer" })) {
        const path = directory === "" ? decodePath(name) : `${directory}/${decodePath(name)}`;
        if (path === ".git" || !keep(path)) continue;
        if (lstatSync(onDisk(this.root, path)).isDirectory()) waiting.push(path);
        else found.set(path, contentOf(onDisk(this.root, path)));
      }
    }
    return found;
  }

  ignored(): Files {
    const all = this.files(() => true);
    for (const path of this.files().keys()) all.delete(path);
    return all;
  }

  async save(name: string | null = null): Promise<Step> {
    return (await saveManually(this.workspace, name)).step;
  }

  plan(step: Step, options: RewindOptions = {}): Promise<RestorePlan> {
    return planRewind(this.workspace, { kind: "step", step }, options);
  }

  async rewind(step: Step, options: RewindOptions = {}): Promise<{ plan: RestorePlan; receipt: Receipt }> {
    const plan = await this.plan(step, options);
    return { plan, receipt: await applyRewind(this.workspace, plan) };
  }

  /** Whether everything is as it was at the step, as far as a plan can tell. */
  async isAt(step: Step): Promise<boolean> {
    return isEmptyPlan(await this.plan(step, { codeOnly: true }));
  }

  [Symbol.dispose](): void {
    this.#around.remove();
  }
}

function contentOf(place: string | Buffer): Content {
  const stat = lstatSync(place);
  if (stat.isSymbolicLink()) return { link: readlinkSync(place, "latin1") };
  return { file: readFileSync(place), executable: (stat.mode & 0o100) !== 0 };
}

/** Comparable and readable in a failure. */
export function shown(files: Files): string[] {
  return [...files]
    .map(([path, content]) =>
      "link" in content
        ? `${JSON.stringify(path)} -> ${content.link}`
        : `${JSON.stringify(path)} ${content.executable ? "x" : "-"} ${JSON.stringify(content.file.toString("latin1"))}`,
    )
    .sort();
}

/** One commit with `a.txt`. */
export async function started(kind: Kind = {}): Promise<Playground> {
  const ground = await Playground.make(kind);
  ground.write("a.txt", "one\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "first");
  return ground;
}

export function whyOf(plan: RestorePlan, what: string): string | undefined {
  return plan.notUndone.map(sideEffectRow).find((row) => row.what === what)?.why;
}
