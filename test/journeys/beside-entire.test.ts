/** `enable` and `doctor` name the Entire CLI's hooks and leftovers, and say how to switch. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { BRANCH, commitExampleCheckpoint, ID } from "../checkpoints/branch.ts";
import { temporaryRepository } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

test("its hooks, then only what it left, then nothing", async () => {
  using repository = temporaryRepository();
  const entry = { matcher: "", hooks: [{ type: "command", command: "entire hooks claude-code stop" }] };
  repository.write(".claude/settings.json", JSON.stringify({ hooks: { Stop: [entry] } }));
  repository.write(".entire/settings.json", "{}");
  repository.commit("with Entire");
  repository.git("branch", "entire/0123abc");
  const enabled = await repository.run(["enable", "--agent", "claude-code"]);
  expect(enabled.stderr).toContain("Entire records here as well: its hooks are in .claude/settings.json");
  expect(enabled.stderr).toContain("`entire disable`");

  const entire = async () => {
    const { stdout } = await repository.run(["doctor", "--check", "--json"], { env });
    const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] };
    return findings.flatMap(({ check, message }) => (check === "entire" ? [message] : []));
  };
  expect(await entire()).toEqual([expect.stringContaining("Entire records here as well")]);
  repository.write(".entire/settings.local.json", '{ "enabled": false }');
  expect(await entire()).toEqual([expect.stringContaining("Entire is turned off here, but its hooks are still in")]);
  commitExampleCheckpoint(repository);
  expect(await entire()).toEqual([expect.stringContaining("It has 1 checkpoint here.")]);
  rmSync(repository.at(".claude/settings.json"));
  expect(await entire()).toEqual([
    "Entire was used here and left .entire, entire/0123abc. Its hooks are gone. It has 1 checkpoint here.",
  ]);
  rmSync(repository.at(".entire"), { recursive: true });
  repository.git("branch", "-D", "entire/0123abc");
  expect(await entire()).toEqual(["1 checkpoint in this repository is from Entire or another tool."]);
  repository.git("update-ref", "-d", BRANCH);
  expect(await entire()).toEqual([]);
});

test("files of Entire's sessions stay attributed to them", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  commitExampleCheckpoint(repository);
  repository.write("greet.ts", "export const greet = (name: string) => name;\n");
  repository.commit(`Greet\n\nEntire-Checkpoint: ${ID}`);
  const { lines } = await repository.json<{ lines: { session: string; checkpoint: string }[] }>(["blame", "greet.ts"]);
  expect(lines[0]).toMatchObject({ checkpoint: ID, session: "5f0f2b1e-6a58-4f0e-9d0c-0f7d3f3a1c11" });
});
