/** The user and what git does to bytes: line endings, filters that lose something, modes and links that git does not see. */
import { join } from "node:path";
import { token } from "../content.ts";
import type { Actions } from "./action.ts";
import { placeIn, presentFile, readText } from "./files.ts";

const ATTRIBUTES = [
  "* text=auto\n",
  "*.txt text eol=crlf\n",
  "*.txt eol=lf\n",
  "*.txt filter=upper\n",
  "* -text\n",
  "",
];
const SETTINGS = [
  ["core.autocrlf", "true"],
  ["core.autocrlf", "input"],
  ["core.autocrlf", "false"],
  ["filter.upper.clean", "tr a-z A-Z"],
  ["core.fileMode", "false"],
  ["core.fileMode", "true"],
  ["core.symlinks", "false"],
  ["core.symlinks", "true"],
  ["core.untrackedCache", "true"],
  ["core.checkStat", "minimal"],
  ["core.checkStat", "default"],
  ["core.trustctime", "false"],
  ["core.preloadIndex", "false"],
  ["core.ignoreCase", "true"],
  ["core.ignoreCase", "false"],
];

export const USER_CONVERSIONS: Actions = {
  "change line endings": {
    weight: 2,
    meanwhile: true,
    run({ world, random }) {
      const path = presentFile(placeIn(world, random), random);
      if (!path) return;
      const old = readText(path);
      const lines = old.split(/\r?\n/).slice(1);
      world.write(path, [token(random), ...lines].join(old.includes("\r\n") ? "\n" : "\r\n"));
    },
  },
  "change attributes": {
    weight: 0.7,
    run({ world, random }) {
      world.write(join(placeIn(world, random), ".gitattributes"), `${random.pick(ATTRIBUTES)}# ${token(random)}\n`);
    },
  },
  "change a setting of git": {
    weight: 1,
    git: true,
    run({ world, random }) {
      world.git(placeIn(world, random), "config", ...random.pick(SETTINGS));
    },
  },
};
