/** A person connects an agent once, for every repository, and leaves some of them out. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Status {
  enabled: boolean;
  agents: { id: string; hooks: string; scope: string | null; heard: boolean }[];
  userScope?: { kind: string; agents: string[]; pattern?: string };
}

class Place {
  readonly path: string;
  readonly #repository: TemporaryRepository;

  /** A directory of the same user's; a repository unless `isFolder`. */
  constructor(repository: TemporaryRepository, name: string, isFolder = false) {
    this.#repository = repository;
    const path = join(repository.home, "code", name);
    mkdirSync(path, { recursive: true });
    this.path = realpathSync(path);
    if (!isFolder) this.git("init", "--quiet", "--initial-branch=main");
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.path, env: this.#repository.environment(), encoding: "utf8" });
  }

  run(...args: string[]) {
    return this.#repository.run(args, { cwd: this.path, env });
  }

  status(): Promise<Status> {
    return this.#repository.json<Status>(["status"], { cwd: this.path, env });
  }

  has(name: string): boolean {
    return existsSync(join(this.path, name));
  }

  /** A turn that writes a file, told by the hooks that the user's settings have. */
  async turn(prompt: string): Promise<string[]> {
    const payload = { session_id: `s-${prompt}`, transcript_path: "", cwd: this.path };
    const options = { cwd: this.path, env: { ...env, CLAUDE_PROJECT_DIR: this.path } };
    const said: string[] = [];
    const hook = async (verb: string, event: string, more: object) => {
      const all = { ...payload, hook_event_name: event, ...more };
      const result = await this.#repository.hook("claude-code", verb, all, options);
      expect([result.code, result.stderr]).toEqual([0, ""]);
      said.push(result.stdout);
    };
    await hook("user-prompt-submit", "UserPromptSubmit", { prompt });
    writeFileSync(join(this.path, "a.txt"), `${prompt}\n`);
    await hook("stop", "Stop", { stop_hook_active: false });
    return said.filter((text) => text !== "");
  }
}

test("enabled in one place, every repository is recorded from its first turn on", async () => {
  using repository = temporaryRepository();
  const settings = join(repository.home, ".claude/settings.json");
  const enabled = await repository.run(["enable", "--scope", "user", "--agent", "claude-code"]);
  expect(enabled.code).toBe(0);
  expect(enabled.stdout).toContain("Recording is on in all your git repositories.");
  expect(readFileSync(settings, "utf8")).toContain("hooks claude-code");

  const other = new Place(repository, "other");
  expect(await other.status()).toMatchObject({ enabled: true, userScope: { kind: "recorded" } });
  expect(other.has(".git/backtrail")).toBe(false);
  expect((await other.run("status")).stdout).toContain("all your git repositories are recorded");
  expect((await other.run("doctor", "--check")).code).toBe(0);

  await other.turn("Write it");
  const log = await other.run("log");
  expect(log.stdout).toContain("Write it");
  expect(log.stdout).toContain("a.txt");
  expect((await other.status()).agents.find(({ id }) => id === "claude-code")).toMatchObject({
    hooks: "installed",
    scope: "user",
    heard: true,
  });
  // Nobody asked for git's hooks there.
  expect(readdirSync(join(other.path, ".git/hooks")).filter((name) => !name.endsWith(".sample"))).toEqual([]);
  const doctor = await other.run("doctor");
  expect(doctor.code).toBe(0);
  expect(doctor.stdout).toContain("commits are not linked");

  const off = await repository.run(["disable", "--scope", "user"]);
  expect(off.code).toBe(0);
  expect(existsSync(settings)).toBe(false);
  expect((await other.run("status")).stdout).not.toContain("are gone from");
  const third = new Place(repository, "third");
  await third.turn("Unheard");
  expect(third.has(".git/backtrail")).toBe(false);
});

test("an excluded folder, or one that is not a repository, gets no store and no output", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--scope", "user", "--agent", "claude-code"]);
  await repository.run(["config", "set", "scope.exclude", "~/code/clients,secret"]);
  const client = new Place(repository, "clients/one");
  const secret = new Place(repository, "lib/secret/deep");
  const folder = new Place(repository, "folder", true);
  for (const place of [client, secret, folder]) {
    expect(await place.turn("Not recorded")).toEqual([]);
    expect(place.has(".git/backtrail")).toBe(false);
    expect((await place.status()).enabled).toBe(false);
  }
  expect(readdirSync(repository.home).sort()).toEqual([".claude", "backtrail", "code"]);
  expect((await client.status()).userScope).toEqual({
    kind: "excluded",
    agents: ["claude-code"],
    pattern: "~/code/clients",
  });
  expect((await client.run("status")).stdout).toContain("`scope.exclude` has ~/code/clients");
  expect((await folder.status()).userScope?.kind).toBe("not-a-repository");
  expect((await client.run("log")).stderr).toContain("Backtrail is not enabled in");

  // Excluded later, a store that nobody asked for by `enable` is silent, too.
  const late = new Place(repository, "late");
  await late.turn("First");
  await repository.run(["config", "set", "scope.exclude", "~/code/late"]);
  await late.turn("Second");
  expect((await late.run("log")).stdout).not.toContain("Second");
  expect((await late.status()).enabled).toBe(false);
});

test("disable excludes a repository, with or without a store, and enable takes it in again", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--scope", "user", "--agent", "claude-code"]);
  const settings = readFileSync(join(repository.home, ".claude/settings.json"), "utf8");
  const [used, fresh] = [new Place(repository, "used"), new Place(repository, "fresh")];
  await used.turn("Recorded");
  for (const place of [used, fresh]) {
    const disabled = await place.run("disable");
    expect(disabled.code).toBe(0);
    expect(disabled.stderr).toContain("stay for your other repositories");
    await place.turn("Unheard");
    expect(await place.status()).toMatchObject({ enabled: false, userScope: { kind: "disabled" } });
  }
  expect((await used.run("log")).stdout).not.toContain("Unheard");
  expect(fresh.has(".git/backtrail/steps.jsonl")).toBe(false);
  expect(readFileSync(join(repository.home, ".claude/settings.json"), "utf8")).toBe(settings);
  const named = await used.run("disable", "--agent", "claude-code");
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("can't be disconnected in this one alone")]);

  expect((await fresh.run("enable", "--scope", "user", "--agent", "claude-code")).code).toBe(0);
  await fresh.turn("Recorded again");
  expect((await fresh.run("log")).stdout).toContain("Recorded again");
});

test("outside of any repository, only the hooks are put in place", async () => {
  using repository = temporaryRepository();
  const folder = new Place(repository, "folder", true);
  const enabled = await folder.run("enable", "--scope", "user", "--agent", "claude-code");
  expect(enabled.code).toBe(0);
  expect(enabled.stdout).toContain("is not a git repository, so it is not recorded itself");
  expect(existsSync(join(repository.home, "backtrail/data/folders"))).toBe(false);
  const other = new Place(repository, "other");
  await other.turn("Recorded");
  expect((await other.run("log")).stdout).toContain("Recorded");
  expect((await folder.run("disable", "--scope", "user")).code).toBe(0);
  expect(existsSync(join(repository.home, ".claude"))).toBe(false);
  expect((await folder.run("disable", "--scope", "user")).code).not.toBe(0);
});

test("a repository in the home directory is not recorded by default", async () => {
  using repository = temporaryRepository();
  execFileSync("git", ["init", "--quiet"], { cwd: repository.home, env: repository.environment() });
  await repository.run(["enable", "--scope", "user", "--agent", "claude-code"]);
  const folder = new Place(repository, "folder", true);
  await folder.turn("Not recorded");
  expect(existsSync(join(repository.home, ".git/backtrail"))).toBe(false);
  expect((await folder.status()).userScope?.kind).toBe("too-large");
});
