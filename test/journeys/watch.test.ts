/** Aider has no hooks: `backtrail watch` beside it records its turns, once each. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { executable, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };
const HISTORY = ".aider.chat.history.md";

/** `watch` in its own process; `said` waits until it has printed something. */
class Watching implements AsyncDisposable {
  readonly #child;
  #output = "";
  readonly #ended = Promise.withResolvers<number | null>();

  constructor(repository: TemporaryRepository) {
    this.#child = spawn(executable(), ["watch"], { cwd: repository.path, env: repository.environment(env) });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on("data", (data: Buffer) => {
        this.#output += data.toString();
      });
    }
    this.#child.on("close", (code) => this.#ended.resolve(code));
  }

  async said(text: string, times = 1): Promise<void> {
    while (this.#output.split(text).length <= times) {
      if (this.#child.exitCode !== null) throw new Error(`watch ended: ${this.#output}`);
      await Bun.sleep(20);
    }
  }

  async stop(): Promise<{ code: number | null; output: string }> {
    this.#child.kill("SIGINT");
    return { code: await this.#ended.promise, output: this.#output };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended.promise;
  }
}

async function prepared(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  repository.write(".gitignore", ".aider*\n");
  repository.commit("as aider does it");
  repository.write(HISTORY, "\n# aider chat started at 2026-01-05 08:00:00\n\n#### from before  \n\nold words\n\n");
  return repository;
}

test("turns are recorded, shown, and their code rewound", async () => {
  using repository = await prepared();
  const enabled = await repository.run(["enable", "--agent", "aider"], { env });
  expect(enabled.stdout).toContain("while `backtrail watch` runs");
  expect((await repository.run(["status"], { env })).stdout).toContain("recorded while `backtrail watch` runs");
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);

  await using watching = new Watching(repository);
  await watching.said("Following");
  const append = (text: string) => appendFileSync(repository.at(HISTORY), text);
  append(
    "\n# aider chat started at 2026-01-05 09:00:00\n\n> Aider v0.86.1  \n> Model: example/m with diff edit format  \n",
  );
  append("\n#### write one  \n");
  await watching.said("write one");
  repository.write("one.txt", "1\n");
  append("\nHere it is.\n\n> Tokens: 1.5k sent, 20 received.  \n> Applied edit to one.txt  \n");
  append("\n#### write two  \n");
  await watching.said("write two");
  repository.write("two.txt", "2\n");
  append("\nHere is two.\n\n> Tokens: 1.6k sent, 21 received.  \n> Applied edit to two.txt  \n");
  await Bun.sleep(100);
  expect((await repository.run(["watch"], { env })).stderr).toContain("Another `backtrail watch`");
  const { code, output } = await watching.stop();
  expect(code).toBe(0);
  expect(output).toContain("Stopped watching.");

  const { steps } = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env });
  expect(steps.map(({ kind, prompt, agent }) => [agent, kind, prompt]).reverse()).toEqual([
    ["aider", "turn-start", "write one"],
    ["aider", "turn-end", "write one"],
    ["aider", "turn-start", "write two"],
    ["aider", "turn-end", "write two"],
  ]);
  const { step } = await repository.json<{ step: Record<string, unknown> }>(["show", "last"], { env });
  expect(step).toMatchObject({
    files: { added: ["two.txt"] },
    tokens: { input: 1600, output: 21 },
    response: "Here is two.",
    session: "2026-01-05T09-00-00",
  });
  const rewound = await repository.run(["rewind", "1", "--yes"], { env });
  expect(rewound.stderr + rewound.stdout).toContain("Chat rewind unavailable (not supported for Aider)");
  expect([repository.exists("one.txt"), repository.exists("two.txt")]).toEqual([true, false]);
  expect(repository.read(HISTORY)).toContain("write two");

  expect((await repository.run(["disable"], { env })).code).toBe(0);
});

test("a turn ends when it has become quiet; one that is killed with watch is closed later", async () => {
  using repository = await prepared();
  await repository.run(["enable", "--agent", "aider"], { env });
  await using watching = new Watching(repository);
  await watching.said("Following");
  const append = (text: string) => appendFileSync(repository.at(HISTORY), text);
  append("\n#### write one  \n");
  await watching.said("write one");
  repository.write("one.txt", "1\n");
  append("\nHere it is.\n\n");
  await watching.said("saved");
  append("\n#### write two  \n");
  await watching.said("write two");
  repository.write("two.txt", "2\n");
  await watching[Symbol.asyncDispose]();
  await repository.run(["log"], { env });
  const { steps } = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env });
  expect(steps.map(({ kind, session }) => [session, kind])).toEqual([
    ["2026-01-05T08-00-00", "turn-end"],
    ["2026-01-05T08-00-00", "turn-start"],
    ["2026-01-05T08-00-00", "turn-end"],
    ["2026-01-05T08-00-00", "turn-start"],
  ]);
}, 20_000);

test("a history that begins anew, and a directory in its place, are followed without harm", async () => {
  using repository = await prepared();
  await repository.run(["enable", "--agent", "aider"], { env });
  await using watching = new Watching(repository);
  await watching.said("Following");
  rmSync(repository.at(HISTORY));
  mkdirSync(repository.at(HISTORY));
  await Bun.sleep(700);
  rmdirSync(repository.at(HISTORY));
  repository.write(HISTORY, "");
  await Bun.sleep(700);
  appendFileSync(repository.at(HISTORY), "\n# aider chat started at 2026-01-07 09:00:00\n\n#### again  \n");
  await watching.said("again");
  expect((await watching.stop()).code).toBe(0);
  const { steps } = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env });
  expect(steps[0]).toMatchObject({ session: "2026-01-07T09-00-00", prompt: "again" });
});

test("without a connected agent there is nothing to watch", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"], { env });
  const nothing = await repository.run(["watch"], { env });
  expect(nothing.code).not.toBe(0);
  expect(nothing.stderr).toContain("backtrail enable --agent aider");
  const hooked = await repository.run(["watch", "--agent", "claude"], { env });
  expect(hooked.stderr).toContain("has hooks, so it needs no watching");
  expect(await repository.run(["watch", "claude"], { env })).toMatchObject({
    code: hooked.code,
    stderr: hooked.stderr,
  });
  const two = await repository.run(["watch", "claude", "--agent", "aider"], { env });
  expect(two).toMatchObject({ code: 2, stderr: expect.stringContaining("Two agents were given") });
});
