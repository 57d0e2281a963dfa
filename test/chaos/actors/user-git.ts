/** The user at work with git, mostly as git's manual has it, sometimes carelessly. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { edited, text, token } from "../content.ts";
import type { World } from "../world.ts";
import type { Actions, Scene } from "./action.ts";
import { filesIn, ignoredFile, placeIn, presentFile, readText } from "./files.ts";

/** Runs git in some work tree. */
function git(scene: Scene, ...args: string[]): undefined {
  scene.world.git(placeIn(scene.world, scene.random), ...args);
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
  "stage everything": {
    weight: 3,
    meanwhile: true,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      leaveStaged(world, place, ".");
      world.git(place, "add", "-A");
    },
  },
  "stage a file": {
    weight: 4,
    meanwhile: true,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (!path) return;
      leaveStaged(world, place, relative(place, path));
      world.git(place, "add", "--", relative(place, path));
    },
  },
  // What `git add -p` leaves: something in the index that is in no file.
  "stage a part": {
    weight: 7,
    meanwhile: true,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (!path) return;
      const content = edited(readText(path), random);
      const { stdout, ok } = world.gitFed(place, content, "hash-object", "-w", "--stdin");
      if (!ok) return;
      const name = relative(place, path);
      leaveStaged(world, place, name);
      if (world.git(place, "update-index", "--add", "--cacheinfo", `100644,${stdout.trim()},${name}`).ok) {
        world.staged(stdout.trim());
      }
    },
  },
  unstage: { weight: 1, git: true, run: (scene) => git(scene, "reset", "-q") },
  commit: { weight: 4, git: true, run: (scene) => git(scene, "commit", "-qm", token(scene.random)) },
  "commit everything": { weight: 2, git: true, run: (scene) => git(scene, "commit", "-qam", token(scene.random)) },
  amend: { weight: 1, git: true, run: (scene) => git(scene, "commit", "-q", "--amend", "--no-edit", "-a") },
  stash: {
    weight: 2,
    git: true,
    run: (scene) =>
      git(scene, "stash", "push", "-q", ...scene.random.pick([[], ["-u"], ["--keep-index"], ["--staged"]])),
  },
  "stash pop": {
    weight: 2,
    git: true,
    run: (scene) =>
      git(scene, "stash", scene.random.pick(["pop", "apply"]), "-q", ...scene.random.pick([[], ["--index"]])),
  },
  switch: {
    weight: 2,
    git: true,
    run: (scene) => git(scene, "switch", "-q", scene.random.pick(["main", "side", "-"])),
  },
  "switch to a new branch": {
    weight: 1,
    git: true,
    run: (scene) => git(scene, "switch", "-q", "-c", `b-${token(scene.random)}`),
  },
  detach: { weight: 0.5, git: true, run: (scene) => git(scene, "checkout", "-q", "--detach") },
  merge: {
    weight: 1,
    git: true,
    run: (scene) => git(scene, "merge", "-q", "--no-edit", scene.random.pick(["side", "main"])),
  },
  rebase: {
    weight: 1,
    git: true,
    run: (scene) => git(scene, "rebase", "-q", "--autostash", scene.random.pick(["side", "main"])),
  },
  "cherry-pick": {
    weight: 0.5,
    git: true,
    run: (scene) => git(scene, "cherry-pick", scene.random.pick(["side", "main"])),
  },
  abort: {
    weight: 2,
    git: true,
    run(scene) {
      const place = placeIn(scene.world, scene.random);
      for (const command of ["merge", "rebase", "cherry-pick"]) scene.world.git(place, command, "--abort");
    },
  },
  "restore a file": {
    weight: 1,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (path) world.git(place, "checkout", "-q", "HEAD", "--", relative(place, path));
    },
  },
  "reset hard": {
    weight: 0.7,
    git: true,
    run: (scene) => git(scene, "reset", "-q", "--hard", scene.random.pick(["HEAD", "HEAD~1"])),
  },
  clean: { weight: 1, git: true, run: (scene) => git(scene, "clean", "-qfd") },
  "collect garbage": { weight: 1, git: true, run: (scene) => git(scene, "gc", "-q", "--prune=now") },
  "stop looking at a file": {
    weight: 3,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (!path) return;
      const flag = random.pick([
        "--skip-worktree",
        "--assume-unchanged",
        "--no-skip-worktree",
        "--no-assume-unchanged",
      ]);
      world.git(place, "update-index", flag, "--", relative(place, path));
      if (random.once(2)) world.write(path, edited(readText(path), random));
    },
  },
  "track an ignored file": {
    weight: 1,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = ignoredFile(place, random);
      if (!existsSync(path)) world.write(path, text(random));
      world.git(place, "add", "-f", "--", relative(place, path));
    },
  },
  "stop tracking a file": {
    weight: 1,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (path) world.git(place, "rm", "-q", "--cached", "-f", "--", relative(place, path));
    },
  },
  "intend to add": { weight: 0.5, git: true, run: (scene) => git(scene, "add", "-N", ".") },
  "add a worktree": {
    weight: 1,
    git: true,
    run({ world, random }) {
      const name = token(random);
      world.git(world.repository, "worktree", "add", "-q", "-b", `wt-${name}`, join(world.root, "w", `wt-${name}`));
    },
  },
  // A fork's worktree is taken away with git, and its place used for something else.
  "put something else in place of a worktree": {
    weight: 2,
    git: true,
    run(scene) {
      const { world, random } = scene;
      const others = otherPlaces(scene);
      if (others.length === 0) return;
      const place = random.pick(others);
      if (!world.git(world.repository, "worktree", "remove", "--force", place).ok) return;
      if (random.once(3)) world.git(world.root, "init", "-q", place);
      else if (random.once(2)) world.git(world.repository, "worktree", "add", "-q", "-b", `o-${token(random)}`, place);
      world.write(join(place, "precious.txt"), text(random));
    },
  },
  "move the repository": {
    weight: 0.7,
    git: true,
    run({ world, random }) {
      // The steps of a folder without git belong to its path.
      if (world.smallDisk || world.variant !== "plain") return;
      const to = join(world.root, "w", `p-${token(random)}`);
      world.move(world.repository, to);
      if (existsSync(to)) world.repository = to;
      world.mappings.clear();
    },
  },
  "repair worktrees": {
    weight: 1,
    git: true,
    run(scene) {
      scene.world.git(scene.world.repository, "worktree", "repair", ...otherPlaces(scene));
    },
  },
  "move a worktree": {
    weight: 0.5,
    git: true,
    run(scene) {
      const { world, random } = scene;
      const others = otherPlaces(scene);
      if (others.length === 0) return;
      world.git(world.repository, "worktree", "move", random.pick(others), join(world.root, "w", `m-${token(random)}`));
    },
  },
  "lose an index": {
    weight: 0.3,
    git: true,
    run({ world, random }) {
      const path = world.git(placeIn(world, random), "rev-parse", "--path-format=absolute", "--git-path", "index");
      if (path.ok) world.remove(path.stdout.trim());
    },
  },
  "add a submodule": {
    weight: 0.7,
    git: true,
    run({ world, random }) {
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
    },
  },
  "work in a submodule": {
    weight: 1,
    git: true,
    run({ world, random }) {
      const lib = join(placeIn(world, random), "lib");
      if (!existsSync(join(lib, ".git"))) {
        world.git(placeIn(world, random), "submodule", "update", "-q", "--init");
        return;
      }
      world.write(join(lib, random.pick(filesIn(lib).length > 0 ? filesIn(lib) : ["lib.txt"])), text(random));
      if (random.once(2)) world.git(lib, "commit", "-qam", token(random));
    },
  },
  "make a repository inside": {
    weight: 0.5,
    git: true,
    run({ world, random }) {
      const inner = join(placeIn(world, random), random.pick(["vendor", "src/vendor"]));
      world.git(world.root, "init", "-q", inner);
      world.write(join(inner, "inner.txt"), text(random));
    },
  },
};
