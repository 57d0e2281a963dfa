import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownFile } from "../../src/config/load.ts";
import type { Step } from "../../src/model/step.ts";
import { saveManually } from "../../src/recording/save.ts";
import { applyRedo, planRedo } from "../../src/restore/redo.ts";
import { bash, ScriptedClaude, temporaryRepository } from "../support/index.ts";
import { type Playground, started, whyOf } from "../support/restore-sandbox.ts";

const LEFT = "git ignored it at this step, so it is not changed";

/** `*.secret` is ignored by a committed rule. */
async function withRule(): Promise<Playground> {
  const ground = await started();
  ground.write(".gitignore", "*.secret\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "rule");
  return ground;
}

/** Goes to `step`; `path` must stay, and be named. */
async function expectLeft(ground: Playground, step: Step, path: string, content: string): Promise<void> {
  const { plan } = await ground.rewind(step, { codeOnly: true });
  expect(plan.delete).not.toContain(path);
  expect(whyOf(plan, path)).toBe(LEFT);
  expect(readFileSync(join(ground.root, path), "utf8")).toBe(content);
}

test.each(["staged", "committed"])(
  "a file that was ignored is left when it was added by force since, %s",
  async (how) => {
    using ground = await withRule();
    ground.write("app.secret", "PASS=1\n");
    const step = await ground.save();
    ground.git("add", "--force", "app.secret");
    if (how === "committed") ground.git("commit", "--quiet", "-m", "secret");
    ground.write("new.txt", "new\n");
    await expectLeft(ground, step, "app.secret", "PASS=1\n");
    expect(ground.exists("new.txt")).toBe(false);
    await applyRedo(ground.workspace, await planRedo(ground.workspace));
    expect(ground.read("app.secret")).toBe("PASS=1\n");
  },
);

test("a file that was tracked then and deleted is deleted again, though a rule fits it", async () => {
  using ground = await withRule();
  ground.write("app.secret", "PASS=1\n");
  ground.git("add", "--force", "app.secret");
  ground.git("commit", "--quiet", "-m", "secret");
  rmSync(join(ground.root, "app.secret"));
  const step = await ground.save();
  ground.write("app.secret", "PASS=2\n");
  const { plan } = await ground.rewind(step, { codeOnly: true });
  expect(plan.delete).toEqual(["app.secret"]);
});

test("a file that .git/info/exclude ignored is left when the rule has gone", async () => {
  using ground = await started();
  const exclude = join(ground.root, ".git", "info", "exclude");
  writeFileSync(exclude, "# mine\nlocal/\n!local/\n/local\n");
  ground.write("local/notes.md", "notes\n");
  const step = await ground.save();
  writeFileSync(exclude, "# mine\n");
  ground.write("seen.md", "seen\n");
  await expectLeft(ground, step, "local/notes.md", "notes\n");
  expect(ground.exists("seen.md")).toBe(false);
});

test("a tracked rule overrides one that is not tracked, then and now", async () => {
  using ground = await started();
  const exclude = join(ground.root, ".git", "info", "exclude");
  writeFileSync(exclude, "*.md\n");
  ground.write(".gitignore", "!seen.md\n");
  ground.write("notes.md", "notes\n");
  const step = await ground.save();
  writeFileSync(exclude, "");
  ground.write("seen.md", "seen\n");
  await expectLeft(ground, step, "notes.md", "notes\n");
  expect(ground.exists("seen.md")).toBe(false);
});

interface Restored {
  plan: { delete: string[]; notUndone: { kind?: string; what: string; why: string }[] };
}

test.each(["core.excludesFile", "the default place"])(
  "a file that the user's own excludes ignored is left: %s",
  async (where) => {
    using repository = temporaryRepository();
    const isConfigured = where === "core.excludesFile";
    const file = join(repository.home, isConfigured ? "my ignores" : ".config/git/ignore");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "scratch*\n");
    if (isConfigured) repository.git("config", "core.excludesFile", "~/my ignores");
    await repository.run(["enable", "--agent", "claude-code"]);
    repository.write("scratch.txt", "mine\n");
    await repository.run(["save", "then"]);
    if (isConfigured) repository.git("config", "--unset", "core.excludesFile");
    else rmSync(file);
    repository.write("new.txt", "new\n");
    const { plan } = await repository.json<Restored>(["rewind", "then", "--yes"]);
    expect(plan.delete).toEqual(["new.txt"]);
    expect(plan.notUndone).toContainEqual({ kind: "left-alone", what: "scratch.txt", why: LEFT });
    expect(repository.read("scratch.txt")).toBe("mine\n");
    // Nothing to write or delete: what is left alone is said all the same.
    const again = await repository.run(["rewind", "then", "--yes", "--code-only"]);
    expect(again.stderr).toContain(`scratch.txt: ${LEFT}`);
  },
);

test("a file that capture.exclude left out is left when the setting has gone", async () => {
  using ground = await started();
  const settings = ownFile(ground.workspace);
  writeFileSync(settings, JSON.stringify({ capture: { exclude: ["local/**"] } }));
  ground.write("local/notes.md", "notes\n");
  const step = await ground.save();
  writeFileSync(settings, "{}");
  await expectLeft(ground, step, "local/notes.md", "notes\n");
});

test("a file that was too large then is left when the limit has been raised", async () => {
  using ground = await started();
  const settings = ownFile(ground.workspace);
  writeFileSync(settings, JSON.stringify({ capture: { max_file_size: 10 } }));
  ground.write("large.bin", "more than ten bytes\n");
  const step = await ground.save();
  writeFileSync(settings, "{}");
  const { plan } = await ground.rewind(step, { codeOnly: true });
  expect(plan.delete).toEqual([]);
  expect(whyOf(plan, "large.bin")).toBe("it was too large to be recorded then");
  expect(ground.exists("large.bin")).toBe(true);
});

test("a step without a list of ignored files is read as before", async () => {
  using ground = await started();
  const step = await ground.save();
  delete step.snapshot.ignore;
  ground.write("new.txt", "new\n");
  const { plan } = await ground.rewind(step, { codeOnly: true });
  expect(plan.delete).toEqual(["new.txt"]);
});

test("rules are kept once for all steps that have them, and named only where there are any", async () => {
  using ground = await started();
  writeFileSync(join(ground.root, ".git", "info", "exclude"), "# nothing\n\n");
  expect((await ground.save()).snapshot.ignore).toBeNull();
  writeFileSync(join(ground.root, ".git", "info", "exclude"), "a\n");
  const [first, second] = [await ground.save(), (await saveManually(ground.workspace, null)).step];
  expect(first.snapshot.ignore).toMatch(/^[0-9a-f]{40}$/);
  expect(second.snapshot.ignore).toBe(first.snapshot.ignore);
});

test("an undo does not delete ignored files that a turn added by force, nor files that were too large before", async () => {
  using repository = temporaryRepository();
  repository.write(".gitignore", "*.secret\n");
  repository.commit("rule");
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["config", "set", "capture.max_file_size", "100"]);
  repository.write("app.secret", "PASS=1\n");
  repository.write("large.bin", "x".repeat(200));
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("add them", [bash("git add --force app.secret; echo small >large.bin; echo new >new.txt")]);
  const { plan } = await repository.json<Restored>(["undo", "last", "--yes"]);
  expect(plan.delete).toEqual(["new.txt"]);
  expect(plan.notUndone).toContainEqual({ kind: "left-alone", what: "app.secret", why: LEFT });
  expect([repository.read("app.secret"), repository.read("large.bin")]).toEqual(["PASS=1\n", "small\n"]);
});
