/** A repository with two recorded turns, for the tests of the viewer. */
import { afterAll, beforeAll } from "bun:test";
import { bash, edit, ScriptedClaude, temporaryRepository, write } from "../support/index.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";

export async function recorded() {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  await agent.turn("Add a file", [write("a.txt", "one\ntwo\n")], "Added.");
  await agent.turn("Change it", [edit("a.txt", "two", "2"), bash("echo more > b.txt")], "Changed.");
  return { repository, agent, [Symbol.dispose]: () => repository.remove() };
}

export interface Served {
  made: Awaited<ReturnType<typeof recorded>>;
  view: ViewProcess;
}

/** One viewer for all tests of a file. Its fields are there once the tests run. */
export function servedForAll(): Served {
  const served = {} as Served;
  beforeAll(async () => {
    served.made = await recorded();
    served.view = await startView(served.made.repository);
  }, 60_000);
  afterAll(async () => {
    await served.view.stop();
    served.made[Symbol.dispose]();
  });
  return served;
}
