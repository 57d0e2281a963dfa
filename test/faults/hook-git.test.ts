/** A git that hangs, as on a file system that went away: the hook gives up in time, and the next one records. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { harmless, Recording } from "../support/recording.ts";

test("a git that never answers", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("one");
  repository.write("a.txt", "written\n");
  const pids = repository.at("..", "pids");
  const git = repository.write("../bin/git", `#!/bin/sh\necho $$ >> '${pids}'\nexec sleep 120\n`);
  chmodSync(git, 0o755);
  const path = `${repository.at("..", "bin")}:${process.env["PATH"]}`;
  harmless(await recording.hook("SessionEnd", { reason: "other" }, { env: { PATH: path } }));
  expect(recording.logged().at(-1)?.message).toContain("took too long");
  for (const pid of readFileSync(pids, "utf8").trim().split("\n")) end(Number(pid));

  harmless(await recording.hook("SessionEnd", { reason: "other" }));
  const steps = await recording.steps();
  expect(steps[0]).toMatchObject({ kind: "turn-end", prompt: "one", files: { added: ["a.txt"] } });
  expect(recording.leftovers()).toEqual([]);
}, 60_000);

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
