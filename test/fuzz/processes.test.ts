import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const source = join(import.meta.dirname, "..", "..", "src");

/** Every file that starts a process, and what it starts. */
const STARTERS: Readonly<Record<string, string>> = {
  "agents/external/call.ts": "a program that the user admitted",
  "agents/builtin/opencode/plugin.js": "our hook, as OpenCode's plugin",
  "agents/builtin/pi/extension.js": "our hook, as Pi's extension",
  "agents/registry/version.ts": "an agent, asked for its version by `doctor`",
  "checkpoints/write/signature.ts": "the program by which the user's git signs commits",
  "cli/terminal/pager.ts": "the user's pager",
  "cli/terminal/open-browser.ts": "the user's browser, for `view`",
  "search/search.ts": "ourselves, to index old conversations",
  "cli/shared/start-agent.ts": "the agent that goes on with a conversation, where the user asks for it",
  "git/run.ts": "git",
  "commits/ancestry.ts": "ps, where there is no /proc",
  "recording/start-worker.ts": "ourselves",
  "trials/trial/command.ts": "the command that `bisect` and `check` were given",
  "run/child.ts": "the agent of a headless run, and a guard that ends it with us",
};

/** The functions by which all others start one. */
const RUNTIMES = ["base/runtime.node.ts", "base/runtime.ts"];

test("only these files start processes", () => {
  const found = sources().filter(
    ([, text]) =>
      /child_process|Bun\.spawn/.test(text) || /\bspawn(?:Sync)?\b[^}\n]*\} from "[^"]*\/runtime\.ts"/.test(text),
  );
  expect(found.map(([name]) => name).sort()).toEqual([...Object.keys(STARTERS), ...RUNTIMES].sort());
});

test("nothing that comes from outside goes through a shell", () => {
  const shelled = sources().filter(([, text]) =>
    /shell:\s*true|\bexec(?:Sync)?\(\s*[`"']|Bun\.\$|"\/bin\/sh"/.test(text),
  );
  expect(shelled.map(([name]) => name).sort()).toEqual([
    "agents/builtin/opencode/plugin.js",
    "agents/builtin/pi/extension.js",
    // Compares the interpreter that a hook names; it starts nothing.
    "checkpoints/git-hooks/guard.ts",
    // A fixed script, with a process id as its only argument.
    "run/child.ts",
  ]);
});

function sources(): [name: string, text: string][] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js)$/.test(name) && !name.endsWith(".test.ts"))
    .map((name) => [name, readFileSync(join(source, name), "utf8")]);
}
