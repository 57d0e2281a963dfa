/** Nothing is written through a link that came with a repository: not to the user's files, not to other directories. */
import { expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { isFreeOfLinks, openGuarded, refuseLinks } from "../../src/base/fs/guarded-files.ts";
import { temporaryDirectory, temporaryRepository } from "../support/index.ts";
import { StandIn } from "../support/stand-in.ts";

const CLAUDE = 'init abcd1234; say hello; done_ hello; echo called >> "$CALLED"';
const OWN = "# my file\n";

/** A file of the user's that links lead to. */
function ownFile(world: StandIn): string {
  return world.repository.atHome.write("own-file", OWN);
}

function today(): string {
  const date = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function linked(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

for (const place of [".aiwr", ".aiwr/logs", "day"]) {
  test(`run: ${place} is a link to another directory`, async () => {
    using world = new StandIn();
    world.agent("claude", CLAUDE);
    const elsewhere = join(world.repository.home, "elsewhere");
    mkdirSync(elsewhere);
    linked(elsewhere, world.repository.at(place === "day" ? `.aiwr/logs/${today()}` : place));
    const refused = await world.run(["hello"]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("is a link to somewhere else");
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(existsSync(world.called)).toBe(false);
  });
}

test("run: the list of runs is a link to a file of the user's, also a dangling one, or a second name of one", async () => {
  using world = new StandIn();
  world.agent("claude", CLAUDE);
  const own = ownFile(world);
  const index = world.repository.at(".aiwr/logs/.index.jsonl");
  linked(own, index);
  expect((await world.run(["hello"])).code).toBe(4);
  rmSync(index);
  linked(join(world.repository.home, "new-file"), index);
  expect((await world.run(["hello"])).code).toBe(4);
  expect(world.repository.atHome.exists("new-file")).toBe(false);
  rmSync(index);
  linkSync(own, index);
  // What the list would say is in the logs as well.
  expect((await world.run(["hello"])).code).toBe(0);
  expect(world.repository.atHome.read("own-file")).toBe(OWN);
});

test("run --session and a session's second run: the log is a link to a file of the user's", async () => {
  using world = new StandIn();
  world.agent("claude", CLAUDE);
  const own = ownFile(world);
  world.repository.atHome.write("own-file", '{"type":"aiwr_start","agent":"claude","prompt":"x"}\n');
  linked(own, world.repository.at(`.aiwr/logs/${today()}/abcd1234.jsonl`));
  expect((await world.run(["more", "--session", "abcd1234"])).code).toBe(4);
  // The agent tells that very id: its lines stay under a name of ours.
  expect((await world.run(["hello"])).code).toBe(0);
  expect(world.repository.atHome.read("own-file")).toBe('{"type":"aiwr_start","agent":"claude","prompt":"x"}\n');
});

test("run --parent: the folder of the parent's children is a link", async () => {
  using world = new StandIn();
  world.agent("claude", CLAUDE);
  const elsewhere = join(world.repository.home, "elsewhere");
  mkdirSync(elsewhere);
  world.repository.write(`.aiwr/logs/${today()}/parent01.jsonl`, "{}\n");
  linked(elsewhere, world.repository.at(`.aiwr/logs/${today()}/parent01`));
  expect((await world.run(["hello", "--parent", "parent01"])).code).toBe(4);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("a place that the user names may be reached through links", async () => {
  using world = new StandIn();
  world.agent("claude", CLAUDE);
  const real = join(world.repository.home, "real");
  mkdirSync(real);
  const chosen = join(world.repository.home, "chosen");
  symlinkSync(real, chosen);
  expect((await world.run(["hello"], { AIWR_LOG_DIR: chosen })).code).toBe(0);
  expect(readdirSync(real)).toContain(".index.jsonl");
});

test("config: .backtrail, or the file in it, is a link", async () => {
  using repository = temporaryRepository();
  const elsewhere = join(repository.home, "elsewhere");
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, repository.at(".backtrail"));
  const set = ["config", "set", "--project", "tier", "minimal"];
  expect((await repository.run(set)).code).toBe(4);
  rmSync(repository.at(".backtrail"));
  const own = repository.atHome.write("own.json", '{"default_agent":"codex"}');
  linked(own, repository.at(".backtrail/settings.json"));
  expect((await repository.run(set)).code).toBe(4);
  linked(own, repository.at(".backtrail/settings.local.json"));
  expect((await repository.run(["config", "unset", "default_agent"])).code).toBe(4);
  expect(repository.atHome.read("own.json")).toBe('{"default_agent":"codex"}');
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("enable: an agent's settings lead into git's own directory, or outside", async () => {
  for (const target of [".git/hooks", "../elsewhere"]) {
    using repository = temporaryRepository();
    mkdirSync(repository.at(target), { recursive: true });
    const before = readdirSync(repository.at(target));
    symlinkSync(target, repository.at(".claude"));
    expect((await repository.run(["enable", "--agent", "claude-code", "--scope", "local"])).code).toBe(4);
    expect(readdirSync(repository.at(target))).toEqual(before);
  }
});

test("the user's own settings may be links, as tools for dotfiles make them", async () => {
  using repository = temporaryRepository();
  const dotfile = repository.atHome.write("dotfiles/claude.json", "{}\n");
  linked(dotfile, join(repository.home, ".claude", "settings.json"));
  expect((await repository.run(["enable", "--agent", "claude-code", "--scope", "user"])).code).toBe(0);
  expect(repository.atHome.read("dotfiles/claude.json")).toContain("hooks claude-code");
});

test("check: an ignored path is not copied into a throwaway copy through a link of the repository's", async () => {
  using repository = temporaryRepository();
  const elsewhere = join(repository.home, "elsewhere");
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, repository.at("config"));
  repository.commit("a link");
  repository.write(".git/info/exclude", "/config\n");
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "one"]);
  rmSync(repository.at("config"));
  repository.write("config/.env", "SECRET=1\n");
  repository.write("README.md", "changed\n");
  const looked = await repository.run([
    "bisect",
    "--good",
    "one",
    "--copy",
    "config/.env",
    "--",
    "grep",
    "Example",
    "README.md",
  ]);
  expect(looked.code).toBe(4);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("each component is looked at, and a link is not opened", () => {
  using place = temporaryDirectory();
  mkdirSync(place.at("root/a"), { recursive: true });
  mkdirSync(place.at("elsewhere"));
  symlinkSync(place.at("root"), place.at("way"));
  symlinkSync("../../elsewhere", place.at("root/a/link"));
  expect(isFreeOfLinks(place.at("way"), place.at("way/a/new/file"))).toBe(true);
  expect(isFreeOfLinks(place.at("root"), place.at("root/a/link/file"))).toBe(false);
  expect(() => refuseLinks(place.at("root"), place.at("elsewhere/file"))).toThrow("is outside");
  expect(() => openGuarded(place.at("root"), place.at("root/a/link"), 0)).toThrow("is a link to somewhere else");
});
