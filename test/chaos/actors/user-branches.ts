/** The user's branches, tags and remotes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { token } from "../content.ts";
import type { Actions, Scene } from "./action.ts";
import { placeIn } from "./files.ts";

/** A bare repository that is there to be pushed to. */
export function remoteOf({ world }: Pick<Scene, "world">): string {
  const path = join(world.root, "remote.git");
  if (!existsSync(path)) world.git(world.root, "init", "-q", "--bare", path);
  world.stores.add(path);
  return path;
}

export const USER_BRANCHES: Actions = {
  "delete a branch": {
    weight: 0.7,
    git: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const branches = world.ask(place, "for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
      const own = branches.filter((name) => name && !name.startsWith("entire/"));
      if (own.length > 0) world.git(place, "branch", "-q", "-D", random.pick(own));
    },
  },
  "rename a branch": {
    weight: 0.5,
    git: true,
    run({ world, random }) {
      world.git(placeIn(world, random), "branch", "-m", `r-${token(random)}`);
    },
  },
  tag: {
    weight: 0.5,
    git: true,
    run({ world, random }) {
      world.git(placeIn(world, random), "tag", "-a", "-m", "x", `t-${token(random)}`);
    },
  },
  push: {
    weight: 0.7,
    git: true,
    run(scene) {
      scene.world.git(placeIn(scene.world, scene.random), "push", "-q", remoteOf(scene), "HEAD");
    },
  },
  "expire reflogs": {
    weight: 0.3,
    git: true,
    run({ world, random }) {
      world.git(placeIn(world, random), "reflog", "expire", "--expire=now", "--all");
    },
  },
};
