/** Several agents in one repository: those that are found are connected, and the person is told which and why. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

/** A PATH with git and the programs that are named, and nothing else of this machine. */
function pathWith(repository: TemporaryRepository, ...programs: string[]): string {
  const bin = join(repository.home, "bin");
  mkdirSync(bin);
  const git = Bun.which("git");
  if (!git) throw new Error("git is needed");
  symlinkSync(git, join(bin, "git"));
  for (const program of programs) {
    repository.write(`.git/${program}`, "#!/bin/sh\n");
    chmodSync(repository.at(".git", program), 0o755);
    symlinkSync(repository.at(".git", program), join(bin, program));
  }
  return bin;
}

test("those found here or on PATH, with the reason; disabled one by one", async () => {
  using repository = temporaryRepository();
  const env = { PATH: pathWith(repository, "claude"), BACKTRAIL_WORKER: "off" };
  mkdirSync(repository.at(".cursor"));
  const enabled = await repository.run(["enable", "--yes"], { env });
  expect(enabled.code).toBe(0);
  expect(enabled.stdout).toContain("Found: Claude Code (claude is on PATH), Cursor (.cursor is here).");
  expect(repository.git("status", "--porcelain")).toBe("");
  const again = await repository.json<{ found: object[]; agents: { files: { action: string }[] }[] }>(["enable"], {
    env,
  });
  expect(again.found).toEqual([
    { agent: "claude-code", because: "claude is on PATH" },
    { agent: "cursor", because: ".cursor/hooks.json is here" },
  ]);
  expect(again.agents.map(({ files }) => files[0]?.action)).toEqual(["unchanged", "unchanged"]);

  const one = await repository.json<{ left: string[] }>(["disable", "--agent", "claude", "--yes"], { env });
  expect(one.left).toEqual(["cursor"]);
  expect([repository.exists(".claude"), repository.exists(".cursor/hooks.json")]).toEqual([false, true]);
  await repository.run(["disable", "--yes"], { env });
  expect([repository.exists(".cursor"), repository.exists(".cursor/hooks.json")]).toEqual([true, false]);
});

test("--agent repeats, and only these are connected", async () => {
  using repository = temporaryRepository();
  const env = { PATH: pathWith(repository, "claude"), BACKTRAIL_WORKER: "off" };
  const named = ["--agent", "cursor", "--agent", "gemini", "--agent", "cursor"];
  const { agents, found } = await repository.json<{ agents: { agent: string }[]; found: object[] }>(
    ["enable", ...named],
    { env },
  );
  expect(agents.map(({ agent }) => agent)).toEqual(["cursor", "gemini"]);
  expect(found).toEqual([]);
  expect(repository.exists(".claude")).toBe(false);
  expect(repository.git("status", "--porcelain")).toBe("");
});

test("if no agent is found, the default is used, and the output says so", async () => {
  using repository = temporaryRepository();
  const env = { PATH: pathWith(repository), BACKTRAIL_WORKER: "off" };
  const enabled = await repository.run(["enable"], { env });
  expect(enabled.stdout).toContain("Claude Code");
  expect(enabled.stderr).toContain("No agent was found");
});
