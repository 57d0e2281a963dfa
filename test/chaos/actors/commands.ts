/** Backtrail's own commands, all that change something and a few that only look, as a user gives them. */
import { join } from "node:path";
import type { Random } from "../../fuzz/random.ts";
import { text, token } from "../content.ts";
import type { Invocation } from "../invocation.ts";
import { entryAt, namesIn } from "../work-files.ts";
import type { World } from "../world.ts";
import type { Action, Actions, Scene } from "./action.ts";
import { placeIn, presentFile } from "./files.ts";
import { remoteOf } from "./user-branches.ts";

/** The names that `save` gives; a small number, so that rewinds find them. */
const NAMES = ["one", "two", "three"];

function command(weight: number, make: (scene: Scene) => string[] | null, more: Partial<Action> = {}): Action {
  return {
    weight,
    ...more,
    run(scene) {
      const args = make(scene);
      return args ? { name: args[0] ?? "", cwd: somewhereIn(scene), args } : null;
    },
  };
}

/** A work tree, or a directory of it. */
function somewhereIn({ world, random }: Scene): string {
  const place = placeIn(world, random);
  const inside = join(place, "src");
  return random.once(6) && entryAt(inside)?.isDirectory() ? inside : place;
}

/** Commands that may run while another one does. */
const AT_ONCE = { meanwhile: true, git: true };

/** A moment to go to: by name, by number, or any step of the log. */
function target(world: World, random: Random): string {
  const drawn = random.below(10);
  if (drawn < 4 && world.said.includes("Saved")) return random.pick(NAMES);
  if (drawn < 7) return random.pick(["last", "prev", "1", "2", "3"]);
  return world.anyStep(random.below(1000));
}

function forkName(world: World, random: Random): string | null {
  const names = namesIn(join(world.root, "w")).filter((name) => name.startsWith("fk-"));
  return names.length > 0 ? random.pick(names) : null;
}

function makeFork(world: World, random: Random): string[] {
  const name = `fk-${token(random)}`;
  return ["fork", target(world, random), "--branch", `fork/${name}`, "--directory", join(world.root, "w", name)];
}

function maybe(random: Random, oneIn: number, ...words: string[]): string[] {
  return random.once(oneIn) ? words : [];
}

export const COMMANDS: Actions = {
  save: command(6, ({ random }) => ["save", random.pick(NAMES)], AT_ONCE),
  rewind: command(
    12,
    ({ world, random }) => [
      "rewind",
      target(world, random),
      "--yes",
      ...maybe(random, 3, "--code-only"),
      ...maybe(random, 12, "--reset-head"),
      ...maybe(random, 12, "--paths", random.pick(["src/**", "*.txt", "a.txt"])),
      ...maybe(random, 6, "--json"),
      ...maybe(random, 8, "--tell-agent"),
      ...maybe(random, 15, "--chat-only"),
    ],
    AT_ONCE,
  ),
  undo: command(5, ({ random }) => [
    "undo",
    random.pick(["last", "1", "2", "3"]),
    "--yes",
    ...maybe(random, 2, "--conflicts", "markers"),
  ]),
  redo: command(6, () => ["redo", "--yes"], AT_ONCE),
  fork: command(4, ({ world, random }) => makeFork(world, random)),
  "fork take": command(3, ({ world, random }) => {
    const name = forkName(world, random);
    if (!name) return makeFork(world, random);
    return ["fork", "take", name, "--yes", ...maybe(random, 2, "--conflicts", "markers")];
  }),
  "fork drop": command(4, ({ world, random }) => {
    const name = forkName(world, random);
    return name ? ["fork", "drop", name, ...maybe(random, 2, "--yes")] : makeFork(world, random);
  }),
  "write into a file that is there": command(1, (scene) => {
    const { world, random } = scene;
    const file = presentFile(world.repository, random) ?? "a.txt";
    const session = scene.agents.current("claude-code")?.id ?? "none";
    return random.pick([
      ["export", session, "--output", file],
      ["resume", "last", "--agent", "codex", "--output", file],
      ["doctor", "bundle", file],
    ]);
  }),
  sync: command(0.7, (scene) => ["sync", scene.random.pick(["push", "fetch"]), remoteOf(scene)]),
  import: command(0.3, () => ["import", "claude-code"]),
  resume: command(1, ({ random }) => ["resume", random.pick(["last", "main"]), ...maybe(random, 2, "--copy"), "--yes"]),
  clean: command(1, () => ["clean", "--yes"]),
  "doctor --fix": command(2, () => ["doctor", "--fix"], AT_ONCE),
  log: command(3, ({ random }) => ["log", ...maybe(random, 2, "--json", "--all", "--limit", "0")], AT_ONCE),
  status: command(1, () => ["status"]),
  disable: command(0.4, () => ["disable"]),
  enable: command(1.5, () => ["enable", "--agent", "claude-code", "gemini"]),
  "auto-commit": command(1, ({ random }) => [
    "config",
    "set",
    "strategy",
    random.pick(["auto-commit", "manual-commit"]),
  ]),
  "largest file": command(0.7, ({ random }) => [
    "config",
    "set",
    "capture.max_file_size",
    random.pick(["1000", "50000000"]),
  ]),
  tier: command(0.5, ({ random }) => ["config", "set", "tier", random.pick(["minimal", "balanced", "aggressive"])]),
  check: command(0.7, ({ random }) =>
    random.pick([
      ["check", "--", "sh", "-c", "grep -q k a.txt"],
      ["check", "--now"],
      ["check", "--off"],
    ]),
  ),
  bisect: command(0.7, () => ["bisect", "--", "sh", "-c", "test -e b.txt"]),
  "dry runs": command(1, ({ world, random }) =>
    random.pick([
      ["rewind", target(world, random), "--dry-run"],
      ["undo", "last", "--dry-run"],
      ["fork", "drop", forkName(world, random) ?? "none", "--dry-run"],
      ["clean", "--dry-run"],
    ]),
  ),
  "refused for want of a yes": command(1, ({ world, random }) =>
    random.pick([
      ["rewind", target(world, random)],
      ["undo", "last"],
      ["redo"],
      ["fork", "drop", forkName(world, random) ?? "none"],
    ]),
  ),
  forget: {
    weight: 0.5,
    run({ world, random }): Invocation | null {
      const id = world.anyStep(random.below(1000));
      return id === "last" ? null : { name: "forget", cwd: world.repository, args: ["forget", id, "--yes"] };
    },
  },
  "run an agent": {
    weight: 1,
    run({ world, random }): Invocation {
      const args = ["run", token(random), ...maybe(random, 3, "--worktree")];
      return { name: "run", cwd: placeIn(world, random), args, env: { CHAOS_CONTENT: text(random) } };
    },
  },
};
