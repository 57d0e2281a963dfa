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
  "checkpoints/signature.ts": "the program by which the user's git signs commits",
  "cli/pager.ts": "the user's pager",
  "cli/start-agent.ts": "the agent that goes on with a conversation, where the user asks for it",
  "git/run.ts": "git",
  "lifecycle/ancestry.ts": "ps, where there is no /proc",
  "lifecycle/background.ts": "ourselves",
  "restore/playground.ts": "git, for tests",
  "restore/trial/command.ts": "the command that `bisect` and `check` were given",
  "run/child.ts": "the agent of a headless run, and a guard that ends it with us",
};

test("only these files start processes", () => {
  const found = sources().filter(([, text]) => /child_process|Bun\.spawn/.test(text));
  expect(found.map(([name]) => name).sort()).toEqual(Object.keys(STARTERS).sort());
});

test("nothing that comes from outside goes through a shell", () => {
  const shelled = sources().filter(([, text]) =>
    /shell:\s*true|\bexec(?:Sync)?\(\s*[`"']|Bun\.\$|"\/bin\/sh"/.test(text),
  );
  expect(shelled.map(([name]) => name).sort()).toEqual([
    "agents/opencode/plugin.js",
    "agents/pi/extension.js",
    // A fixed script, with a process id as its only argument.
    "run/child.ts",
  ]);
});

function sources(): [name: string, text: string][] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js)$/.test(name) && !name.endsWith(".test.ts"))
    .map((name) => [name, readFileSync(join(source, name), "utf8")]);
}
