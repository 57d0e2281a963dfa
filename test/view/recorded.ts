/** A repository with two recorded turns, for the tests of the viewer. */
import { bash, edit, ScriptedClaude, temporaryRepository, write } from "../support/index.ts";

export async function recorded() {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  await agent.turn("Add a file", [write("a.txt", "one\ntwo\n")], "Added.");
  await agent.turn("Change it", [edit("a.txt", "two", "2"), bash("echo more > b.txt")], "Changed.");
  return { repository, agent, [Symbol.dispose]: () => repository.remove() };
}
