/** An agent runs Backtrail in its own shell, while another agent works in the same work tree. */
import { expect, test } from "bun:test";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

/** Turns of two sessions; the last one is the other session's. */
async function twoSessions(repository: TemporaryRepository) {
  await repository.run(["enable", "--agent", "claude-code"]);
  const [own, other] = [new ScriptedClaude(repository), new ScriptedClaude(repository)];
  await own.start();
  await other.start();
  await own.turn("Add a", [write("a.txt", "a\n")]);
  await own.turn("Add b", [write("b.txt", "b\n")]);
  await other.turn("Add c", [write("c.txt", "c\n")]);
  const shell = { BACKTRAIL_SESSION_ID: own.session, BACKTRAIL_AGENT: "claude-code", BACKTRAIL_WORKER: "off" };
  return { own, other, shell, outside: { BACKTRAIL_WORKER: "off" } };
}

test("save records the conversation of the session whose shell it runs in", async () => {
  using repository = temporaryRepository();
  const { own, other, shell, outside } = await twoSessions(repository);
  const saved = (env: Record<string, string>) => repository.json<{ step: { session: string } }>(["save"], { env });
  expect((await saved(outside)).step.session).toBe(other.session);
  expect((await saved(shell)).step.session).toBe(own.session);
  const stranger = { ...shell, BACKTRAIL_SESSION_ID: "not-recorded-here" };
  expect((await saved(stranger)).step.session).not.toBe("not-recorded-here");
});

test("undo and rewind count the turns of the session whose shell they run in", async () => {
  using repository = temporaryRepository();
  const { other, shell, outside } = await twoSessions(repository);
  const removed = async (args: string[], env: Record<string, string>) => {
    const { plan } = await repository.json<{ plan: { delete: string[] } }>([...args, "--dry-run"], { env });
    return plan.delete;
  };
  for (const word of ["last", "1"]) {
    expect(await removed(["undo", word], outside)).toEqual(["c.txt"]);
    expect(await removed(["undo", word], shell)).toEqual(["b.txt"]);
  }
  expect(await removed(["undo", "last", "--session", other.session], shell)).toEqual(["c.txt"]);
  for (const word of ["prev", "1"]) {
    expect(await removed(["rewind", word], outside)).toEqual(["c.txt"]);
    expect(await removed(["rewind", word], shell)).toEqual(["b.txt", "c.txt"]);
  }
  expect(await removed(["rewind", "2"], shell)).toEqual(["a.txt", "b.txt", "c.txt"]);
});
