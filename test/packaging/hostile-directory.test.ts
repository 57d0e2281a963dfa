/** The executable is started in repositories of strangers: files there that a runtime would obey are just files. */
import { expect, test } from "bun:test";
import { temporaryRepository } from "../support/index.ts";

test("no file of the directory is run, or read as settings of the runtime", async () => {
  using repository = temporaryRepository();
  repository.writeAll({
    "taken.ts": 'require("node:fs").writeFileSync("taken", "");\n',
    "bunfig.toml": 'preload = ["./taken.ts"]\n',
    "package.json": '{ "imports": { "commander": "./taken.ts", "node:fs": "./taken.ts" } }\n',
    "tsconfig.json": '{ "compilerOptions": { "paths": { "*": ["./taken.ts"] } } }\n',
    ".env": "BACKTRAIL_TIER=aggressive\n",
  });

  const tier = await repository.run(["config", "get", "tier"]);
  expect(tier.stdout.trim()).toBe("balanced");
  await repository.hook("claude-code", "stop", { session_id: "s", hook_event_name: "Stop" });
  expect(repository.exists("taken")).toBe(false);

  // The setting counts when it is really in the environment.
  const told = await repository.run(["config", "get", "tier"], { env: { BACKTRAIL_TIER: "aggressive" } });
  expect(told.stdout.trim()).toBe("aggressive");
});
