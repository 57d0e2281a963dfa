import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const source = join(import.meta.dirname, "..", "..", "src");

/** Every file that starts a process, and what it starts. */
const STARTERS: Readonly<Record<string, string>> = {
  "agents/external/call.ts": "a program that the user admitted",
  "agents/opencode/plugin.js": "our hook, as OpenCode's plugin",
  "agents/pi/extension.js": "our hook, as Pi's extension",
  "agents/version.ts": "an agent, asked for its version by `doctor`",
  "cli/pager.ts": "the user's pager",
  "git/run.ts": "git",
  "lifecycle/ancestry.ts": "ps, where there is no /proc",
  "lifecycle/background.ts": "ourselves",
  "restore/playground.ts": "git, for tests",
};

test("only these files start processes", () => {
  const found = sources().filter(([, text]) => /child_process|Bun\.spawn/.test(text));
  expect(found.map(([name]) => name).sort()).toEqual(Object.keys(STARTERS).sort());
});

test("nothing goes through a shell but the hook's own command, as agents run it themselves", () => {
  const shelled = sources().filter(([, text]) =>
    /shell:\s*true|\bexec(?:Sync)?\(\s*[`"']|Bun\.\$|"\/bin\/sh"/.test(text),
  );
  expect(shelled.map(([name]) => name).sort()).toEqual(["agents/opencode/plugin.js", "agents/pi/extension.js"]);
});

function sources(): [name: string, text: string][] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js)$/.test(name) && !name.endsWith(".test.ts"))
    .map((name) => [name, readFileSync(join(source, name), "utf8")]);
}
