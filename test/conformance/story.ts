/**
 * One story, whoever tells it: a session of two turns, in which a file is written, another one made by a shell command,
 * and the first one changed.
 */
import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";

export const PROMPTS = ["Write the greeting", "Change the greeting"] as const;
export const COMMAND = "echo note > notes.txt";
const env = { BACKTRAIL_WORKER: "off" };

/** What happens, in the order in which it does. `done` are the deeds that come with it. */
export type Moment =
  | { what: "session-start" }
  | { what: "prompt"; text: string }
  | { what: "written"; file: string; content: string }
  | { what: "shell"; file: string; content: string }
  | { what: "turn-end" }
  | { what: "session-end" };

export const STORY: readonly Moment[] = [
  { what: "session-start" },
  { what: "prompt", text: PROMPTS[0] },
  { what: "written", file: "hello.txt", content: "hello\n" },
  { what: "shell", file: "notes.txt", content: "note\n" },
  { what: "turn-end" },
  { what: "prompt", text: PROMPTS[1] },
  { what: "written", file: "hello.txt", content: "hello, world\n" },
  { what: "turn-end" },
  { what: "session-end" },
];

/** Somebody who tells the story to Backtrail. */
export interface AgentDriver {
  agent: string;
  /** False if the prompts are only in the agent's conversation. */
  sendsPrompts?: boolean;
  /** Connects the agent, and makes it ready. */
  begin(world: World): Promise<void>;
  /** The deed has been done in the work tree; for a shell command `before` comes ahead of it. */
  send(moment: Moment, world: World): Promise<void>;
  before?(moment: Moment, world: World): Promise<void>;
  end?(world: World): Promise<void>;
}

export interface World {
  repository: TemporaryRepository;
  env: Record<string, string>;
  /** Minutes since the story began: each moment has its own. */
  minute: number;
}

interface ShownStep {
  id: string;
  agent: string;
  kind: string;
  turn: number;
  prompt: string | null;
  files: { added: string[]; modified: string[]; deleted: string[] };
}

/** Tells it, and holds what was recorded against what happened. */
export async function told(driver: AgentDriver): Promise<void> {
  using repository = temporaryRepository();
  mkdirSync(join(repository.home, "bin"));
  const world: World = { repository, env: { ...env }, minute: 0 };
  await driver.begin(world);
  for (const moment of STORY) {
    world.minute++;
    await driver.before?.(moment, world);
    if ("file" in moment) repository.write(moment.file, moment.content);
    await driver.send(moment, world);
  }
  await driver.end?.(world);

  const { steps } = await repository.json<{ steps: ShownStep[] }>(["log"], { env: world.env });
  const turns = steps.filter(({ kind }) => kind === "turn-start" || kind === "turn-end").reverse();
  const prompts = driver.sendsPrompts === false ? [null, null] : PROMPTS;
  const nothing = { added: [], modified: [], deleted: [] };
  expect(turns.map(({ agent, kind, turn, prompt, files }) => ({ agent, kind, turn, prompt, files }))).toEqual([
    { agent: driver.agent, kind: "turn-start", turn: 1, prompt: prompts[0], files: nothing },
    {
      agent: driver.agent,
      kind: "turn-end",
      turn: 1,
      prompt: prompts[0],
      files: { ...nothing, added: ["hello.txt", "notes.txt"] },
    },
    { agent: driver.agent, kind: "turn-start", turn: 2, prompt: prompts[1], files: nothing },
    {
      agent: driver.agent,
      kind: "turn-end",
      turn: 2,
      prompt: prompts[1],
      files: { ...nothing, modified: ["hello.txt"] },
    },
  ]);
  expect(steps.filter(({ kind }) => !["turn-start", "turn-end", "baseline"].includes(kind))).toEqual([]);

  const rewind = await repository.run(["rewind", turns[2]?.id ?? "", "--yes", "--code-only"], { env: world.env });
  expect(rewind).toMatchObject({ code: 0 });
  expect([repository.read("hello.txt"), repository.read("notes.txt")]).toEqual(["hello\n", "note\n"]);
  const first = await repository.run(["rewind", turns[0]?.id ?? "", "--yes", "--code-only"], { env: world.env });
  expect(first).toMatchObject({ code: 0 });
  expect([repository.exists("hello.txt"), repository.exists("notes.txt")]).toEqual([false, false]);
}
