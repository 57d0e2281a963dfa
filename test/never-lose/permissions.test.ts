import { expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scanPermissions } from "../../src/git/snapshot/permission-scan.ts";
import { recordableBits, settableBits } from "../../src/git/snapshot/permissions.ts";
import { applyRedo, planRedo } from "../../src/restore/redo.ts";
import { bash, ScriptedClaude, temporaryRepository } from "../support/index.ts";
import { Playground, started } from "../support/restore-sandbox.ts";

function modeOf(ground: Playground, path: string): string | undefined {
  const stat = lstatSync(join(ground.root, path), { throwIfNoEntry: false });
  return stat && (stat.mode & 0o7777).toString(8);
}

function modesOf(ground: Playground, ...paths: string[]): (string | undefined)[] {
  return paths.map((path) => modeOf(ground, path));
}

async function redo(ground: Playground): Promise<void> {
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
}

/** A private file in a private directory, and a program with a bit that git does not know. */
function putPrivate(ground: Playground): void {
  mkdirSync(join(ground.root, "keys/old"), { recursive: true });
  ground.write("keys/id", "KEY\n");
  ground.write("keys/old/id", "OLD\n");
  ground.write("tool", "#!/bin/sh\n");
  for (const [path, mode] of PRIVATE) chmodSync(join(ground.root, path), mode);
}

const PRIVATE = [
  ["keys/id", 0o600],
  ["keys/old/id", 0o400],
  ["keys/old", 0o500],
  ["keys", 0o700],
  ["tool", 0o4750],
] as const;
const PATHS = PRIVATE.map(([path]) => path);
const MODES = PRIVATE.map(([, mode]) => mode.toString(8));

test("what a rewind removed comes back with the permissions that it had", async () => {
  using ground = await started();
  const step = await ground.save();
  putPrivate(ground);
  chmodSync(join(ground.root, "keys/old"), 0o700);
  const now = modesOf(ground, ...PATHS);
  await ground.rewind(step, { codeOnly: true });
  expect(modeOf(ground, "keys")).toBeUndefined();
  await redo(ground);
  expect(modesOf(ground, ...PATHS)).toEqual(now);
});

test("untracked files and their directories come back as recorded, also a read-only directory", async () => {
  using ground = await started();
  putPrivate(ground);
  const step = await ground.save();
  chmodSync(join(ground.root, "keys/old"), 0o700);
  rmSync(join(ground.root, "keys"), { recursive: true });
  rmSync(join(ground.root, "tool"));
  await ground.rewind(step, { codeOnly: true });
  expect(modesOf(ground, ...PATHS)).toEqual(MODES);
  expect(await ground.isAt(step)).toBe(true);
  chmodSync(join(ground.root, "keys/old"), 0o700);
});

test("changes of permissions alone are undone and redone", async () => {
  using ground = await started();
  putPrivate(ground);
  ground.write("open.txt", "open\n");
  const step = await ground.save();
  for (const path of PATHS) chmodSync(join(ground.root, path), 0o755);
  chmodSync(join(ground.root, "open.txt"), 0o600);
  const { plan } = await ground.rewind(step, { codeOnly: true });
  expect(plan.write).toEqual([]);
  expect(plan.chmod.toSorted()).toEqual(["keys/", "keys/id", "keys/old/", "keys/old/id", "open.txt", "tool"]);
  expect(modesOf(ground, ...PATHS, "open.txt")).toEqual([...MODES, "644"]);
  chmodSync(join(ground.root, "keys/old"), 0o700);
  await redo(ground);
  expect(modesOf(ground, "keys", "keys/id", "tool", "open.txt")).toEqual(["755", "755", "755", "600"]);
});

test("a tracked file that was private comes back private, once the worker has looked", async () => {
  using ground = await started();
  putPrivate(ground);
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "private");
  await scanPermissions(ground.workspace);
  const step = await ground.save();
  chmodSync(join(ground.root, "keys/old"), 0o700);
  rmSync(join(ground.root, "keys"), { recursive: true });
  rmSync(join(ground.root, "tool"));
  rmSync(join(ground.root, "a.txt"));
  await ground.rewind(step, { codeOnly: true });
  expect(modesOf(ground, ...PATHS, "a.txt")).toEqual([...MODES, "644"]);
  chmodSync(join(ground.root, "keys/old"), 0o700);
});

test("tracked files and directories get the permissions of the step, closed and open ones, without a worker", async () => {
  using ground = await started();
  mkdirSync(join(ground.root, "open"));
  ground.write("open/file", "1\n");
  putPrivate(ground);
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "private");
  const step = await ground.save();
  chmodSync(join(ground.root, "keys/old"), 0o700);
  rmSync(join(ground.root, "keys"), { recursive: true });
  rmSync(join(ground.root, "tool"));
  ground.write("open/file", "2\n");
  chmodSync(join(ground.root, "open/file"), 0o600);
  chmodSync(join(ground.root, "open"), 0o700);
  await ground.rewind(step, { codeOnly: true });
  expect(modesOf(ground, ...PATHS, "open", "open/file")).toEqual([...MODES, "755", "644"]);
  chmodSync(join(ground.root, "keys/old"), 0o700);
  await redo(ground);
  expect(modesOf(ground, "keys", "open", "open/file")).toEqual([undefined, "700", "600"]);
});

test("tracked executable bits and links that git's settings hide come back", async () => {
  using ground = await started();
  ground.write("plain", "a\n");
  symlinkSync("plain", join(ground.root, "link"));
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "first");
  ground.git("config", "core.fileMode", "false");
  ground.git("config", "core.symlinks", "false");
  chmodSync(join(ground.root, "plain"), 0o755);
  const step = await ground.save();
  for (const path of ["plain", "link"]) {
    rmSync(join(ground.root, path));
    ground.write(path, "another\n");
  }
  await ground.rewind(step, { codeOnly: true });
  expect(modeOf(ground, "plain")).toBe("755");
  expect(readlinkSync(join(ground.root, "link"))).toBe("plain");
});

test("redo gives tracked files that git took for unchanged the permissions that they had", async () => {
  using ground = await started();
  const step = await ground.save();
  putPrivate(ground);
  chmodSync(join(ground.root, "keys/old"), 0o700);
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "private");
  const now = modesOf(ground, ...PATHS);
  await ground.rewind(step, { codeOnly: true });
  expect(modesOf(ground, ...PATHS)).toEqual(PATHS.map(() => undefined));
  await redo(ground);
  expect(modesOf(ground, ...PATHS)).toEqual(now);
});

test("files come back as they were under another mask, and where nearly all are unusual only the others are listed", async () => {
  using ground = await started();
  const mask = process.umask(0o077);
  try {
    mkdirSync(join(ground.root, "own"));
    for (let i = 0; i < 3; i++) writeFileSync(join(ground.root, `own/${i}`), `${i}\n`);
    const step = await ground.save();
    process.umask(0o022);
    rmSync(join(ground.root, "own"), { recursive: true });
    await ground.rewind(step, { codeOnly: true });
    expect(modesOf(ground, "own", "own/0", "own/2")).toEqual(["700", "600", "600"]);
    for (let i = 0; i < 200; i++) {
      ground.write(`shared/${i}`, `${i}\n`);
      chmodSync(join(ground.root, `shared/${i}`), i < 5 ? 0o640 : 0o660);
    }
    const shared = await ground.save();
    rmSync(join(ground.root, "shared"), { recursive: true });
    await ground.rewind(shared, { codeOnly: true });
    expect(modesOf(ground, "own/0", "shared/0", "shared/5", "shared/199")).toEqual(["600", "640", "660", "660"]);
  } finally {
    process.umask(mask);
  }
});

test("a step without permissions is read as before: a file keeps the mode of the file that it replaces", async () => {
  using ground = await started();
  ground.write("secret.txt", "then\n");
  const step = await ground.save();
  delete step.snapshot.permissions;
  ground.write("secret.txt", "now\n");
  chmodSync(join(ground.root, "secret.txt"), 0o600);
  await ground.rewind(step, { codeOnly: true });
  expect(modeOf(ground, "secret.txt")).toBe("600");
});

test("executable bits and links come back even if git's settings hide them", async () => {
  using ground = await Playground.make({ config: { "core.fileMode": "false", "core.symlinks": "false" } });
  ground.write("tracked", "#!/bin/sh\n");
  ground.git("add", "--all");
  ground.git("update-index", "--add", "--cacheinfo", `120000,${ground.git("hash-object", "-w", "--stdin")},plain`);
  ground.git("commit", "--quiet", "-m", "first");
  ground.git("checkout", "--", "plain");
  const step = await ground.save();
  ground.write("tool", "#!/bin/sh\n");
  ground.write("tracked", "#!/bin/sh\nexit 1\n");
  for (const path of ["tool", "tracked"]) chmodSync(join(ground.root, path), 0o755);
  symlinkSync("tracked", join(ground.root, "link"));
  rmSync(join(ground.root, "plain"));
  await ground.rewind(step, { codeOnly: true });
  expect(modesOf(ground, "tool", "link")).toEqual([undefined, undefined]);
  // A tracked link is what git makes of it here: a plain file.
  expect(lstatSync(join(ground.root, "plain")).isFile()).toBe(true);
  expect(ground.git("status", "--porcelain")).toBe("");
  await redo(ground);
  expect(modesOf(ground, "tool", "tracked")).toEqual(["755", "755"]);
  expect(readlinkSync(join(ground.root, "link"))).toBe("tracked");
});

test("a bit that lets a program run as its owner counts only for the user's own files, in the user's own store", async () => {
  using ground = await started();
  const own = process.geteuid?.() ?? 0;
  expect(recordableBits({ mode: 0o104755, uid: own })).toBe(0o4755);
  expect(recordableBits({ mode: 0o104755, uid: own + 1 })).toBe(0o755);
  expect(settableBits(ground.workspace, 0o4755)).toBe(0o4755);
  expect(settableBits({ storeDir: join(ground.place, "none") }, 0o4755)).toBe(0o755);
});

test("an undo restores a private file as private", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  mkdirSync(repository.at("keys"), { mode: 0o700 });
  writeFileSync(repository.at("keys", "id"), "KEY\n", { mode: 0o600 });
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("clean up", [bash("rm -r keys")]);
  await repository.json(["undo", "last", "--yes"]);
  const mode = (...names: string[]) => (lstatSync(repository.at(...names)).mode & 0o777).toString(8);
  expect([mode("keys"), mode("keys", "id")]).toEqual(["700", "600"]);
});

test("an undo closes what a turn has opened, and opens nothing that was closed since", async () => {
  using repository = temporaryRepository();
  mkdirSync(repository.at("keys"), { mode: 0o700 });
  for (const name of ["keys/id", ".env"]) writeFileSync(repository.at(name), "KEY\n", { mode: 0o600 });
  repository.write("open.txt", "1\n");
  repository.commit("private");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  const again = "rm -r keys .env; mkdir keys; echo 2 >keys/id; echo 2 >.env; echo 2 >open.txt; chmod 755 keys";
  await claude.turn("make them again", [bash(`${again}; chmod 644 keys/id .env`)]);
  chmodSync(repository.at("open.txt"), 0o600);
  await repository.json(["undo", "last", "--yes"]);
  const mode = (name: string) => (lstatSync(repository.at(name)).mode & 0o777).toString(8);
  expect(["keys", "keys/id", ".env", "open.txt"].map(mode)).toEqual(["700", "600", "600", "600"]);
});

test("a fork has the permissions of the step", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  mkdirSync(repository.at("keys"), { mode: 0o700 });
  writeFileSync(repository.at("keys", "id"), "KEY\n", { mode: 0o600 });
  await repository.run(["save", "then"]);
  const { fork } = await repository.json<{ fork: { directory: string } }>(["fork", "then"]);
  const mode = (...names: string[]) => (lstatSync(join(fork.directory, ...names)).mode & 0o777).toString(8);
  expect([mode("keys"), mode("keys", "id")]).toEqual(["700", "600"]);
});
