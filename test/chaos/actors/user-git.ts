/** The user at work with git, mostly as git's manual has it, sometimes carelessly. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Random } from "../../fuzz/random.ts";
import { edited, text, token } from "../content.ts";
import type { World } from "../world.ts";
import type { Action, Actions, Scene } from "./action.ts";
import { filesIn, ignoredFile, placeIn, presentFile, readText } from "./files.ts";

/** The user works with git while nothing else does. */
function gitAction(weight: number, run: Action["run"]): Action {
  return { weight, git: true, run };
}

/** The user works with git, perhaps while a command runs. */
function gitMeanwhile(weight: number, run: Action["run"]): Action {
  return { weight, meanwhile: true, git: true, run };
}

/** One git command in some work tree. */
function command(weight: number, args: (random: Random) => string[]): Action {
  return gitAction(weight, ({ world, random }) => {
    const chosen = args(random);
    world.git(placeIn(world, random), ...chosen);
  });
}

interface SceneOfFile extends Scene {
  /** The work tree, and a file that is there: its path, and its name in the work tree. */
  place: string;
  path: string;
  name: string;
}

/** The rest of an action that needs a file. */
function withFile(run: (scene: SceneOfFile) => void): Action["run"] {
  return (scene) => {
    const place = placeIn(scene.world, scene.random);
    const path = presentFile(place, scene.random);
    if (path) run({ ...scene, place, path, name: relative(place, path) });
    return undefined;
  };
}

/** Notes what is staged under a name, which is about to be replaced. */
function leaveStaged(world: World, place: string, name: string): void {
  const listing = world.ask(place, "ls-files", "-s", "--", name);
  for (const [, content] of listing.matchAll(/^\d+ ([0-9a-f]{40}) /gm)) if (content) world.removed.add(content);
}

function otherPlaces({ world }: Scene): string[] {
  return world.places().filter((place) => place !== world.repository);
}

export const USER_GIT: Actions = {
  "stage everything": gitMeanwhile(3, ({ world, random }) => {
    const place = placeIn(world, random);
    leaveStaged(world, place, ".");
    world.git(place, "add", "-A");
  }),
  "stage a file": gitMeanwhile(
    4,
    withFile(({ world, place, name }) => {
      leaveStaged(world, place, name);
      world.git(place, "add", "--", name);
    }),
  ),
  // What `git add -p` leaves: something in the index that is in no file.
  "stage a part": gitMeanwhile(
    7,
    withFile(({ world, random, place, path, name }) => {
      const content = edited(readText(path), random);
      const { stdout, ok } = world.gitFed(place, content, "hash-object", "-w", "--stdin");
      if (!ok) return;
      leaveStaged(world, place, name);
      if (world.git(place, "update-index", "--add", "--cacheinfo", `100644,${stdout.trim()},${name}`).ok) {
        world.staged(stdout.trim());
      }
    }),
  ),
  unstage: command(1, () => ["reset", "-q"]),
  commit: command(4, (random) => ["commit", "-qm", token(random)]),
  "commit everything": command(2, (random) => ["commit", "-qam", token(random)]),
  amend: command(1, () => ["commit", "-q", "--amend", "--no-edit", "-a"]),
  stash: command(2, (random) => ["stash", "push", "-q", ...random.pick([[], ["-u"], ["--keep-index"], ["--staged"]])]),
  "stash pop": command(2, (random) => [
    "stash",
    random.pick(["pop", "apply"]),
    "-q",
    ...random.pick([[], ["--index"]]),
  ]),
  switch: command(2, (random) => ["switch", "-q", random.pick(["main", "side", "-"])]),
  "switch to a new branch": command(1, (random) => ["switch", "-q", "-c", `b-${token(random)}`]),
  detach: command(0.5, () => ["checkout", "-q", "--detach"]),
  merge: command(1, (random) => ["merge", "-q", "--no-edit", random.pick(["side", "main"])]),
  rebase: command(1, (random) => ["rebase", "-q", "--autostash", random.pick(["side", "main"])]),
  "cherry-pick": command(0.5, (random) => ["cherry-pick", random.pick(["side", "main"])]),
  abort: gitAction(2, (scene) => {
    const place = placeIn(scene.world, scene.random);
    for (const begun of ["merge", "rebase", "cherry-pick"]) scene.world.git(place, begun, "--abort");
  }),
  "restore a file": gitAction(
    1,
    withFile(({ world, place, name }) => {
      world.git(place, "checkout", "-q", "HEAD", "--", name);
    }),
  ),
  "reset hard": command(0.7, (random) => ["reset", "-q", "--hard", random.pick(["HEAD", "HEAD~1"])]),
  clean: command(1, () => ["clean", "-qfd"]),
  "collect garbage": command(1, () => ["gc", "-q", "--prune=now"]),
  "stop looking at a file": gitAction(
    3,
    withFile(({ world, random, place, path, name }) => {
      const flag = random.pick([
        "--skip-worktree",
        "--assume-unchanged",
        "--no-skip-worktree",
        "--no-assume-unchanged",
      ]);
      world.git(place, "update-index", flag, "--", name);
      if (random.once(2)) world.write(path, edited(readText(path), random));
    }),
  ),
  "track an ignored file": gitAction(1, ({ world, random }) => {
    const place = placeIn(world, random);
    const path = ignoredFile(place, random);
    if (!existsSync(path)) world.write(path, text(random));
    world.git(place, "add", "-f", "--", relative(place, path));
  }),
  "stop tracking a file": gitAction(
    1,
    withFile(({ world, place, name }) => {
      world.git(place, "rm", "-q", "--cached", "-f", "--", name);
    }),
  ),
  "intend to add": command(0.5, () => ["add", "-N", "."]),
  "add a worktree": gitAction(1, ({ world, random }) => {
    const name = token(random);
    world.git(world.repository, "worktree", "add", "-q", "-b", `wt-${name}`, join(world.root, "w", `wt-${name}`));
  }),
  // A fork's worktree is taken away with git, and its place used for something else.
  "put something else in place of a worktree": gitAction(2, (scene) => {
    const { world, random } = scene;
    const others = otherPlaces(scene);
    if (others.length === 0) return;
    const place = random.pick(others);
    if (!world.git(world.repository, "worktree", "remove", "--force", place).ok) return;
    if (random.once(3)) world.git(world.root, "init", "-q", place);
    else if (random.once(2)) world.git(world.repository, "worktree", "add", "-q", "-b", `o-${token(random)}`, place);
    world.write(join(place, "precious.txt"), text(random));
  }),
  "move the repository": gitAction(0.7, ({ world, random }) => {
    // The steps of a folder without git belong to its path.
    if (world.smallDisk || world.variant !== "plain") return;
    const to = join(world.root, "w", `p-${token(random)}`);
    world.move(world.repository, to);
    if (existsSync(to)) world.repository = to;
    world.mappings.clear();
  }),
  "repair worktrees": gitAction(1, (scene) => {
    scene.world.git(scene.world.repository, "worktree", "repair", ...otherPlaces(scene));
  }),
  "move a worktree": gitAction(0.5, (scene) => {
    const { world, random } = scene;
    const others = otherPlaces(scene);
    if (others.length === 0) return;
    world.git(world.repository, "worktree", "move", random.pick(others), join(world.root, "w", `m-${token(random)}`));
  }),
  "lose an index": gitAction(0.3, ({ world, random }) => {
    const path = world.git(placeIn(world, random), "rev-parse", "--path-format=absolute", "--git-path", "index");
    if (path.ok) world.remove(path.stdout.trim());
  }),
  "add a submodule": gitAction(0.7, ({ world, random }) => {
    const place = placeIn(world, random);
    const origin = join(world.root, "origin");
    // What is only cloned from there is not lost while it is there.
    world.stores.add(join(origin, ".git"));
    if (!existsSync(origin)) {
      world.git(world.root, "init", "-q", "-b", "main", origin);
      world.write(join(origin, "lib.txt"), text(random));
      world.git(origin, "add", "-A");
      world.git(origin, "commit", "-qm", "lib");
    }
    world.git(place, "submodule", "add", "-q", origin, "lib");
  }),
  "work in a submodule": gitAction(1, ({ world, random }) => {
    const lib = join(placeIn(world, random), "lib");
    if (!existsSync(join(lib, ".git"))) {
      world.git(placeIn(world, random), "submodule", "update", "-q", "--init");
      return;
    }
    world.write(join(lib, random.pick(filesIn(lib).length > 0 ? filesIn(lib) : ["lib.txt"])), text(random));
    if (random.once(2)) world.git(lib, "commit", "-qam", token(random));
  }),
  "make a repository inside": gitAction(0.5, ({ world, random }) => {
    const inner = join(placeIn(world, random), random.pick(["vendor", "src/vendor"]));
    world.git(world.root, "init", "-q", inner);
    world.write(join(inner, "inner.txt"), text(random));
  }),
};
