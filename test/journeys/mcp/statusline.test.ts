/** One line for an agent's status bar. */
import { expect, test } from "bun:test";
import { ScriptedClaude, temporaryDirectory, temporaryRepository, write } from "../../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

test("the status line follows the session, and is silent where nothing is recorded", async () => {
  using repository = temporaryRepository();
  using elsewhere = temporaryDirectory();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  const shown = async (cwd = repository.path) => {
    const input = JSON.stringify({ session_id: claude.session, cwd, workspace: { project_dir: cwd } });
    const { code, stdout } = await repository.run(["statusline"], { env, input });
    return [code, stdout];
  };
  expect(await shown()).toEqual([0, "backtrail: recording · nothing to undo\n"]);
  await claude.start();
  await claude.turn("Write", [write("a.txt", "a\n"), write("b.txt", "b\n")]);
  expect(await shown()).toEqual([0, "backtrail: turn 1 · 2 files changed · undo last: 2 files\n"]);
  await claude.turn("Talk", []);
  expect(await shown()).toEqual([0, "backtrail: turn 2 · 0 files changed · undo last: 2 files\n"]);
  await repository.json(["undo", "2", "--yes"], { env });
  expect(await shown()).toEqual([0, "backtrail: turn 2 · 0 files changed · nothing to undo\n"]);
  expect(await shown(elsewhere.path)).toEqual([0, ""]);
  expect((await repository.run(["statusline"], { env, input: "{]" })).stdout).toStartWith("backtrail: recording");
});
