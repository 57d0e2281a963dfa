/** A resume that is killed: the agent has the old conversation or the new one, and neither is lost. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { BRANCH, commitFiles, exampleCheckpoint, ID } from "../checkpoints/branch.ts";
import { Attempts, said } from "../journeys/forks.ts";
import { temporaryRepository, write } from "../support/index.ts";

for (const point of ["resume:kept", "resume:written"]) {
  test(`killed at ${point} as it brings a session back: the next one does`, async () => {
    using attempts = await Attempts.begin();
    const { repository, agent } = attempts;
    await agent.turn("First", [write("a.txt", "1\n")]);
    rmSync(agent.transcript.path);
    const killed = await repository.run(["resume", agent.session], { env: { BACKTRAIL_FAULT: point } });
    expect(killed.signal).toBe("SIGKILL");
    expect((await repository.run(["resume", agent.session])).code).toBe(0);
    expect(said(agent.transcript.path)).toEqual(["First", "Done."]);
  });

  test(`killed at ${point} as it replaces a newer one: one of the two is in place, the other is not lost`, async () => {
    using repository = temporaryRepository();
    commitFiles(
      repository,
      BRANCH,
      exampleCheckpoint(() => ""),
    );
    const args = ["resume", ID, "--session", "5f0f"];
    const { chat } = await repository.json<{ chat: { transcript: string } }>(args);
    const ours = readFileSync(chat.transcript, "utf8");
    const newer = `${ours}{"type":"summary","summary":"later"}\n`;
    writeFileSync(chat.transcript, newer);
    const killed = await repository.run([...args, "--yes"], { env: { BACKTRAIL_FAULT: point } });
    expect(killed.signal).toBe("SIGKILL");
    expect([ours, newer]).toContain(readFileSync(chat.transcript, "utf8"));
    const kept = keptIn(repository.at(".git/backtrail"));
    expect(kept.some((file) => readFileSync(file, "utf8") === newer)).toBe(true);
    await repository.run([...args, "--yes"]);
    expect(readFileSync(chat.transcript, "utf8")).toBe(ours);
  });
}

function keptIn(store: string): string[] {
  const place = `${store}/worktrees/main/kept`;
  if (!existsSync(place)) return [];
  return [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: place, absolute: true })];
}
