/** The package.json of every package that is published. */
import { PLATFORMS, type Platform, packageOf } from "./platforms.ts";

const about = {
  description: "Undo for AI coding agents: every turn recorded, code and conversation taken back together.",
  license: "MIT",
};

/**
 * The package that people install: a launcher, the executable of their platform by an optional dependency, and the
 * library.
 */
export function mainManifest(version: string): Record<string, unknown> {
  return {
    name: "backtrail",
    version,
    ...about,
    keywords: ["undo", "rewind", "checkpoint", "coding agent", "claude code", "git"],
    bin: { backtrail: "bin/backtrail", aiwr: "bin/aiwr" },
    exports: {
      ".": { types: "./library/index.d.ts", default: "./library/index.js" },
      "./package.json": "./package.json",
    },
    files: ["bin", "lib", "library"],
    scripts: { postinstall: "node lib/postinstall.cjs" },
    engines: { node: ">=20" },
    optionalDependencies: Object.fromEntries(PLATFORMS.map((platform) => [packageOf(platform), version])),
  };
}

export function platformManifest(platform: Platform, version: string): Record<string, unknown> {
  return {
    name: packageOf(platform),
    version,
    ...about,
    description: `The executable of Backtrail for ${platform.id}. Install "backtrail" instead.`,
    files: ["bin"],
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc ? { libc: [platform.libc] } : {}),
    preferUnplugged: true,
  };
}
