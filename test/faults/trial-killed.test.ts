/** What a killed bisect left is cleared away, and nothing else. Kills at every point are rows of `operations.ts`. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isRunning } from "../../src/base/process/processes.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { until } from "../support/stand-in.ts";

const env = { BACKTRAIL_WORKER: "off" };
const COMMAND = ["sh", "-c", "echo $$ > pid; echo spoilt >> a.txt; test ! -e b.txt"];

interface Trial {
  directory: string;
  child: { pid: number } | null;
}

async function worked(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  const environment = repository.environment.bind(repository);
  repository.environment = (extra) => environment({ ...env, ...extra });
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("One", [write("a.txt", "a\n")]);
  await claude.turn("Two", [write("b.txt", "b\n")]);
  await claude.turn("Three", [write("c.txt", "c\n")]);
  return repository;
}

function trials(repository: TemporaryRepository): Trial[] {
  const directory = repository.at(".git/backtrail/worktrees/main/trials");
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((name) => JSON.parse(readFileSync(`${directory}/${name}`, "utf8")));
}

test("what a killed bisect had started is ended before its files go", async () => {
  using repository = await worked();
  const endless = ["sh", "-c", "sleep 1000 & while :; do echo x >> grows; sleep 0.01; done"];
  await repository.run(["bisect", "--", ...endless], { env: { BACKTRAIL_FAULT: "trial:started" } });
  const [trial] = trials(repository);
  const pid = trial?.child?.pid ?? 0;
  expect(isRunning(pid)).toBe(true);
  await repository.json(["log"]);
  await until(() => !isRunning(pid), "the command has ended");
  // What it wrote as it was ended goes with the command after this one.
  await repository.json(["log"]);
  expect(existsSync(trial?.directory ?? "")).toBe(false);
});

test("a record that names something else than a throwaway directory removes nothing", async () => {
  using repository = await worked();
  await repository.run(["bisect", "--", ...COMMAND], { env: { BACKTRAIL_FAULT: "trial:made" } });
  const file = repository.at(".git/backtrail/worktrees/main/trials");
  const [name = ""] = readdirSync(file);
  const [trial] = trials(repository);
  repository.write(
    `.git/backtrail/worktrees/main/trials/${name}`,
    JSON.stringify({ ...trial, directory: repository.at("src") }),
  );
  repository.write("src/x", "x\n");
  await repository.json(["log"]);
  expect(repository.read("src/x")).toBe("x\n");
  repository.write(`.git/backtrail/worktrees/main/trials/${name}`, JSON.stringify(trial));
  await repository.json(["log"]);
  expect(existsSync(trial?.directory ?? "")).toBe(false);
});

test("a record that was never renamed goes with the next command", async () => {
  using repository = await worked();
  // No process has this id.
  const file = repository.write(".git/backtrail/worktrees/main/trials/klmnopqrstuv.json.4194303.0abc.tmp", "{");
  await repository.json(["log"]);
  expect(existsSync(file)).toBe(false);
});
