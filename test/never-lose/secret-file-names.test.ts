/** A secret in the name of a file does not leave the machine, and the file stays what it was for everything local. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { checkpointsOf, inCheckpoint, settled } from "../journeys/commits.ts";
import { filled } from "../redact/fill.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

const TOKEN = filled("ghp_{A36}", 1);
const HEX = filled("{h32}", 2);
const FILES = [`keys/${TOKEN}.txt`, `dump_${HEX}.sql`, "hunter2.md"];

async function withSecretNames(): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude; id: string }> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn(
    "The password is hunter2",
    FILES.map((file) => write(file, `in ${file.length}\n`)),
    "Written.",
  );
  repository.commit("Add them");
  await settled(repository);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  return { repository, claude, id };
}

test("no file of a checkpoint has it", async () => {
  const { repository, id } = await withSecretNames();
  using _ = repository;
  const names = repository
    .checkpoints("ls-tree", "-r", "--name-only", "entire/checkpoints/v1")
    .split("\n")
    .filter(Boolean);
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) {
    const text = `${name}\n${repository.checkpoints("cat-file", "-p", `entire/checkpoints/v1:${name}`)}`;
    for (const secret of [TOKEN, HEX, "hunter2"]) expect([name, text.includes(secret)]).toEqual([name, false]);
  }
  const metadata = JSON.parse(inCheckpoint(repository, id, "0/metadata.json"));
  expect(metadata.files_touched.sort()).toEqual([
    "[secret:password:1].md",
    "dump_[secret:file-name:1].sql",
    "keys/[secret:github-token:1].txt",
  ]);
  const record = JSON.parse(inCheckpoint(repository, id, "0/backtrail.json"));
  expect(record.attribution.map(({ path }: { path: string }) => path).sort()).toEqual(metadata.files_touched);
});

test("nor has an export", async () => {
  const { repository, claude } = await withSecretNames();
  using _ = repository;
  for (const args of [
    ["export", claude.session, "--format", "json"],
    ["export", claude.session, "--format", "md"],
    ["export", claude.session, "--format", "html"],
  ]) {
    const { code, stdout } = await repository.run(args);
    expect([args, code]).toEqual([args, 0]);
    for (const secret of [TOKEN, HEX, "hunter2"]) expect([args, stdout.includes(secret)]).toEqual([args, false]);
  }
});

test("here, the file is known by its own name", async () => {
  const { repository } = await withSecretNames();
  using _ = repository;
  for (const file of FILES) {
    const why = JSON.parse((await repository.run(["why", `${file}:1`, "--json"])).stdout);
    expect(JSON.stringify(why)).toContain("The password is");
  }
  // Only the checkpoint can tell of a commit that was rewritten elsewhere.
  repository.write(FILES[1] ?? "", "new first line\nin 41\n");
  repository.git("add", "-A");
  repository.git("commit", "-q", "--amend", "--no-edit");
  await settled(repository);
  expect((await repository.run(["why", `${FILES[1]}:2`])).stdout).toContain("The password is");
  const log = JSON.parse((await repository.run(["log", "--json"])).stdout);
  expect(JSON.stringify(log)).toContain(FILES[0] ?? "");
});

test("a checkpoint of an older version that has one is not pushed", async () => {
  const { repository, id } = await withSecretNames();
  using _ = repository;
  const path = `${id.slice(0, 2)}/${id.slice(2)}/0/metadata.json`;
  const metadata = { ...JSON.parse(inCheckpoint(repository, id, "0/metadata.json")), files_touched: FILES };
  const git = (args: string[], input?: string) =>
    execFileSync("git", ["--git-dir", repository.at(".git/backtrail/private.git"), ...args], {
      cwd: repository.path,
      env: repository.environment({ GIT_INDEX_FILE: repository.at(".git", "scratch-index") }),
      encoding: "utf8",
      input,
    }).trim();
  git(["read-tree", "entire/checkpoints/v1"]);
  const blob = git(["hash-object", "-w", "--stdin"], JSON.stringify(metadata));
  git(["update-index", "--cacheinfo", `100644,${blob},${path}`]);
  const commit = git(["commit-tree", git(["write-tree"]), "-p", "entire/checkpoints/v1", "-m", "older"]);
  repository.checkpoints("update-ref", "refs/heads/entire/checkpoints/v1", commit);
  const remote = `${repository.home}/remote.git`;
  repository.git("init", "-q", "--bare", remote);
  const pushed = await repository.run(["sync", "push", remote]);
  expect(pushed.code).toBe(4);
  expect(pushed.stderr).toContain("metadata.json (github-token)");
  expect(pushed.stderr).not.toContain(TOKEN);
});
