/** `commit_linking: prompt`: whoever commits decides, where somebody is there to decide. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { runProgram, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, settled } from "./commits.ts";

async function asking(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  expect((await repository.run(["config", "set", "commit_linking", "prompt"])).code).toBe(0);
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  repository.git("add", "--all");
  return repository;
}

/** A commit with an editor that is a shell script; gives the message as the editor found it. */
function edited(repository: TemporaryRepository, script: string, ...args: string[]): string {
  const seen = repository.at("..", "seen");
  execFileSync("git", [...args, "commit", "--quiet"], {
    cwd: repository.path,
    env: repository.environment({ GIT_EDITOR: `sh -c 'cp "$0" "${seen}"; ${script}'` }),
    stdio: "pipe",
  });
  return execFileSync("cat", [seen], { encoding: "utf8" });
}

const SUBJECT = 'printf "%s\\n" Greet >new; cat "$0" >>new; mv new "$0"';

test("in an editor the line is a comment: unchanged, the commit is not linked", async () => {
  using repository = await asking();
  const seen = edited(repository, SUBJECT);
  expect(seen).toMatch(
    /^\n\n# Entire-Checkpoint: [0-9a-f]{12}\n# Take the "# " off the line above to link this commit to its conversation\.\n# Please enter/,
  );
  expect(repository.git("log", "-1", "--format=%B").trim()).toBe("Greet");
  // The file is committed all the same, and waits for no other commit.
  repository.write("other.txt", "other\n");
  repository.commit("Other");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("with the mark taken off, it is linked; also where comments begin with another character", async () => {
  for (const mark of ["#", ";"]) {
    using repository = await asking();
    repository.git("config", "core.commentChar", mark);
    const seen = edited(repository, `${SUBJECT}; sed -i "s/^${mark} Entire/Entire/" "$0"`);
    expect(seen).toContain(`\n${mark} Entire-Checkpoint: `);
    expect(repository.git("log", "-1", "--format=%B").trim()).toMatch(/^Greet\n\nEntire-Checkpoint: [0-9a-f]{12}$/);
    await settled(repository);
    expect((await repository.run(["explain"])).stdout).toContain("Add a greeting");
  }
});

test("if comments would stay in the message, the line is not a comment", async () => {
  using repository = await asking();
  expect(edited(repository, SUBJECT, "-c", "commit.cleanup=scissors")).toMatch(/^\n\nEntire-Checkpoint: /);
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("without a terminal to ask on, it is linked", async () => {
  using repository = await asking();
  repository.commit("Greet");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

const hasScript = process.platform === "linux" && Bun.which("script") !== null;

for (const [answer, links] of [
  ["n\n", 0],
  ["y\n", 1],
  ["\n", 1],
] as const) {
  test.skipIf(!hasScript)(`at a terminal the answer ${JSON.stringify(answer)} makes ${links} links`, async () => {
    using repository = await asking();
    const result = await runProgram("script", ["-qec", "git commit --quiet --message Greet", "/dev/null"], {
      cwd: repository.path,
      env: repository.environment(),
      input: answer,
    });
    expect(result.stdout).toContain("Link this commit to its conversation? [Y/n]");
    expect(repository.git("log", "-1", "--format=%s")).toBe("Greet");
    expect(checkpointsOf(repository, "HEAD")).toHaveLength(links);
  });
}

test("an amended commit that is linked stays so without a question", async () => {
  using repository = await asking();
  repository.commit("Greet");
  repository.git("commit", "--quiet", "--amend", "--message", "Greet them");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});
