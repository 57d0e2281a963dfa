import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { holdsOurCommand, isOurCommand, localCommand, sharedCommand } from "./command.ts";

const sh = (command: string, path = "/usr/bin:/bin") =>
  execFileSync("/bin/sh", ["-c", command], { encoding: "utf8", env: { PATH: path } });

function withExecutable(name: string, work: (executable: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "backtrail-command-"));
  const executable = join(directory, name, "backtrail");
  mkdirSync(dirname(executable), { recursive: true });
  writeFileSync(executable, '#!/bin/sh\nprintf "%s|" "$@"\n');
  chmodSync(executable, 0o755);
  try {
    work(executable);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("the command", () => {
  test.each(["plain", "a b", 'q"uote', "$HOME", "`id`", "back\\slash", "$(touch x)", "it's", "!x", "ünï"])(
    "runs an executable below %p, and nothing else",
    (name) => {
      withExecutable(name, (executable) => {
        expect(sh(localCommand(executable, "claude-code", "stop"))).toBe("hooks|claude-code|stop|");
      });
    },
  );

  test("is silent and succeeds where the executable has gone", () => {
    expect(sh(localCommand("/nowhere/backtrail", "claude-code", "stop"))).toBe("");
    expect(sh(sharedCommand("claude-code", "stop"))).toBe("");
  });

  test("finds a colleague's own executable", () => {
    withExecutable("bin", (executable) => {
      expect(sh(sharedCommand("gemini", "stop"), `${dirname(executable)}:/bin`)).toBe("hooks|gemini|stop|");
    });
  });
});

describe("a command is ours", () => {
  test("wherever it was installed from", () => {
    const names = fc.string({ minLength: 1, maxLength: 12, unit: "binary" }).filter((name) => !/[\p{Cc}/]/u.test(name));
    fc.assert(
      fc.property(fc.array(names, { maxLength: 3 }), fc.constantFrom("stop", "pre-tool-use"), (directories, verb) => {
        const executable = `/${[...directories, "backtrail"].join("/")}`;
        const command = localCommand(executable, "claude-code", verb);
        expect(isOurCommand(command, "claude-code")).toBe(true);
        expect(isOurCommand(command, "claude")).toBe(false);
        expect(isOurCommand(`${command}; say done`, "claude-code")).toBe(false);
      }),
    );
    expect(isOurCommand(sharedCommand("pi", "stop"), "pi")).toBe(true);
    expect(isOurCommand("backtrail hooks pi stop", "pi")).toBe(true);
    expect(isOurCommand('"/opt/my tools/backtrail" hooks pi stop', "pi")).toBe(true);
    expect(isOurCommand('"C:\\\\Tools\\\\backtrail.exe" hooks pi stop', "pi")).toBe(true);
  });

  test.each([
    "",
    "say done",
    'echo "backtrail hooks pi stop"',
    "backtrail hooks pi stop && say done",
    "my-backtrail hooks pi stop",
    "/opt/backtrail/run hooks pi stop",
    "backtrail save pi stop",
    "$(backtrail) hooks pi stop",
    '[ ! -x "/a/backtrail" ] || "/b/backtrail" hooks pi stop',
    '[ ! -x "/a/other" ] || "/a/other" hooks pi stop',
  ])("but not %p", (command) => {
    expect(isOurCommand(command, "pi")).toBe(false);
  });
});

test("a generated file is known by the command in it, however it is written down", () => {
  for (const executable of ["/opt/backtrail", '/opt/my "tools"/$x/backtrail', "/opt/é/backtrail.exe"]) {
    const command = localCommand(executable, "pi", "stop");
    for (const text of [command, JSON.stringify({ hooks: [command] }), `const x = ${JSON.stringify(command)};\n`]) {
      expect(holdsOurCommand(text, "pi")).toBe(true);
      expect(holdsOurCommand(text, "p")).toBe(false);
    }
  }
  expect(holdsOurCommand(JSON.stringify(sharedCommand("pi", "stop")), "pi")).toBe(true);
  for (const text of [
    "",
    "// see `backtrail hooks pi stop`\n",
    '"backtrail" hooks pi stop',
    "// backtrail\n hooks pi x",
  ]) {
    expect(holdsOurCommand(text, "pi")).toBe(false);
  }
});
