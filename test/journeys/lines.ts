/** A repository with a file of twelve lines, for turns that each change lines of their own. */
import { ScriptedClaude, type TemporaryRepository } from "../support/index.ts";

export const LINES = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("");

/** Commits the file, connects the agent and starts its session at minute 1. */
export async function openedOnLines(repository: TemporaryRepository): Promise<ScriptedClaude> {
  repository.write("app.txt", LINES);
  repository.commit("lines");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  claude.minute = 1;
  await claude.start();
  return claude;
}
