/** The user at work on files: saving in every way that editors and tools have, moving, linking, and files that git ignores. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { edited, text, token } from "../content.ts";
import { entryAt } from "../work-files.ts";
import type { Actions } from "./action.ts";
import { ignoredFile, placeIn, presentFile, readText, someFile } from "./files.ts";

/** Of files that are mapped into memory. */
const MAPPED_SIZE = 64;

export const USER_FILES: Actions = {
  "edit in place": {
    weight: 10,
    meanwhile: true,
    run({ world, random }) {
      const path = someFile(placeIn(world, random), random);
      world.write(path, edited(readText(path), random));
    },
  },
  "edit by rename": {
    weight: 6,
    meanwhile: true,
    run({ world, random }) {
      const path = someFile(placeIn(world, random), random);
      world.replace(path, edited(readText(path), random));
    },
  },
  "write anew": {
    weight: 4,
    meanwhile: true,
    run({ world, random }) {
      world.write(someFile(placeIn(world, random), random), text(random));
    },
  },
  "write a large file": {
    weight: 1,
    meanwhile: true,
    run({ world, random }) {
      const path = someFile(placeIn(world, random), random);
      world.write(path, `${readText(path)}${token(random).repeat(200)}\n`);
    },
  },
  "edit and keep the times": {
    weight: 3,
    meanwhile: true,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      const [first, ...rest] = path ? readText(path).split("\n") : [];
      const fresh = token(random);
      if (!path || first?.length !== fresh.length) return;
      world.rewriteKeepingTimes(path, [fresh, ...rest].join("\n"));
    },
  },
  "write mapped": {
    weight: 3,
    meanwhile: true,
    run({ world, random }) {
      const path = join(world.repository, random.pick(["db.bin", "src/pages.bin"]));
      if (entryAt(path)?.size !== MAPPED_SIZE) {
        world.mappings.delete(path);
        world.write(path, token(random).padEnd(MAPPED_SIZE, "."));
      }
      if (!entryAt(path)?.isFile()) return;
      world.writeMapped(path, token(random));
    },
  },
  delete: {
    weight: 3,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (path) world.remove(path);
    },
  },
  "move a file": {
    weight: 2,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (path) world.move(path, someFile(place, random));
    },
  },
  "change the case of a name": {
    weight: 1,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (!path) return;
      const name = basename(path);
      const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
      world.move(path, join(dirname(path), other));
    },
  },
  "change the mode": {
    weight: 2,
    meanwhile: true,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (path) world.chmod(path, random.pick([0o755, 0o644, 0o600]));
    },
  },
  "second name for a file": {
    weight: 0.7,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (path) world.hardLink(path, join(place, random.pick(["again.txt", "src/again.txt"])));
    },
  },
  "link in place of a file": {
    weight: 1,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (path) world.link(path, `${token(random)}/nowhere`);
    },
  },
  "link in place of a directory": {
    weight: 2,
    meanwhile: true,
    run({ world, random }) {
      const place = placeIn(world, random);
      const path = join(place, random.pick(["src", "docs", "src/deep"]));
      if (!entryAt(path)?.isDirectory()) return;
      world.remove(path);
      world.link(path, random.pick(["/nonexistent", `${token(random)}/nowhere`, ".."]));
    },
  },
  "file in place of a directory": {
    weight: 1,
    run({ world, random }) {
      const path = join(placeIn(world, random), random.pick(["src", "docs", "src/deep"]));
      world.remove(path);
      world.write(path, text(random));
    },
  },
  "directory in place of a file": {
    weight: 1,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (!path) return;
      world.remove(path);
      world.write(join(path, "inside.txt"), text(random));
    },
  },
  "write an ignored file": {
    weight: 5,
    meanwhile: true,
    run({ world, random }) {
      const path = ignoredFile(placeIn(world, random), random);
      world.write(path, edited(readText(path), random));
    },
  },
  "change the rules of ignoring": {
    weight: 1,
    run({ world, random }) {
      const place = placeIn(world, random);
      const rules = random.pick([
        "ign/\n*.secret\n",
        "ign/\n*.secret\ndocs/\n",
        "*.secret\n",
        "ign/\n*.secret\nB.txt\n",
        "",
      ]);
      world.write(join(place, ".gitignore"), `${rules}# ${token(random)}\n`);
    },
  },
  "exclude by a private rule": {
    weight: 1,
    run({ world, random }) {
      const path = join(world.repository, ".git", "info", "exclude");
      if (existsSync(dirname(path)))
        world.append(path, random.pick(["docs/\n", "!local.secret\n", "b.txt\n", "B.txt\n"]));
    },
  },
  "ignored in place of another": {
    weight: 2,
    run({ world, random }) {
      // An ignored name where something else was: a directory, or a name that differs only in case.
      const place = placeIn(world, random);
      const path = presentFile(place, random);
      if (!path) return;
      world.move(path, join(place, random.pick(["ign/moved.txt", "moved.secret", "IGN/x.txt"])));
    },
  },
  wait: {
    weight: 1.5,
    run({ world }) {
      // Times on disk must be older than what anybody takes for too young to be trusted.
      world.wait(2200);
    },
  },
};
