/** An agent that stays open while its files are restored learns of it with its next prompt, once. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { OpenSession } from "../../src/restore/types.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

interface Restored {
  receipt: {
    openSessions: OpenSession[];
  };
}

async function recorded(repository: TemporaryRepository): Promise<ScriptedClaude> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  for (const name of ["one", "two"]) await agent.turn(`Write ${name}`, [write(`${name}.txt`, `${name}\n`)]);
  return agent;
}

/** What a prompt's hook tells the model; null where it tells nothing. */
async function contextOfPrompt(agent: ScriptedClaude, prompt: string): Promise<string | null> {
  await agent.begin(prompt);
  const answer = agent.answers.findLast(({ event }) => event === "UserPromptSubmit")?.result.stdout ?? "";
  if (answer === "") return null;
  const { hookSpecificOutput: output } = JSON.parse(answer);
  expect(output?.hookEventName).toBe("UserPromptSubmit");
  return output.additionalContext;
}

function notices(repository: TemporaryRepository): string[] {
  const directory = repository.at(".git/backtrail/worktrees/main/notices");
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
}

test("an undo reaches the open session with its next prompt, and no later one", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const { receipt } = await repository.json<Restored>(["undo", "last", "--yes", "--reason", "Keep it small."]);
  expect(receipt.openSessions).toEqual([
    {
      agent: "claude-code",
      name: "Claude Code",
      session: agent.session,
      title: "Write one",
      working: false,
      notified: true,
    },
  ]);
  expect(notices(repository).map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);

  const told = await contextOfPrompt(agent, "Write three");
  expect(told).toContain("[Backtrail] The user ran `backtrail undo` since your last turn");
  expect(told).toContain("turn 2 of claude-code session");
  expect(told).toContain('("Write two")');
  expect(told).toContain("1 file removed: two.txt.");
  expect(told).toContain("The user's reason: Keep it small.");
  expect(told).toContain("Read a file again");
  expect(notices(repository)).toEqual([]);
  await agent.finish();
  expect(await contextOfPrompt(agent, "Write four")).toBeNull();
});

test("receipts do not contradict themselves", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const undone = (await repository.run(["undo", "last", "--yes"])).stdout;
  expect(undone).toContain("Your next prompt there tells the agent what was restored.");
  expect(undone).not.toContain("does not know");
  const redone = (await repository.run(["redo", "--yes"])).stdout;
  expect(redone).toContain("Still open in this work tree:");
  expect(redone).not.toContain("close the session");
  // The conversation goes on where it is open.
  expect(redone).not.toContain("--resume");
});

test("two restores are reported in order, a closed session is left alone, and the receipt says what to do", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const closed = new ScriptedClaude(repository);
  await closed.start();
  await closed.turn("Write other", [write("other.txt", "other\n")]);
  await closed.end();
  const rewound = await repository.run(["rewind", "2", "--yes"]);
  expect(rewound.stdout).toContain("Still open in this work tree:");
  expect(rewound.stdout).toContain(
    'Claude Code "Write one". Your next prompt there tells the agent what was restored.',
  );
  expect(rewound.stdout).toContain("close the session and run the command above");
  await repository.json(["undo", "1", "--yes"]);
  const told = (await contextOfPrompt(agent, "Go on")) ?? "";
  expect(told.indexOf("`backtrail rewind`")).toBeGreaterThan(0);
  expect(told.indexOf("`backtrail undo`")).toBeGreaterThan(told.indexOf("`backtrail rewind`"));
  await closed.start("resume");
  expect(await contextOfPrompt(closed, "Hello")).toBeNull();
});

test("notify_agents: false writes no notice, and the receipt says that the agent does not know", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  await repository.run(["config", "set", "notify_agents", "false"]);
  const undone = await repository.run(["undo", "last", "--yes"]);
  expect(undone.stdout).toContain('Claude Code "Write one". The agent does not know: tell it to read the files again.');
  expect(notices(repository)).toEqual([]);
  expect(await contextOfPrompt(agent, "Write three")).toBeNull();
});

test("an agent in the middle of a turn is named as working", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  await agent.begin("Write three");
  const last = await repository.run(["undo", "last", "--yes"]);
  expect([last.code, last.stderr]).toEqual([4, expect.stringContaining('("Write three") has not ended yet.')]);
  const { receipt } = await repository.json<Restored>(["undo", "2", "--yes"]);
  expect(receipt.openSessions).toMatchObject([{ session: agent.session, working: true, notified: true }]);
  await agent.finish();
  expect(await contextOfPrompt(agent, "Write four")).toContain("`backtrail undo`");
});

test("a rewind of the conversation alone changes nothing for the open session", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const { receipt } = await repository.json<Restored>(["rewind", "1", "--chat-only", "--yes"]);
  expect(receipt.openSessions).toEqual([]);
  expect(notices(repository)).toEqual([]);
});

test("an undo in force is told with its reason, however many were taken back since", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  await repository.json(["undo", "2", "--yes", "--reason", "One is wrong."]);
  for (let i = 0; i < 3; i++) {
    await repository.json(["undo", "1", "--yes"]);
    await repository.json(["redo", "--yes"]);
  }
  const told = await contextOfPrompt(agent, "Go on");
  expect(told).toContain("The user's reason: One is wrong.");
  expect(told?.match(/\[Backtrail\]/g)).toHaveLength(1);
  expect(notices(repository)).toEqual([]);
});

test("forgetting a session removes notices for it and notices that quote it", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const other = new ScriptedClaude(repository);
  await other.start();
  await other.turn("Write other", [write("other.txt", "other\n")]);
  await repository.json(["undo", agent.session, "--yes"]);
  expect(notices(repository)).toHaveLength(2);
  await agent.end();
  const forgotten = await repository.run(["forget", agent.session, "--yes"]);
  expect(forgotten.code, forgotten.stderr).toBe(0);
  expect(notices(repository)).toEqual([]);
});

test("a rewind that was killed and finished later is reported once", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const killed = await repository.run(["rewind", "1", "--yes"], { env: { BACKTRAIL_FAULT: "restore:notified" } });
  expect(killed.code).not.toBe(0);
  await repository.run(["status"]);
  const told = await contextOfPrompt(agent, "Go on");
  expect(told?.match(/`backtrail rewind`/g)).toHaveLength(1);
});
