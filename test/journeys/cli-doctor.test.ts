/** Things are broken on purpose; the doctor says so in words, and puts right what can be put right. */
import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { executable, runProgram, ScriptedClaude, Story, temporaryDirectory, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Report {
  ok: boolean;
  findings: { check: string; level: string; message: string; fixable: boolean }[];
  repaired: string[];
}

async function worked(repository: TemporaryRepository): Promise<void> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write", [write("a.txt", "a\n")]);
  await claude.turn("Write more", [write("b.txt", "b\n")]);
}

async function examine(repository: TemporaryRepository, ...args: string[]): Promise<Report & { code: number | null }> {
  const result = await repository.run(["doctor", "--json", ...args], { env });
  return { ...(JSON.parse(result.stdout) as Report), code: result.code };
}

function wrong(report: Report, level = "problem"): string[] {
  return report.findings.filter((finding) => finding.level === level).map(({ check }) => check);
}

test("a sound store", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const story = new Story(repository);
  await story.run(["doctor", "--check"], { env });
  const text = story.toString().replace(/git \d[\d.]+/, "git <version>");
  expect(text.replace(/last called \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, "last called <time-1>")).toMatchSnapshot();
});

test("where nothing is enabled nothing is broken", async () => {
  using folder = temporaryFolder();
  const report = await examine(folder, "--check");
  expect(report).toMatchObject({ ok: true, code: 0 });
  expect(wrong(report, "warning")).toEqual(["store"]);
});

test("hooks that were taken out, and hooks of a Backtrail that has moved", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const settings = repository.at(".claude/settings.local.json");
  const before = readFileSync(settings, "utf8");
  writeFileSync(settings, "{}\n");
  expect(wrong(await examine(repository, "--check"))).toEqual(["hooks"]);
  const fixed = await examine(repository, "--fix");
  expect(fixed).toMatchObject({ ok: true, code: 0 });
  expect(fixed.repaired).toHaveLength(1);
  expect(readFileSync(settings, "utf8")).toContain("hooks claude-code stop");

  writeFileSync(settings, before);
  using elsewhere = temporaryDirectory();
  copyFileSync(executable(), elsewhere.at("backtrail"));
  chmodSync(elsewhere.at("backtrail"), 0o755);
  const moved = await runProgram(elsewhere.at("backtrail"), ["doctor", "--json"], {
    cwd: repository.path,
    env: repository.environment(env),
  });
  expect(moved.code).toBe(1);
  expect(wrong(JSON.parse(moved.stdout) as Report)).toEqual(["hooks"]);
});

test("the list of steps is made again from the refs", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const before = await repository.json<{ steps: unknown[] }>(["log"], { env });
  rmSync(repository.at(".git/backtrail/steps.jsonl"));
  expect(wrong(await examine(repository))).toEqual(["steps"]);
  expect((await examine(repository, "--fix")).ok).toBe(true);
  const { steps } = await repository.json<{ steps: { id: string }[] }>(["log"], { env });
  const ids = (list: unknown[]) => list.map((step) => (step as { id: string }).id).sort();
  expect(ids(steps)).toEqual(ids(before.steps));
});

test("a session's ref that is gone takes its steps off the list", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const ref = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions");
  repository.git("update-ref", "-d", ref);
  const report = await examine(repository);
  expect(wrong(report)).toEqual(["steps"]);
  expect((await examine(repository, "--fix")).ok).toBe(true);
});

test("a missing object is a problem without a fix", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const blob = repository.git("hash-object", "a.txt");
  repository.git("repack", "-a", "-d", "-q");
  const packs = repository.at(".git/objects/pack");
  for (const name of readdirSync(packs).filter((entry) => entry.endsWith(".pack"))) {
    const bytes = readFileSync(`${packs}/${name}`);
    rmSync(packs, { recursive: true });
    repository.git("init", "-q");
    const unpack = Bun.spawnSync(["git", "unpack-objects", "-q"], {
      cwd: repository.path,
      env: repository.environment(),
      stdin: bytes,
    });
    expect(unpack.exitCode).toBe(0);
  }
  rmSync(repository.at(".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
  const report = await examine(repository, "--check");
  expect(report).toMatchObject({ ok: false, code: 1 });
  expect(wrong(report)).toEqual(["objects"]);
});

test("failures in hooks and invalid settings are reported, and break nothing", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  repository.write(".backtrail/settings.local.json", JSON.stringify({ tier: "frequent", teir: 1 }));
  const entry = {
    v: 1,
    time: new Date().toISOString(),
    level: "error",
    where: "hook claude-code stop",
    message: "the disk is full\u001b[31m",
  };
  writeFileSync(
    repository.at(".git/backtrail/log.jsonl"),
    `${JSON.stringify(entry)}\n${JSON.stringify(entry)}\nnonsense\n`,
  );
  const report = await examine(repository, "--check");
  expect(report).toMatchObject({ ok: true, code: 0 });
  expect(wrong(report, "warning")).toEqual(["settings", "settings", "log"]);
  expect(report.findings.at(-2)?.message).toStartWith("hook claude-code stop: the disk is full (2 times");
});
