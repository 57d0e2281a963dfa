/** Signatures are checked by git itself, and by keys that were made for the occasion. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../../../test/support/index.ts";
import { ownHome } from "../../../test/support/own-process.ts";
import { logTo } from "../../base/log.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { openObjects, writeCheckpoint } from "./write.ts";

ownHome();

const BRANCH = "entire/checkpoints/v1";

async function checkpointIn(repository: TemporaryRepository, id = "0123456789ab"): Promise<void> {
  const workspace = findWorkspace(repository.path);
  if (!workspace) throw new Error("No workspace.");
  mkdirSync(workspace.storeDir, { recursive: true });
  logTo(workspace.storeDir);
  const objects = openObjects(workspace);
  const metadata = {
    cli_version: "1",
    checkpoint_id: id,
    session_id: "s",
    strategy: "manual-commit",
    created_at: "2026-01-05T09:00:00Z",
    checkpoints_count: 1,
    files_touched: [],
    agent: "Claude Code",
  };
  await writeCheckpoint(workspace, objects, id, [{ metadata, files: new Map(), tasks: new Map() }]);
  objects.reader.close();
}

function sshKey(repository: TemporaryRepository, passphrase: string): string {
  const file = join(repository.home, "key");
  const made = Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "ada", "-f", file]);
  expect(made.exitCode).toBe(0);
  repository.git("config", "gpg.format", "ssh");
  repository.git("config", "user.signingKey", file);
  repository.git("config", "commit.gpgSign", "true");
  return file;
}

test.skipIf(Bun.which("ssh-keygen") === null)("an SSH key signs, and git finds it good", async () => {
  using repository = temporaryRepository();
  const file = sshKey(repository, "");
  repository.write("allowed", `ada@example.com ${await Bun.file(`${file}.pub`).text()}`);
  repository.git("config", "gpg.ssh.allowedSignersFile", repository.at("allowed"));
  repository.git("config", "user.email", "ada@example.com");
  repository.git("config", "user.name", "Ada");
  await checkpointIn(repository);
  expect(repository.git("log", "-1", "--format=%G? %GS", BRANCH)).toBe("G ada@example.com");
  expect(repository.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test.skipIf(Bun.which("ssh-keygen") === null)(
  "a key that asks for its passphrase leaves the checkpoint unsigned",
  async () => {
    using repository = temporaryRepository();
    sshKey(repository, "not to be had");
    await checkpointIn(repository);
    expect(repository.git("log", "-1", "--format=%G? %s", BRANCH)).toBe("N Checkpoint: 0123456789ab");
    expect(repository.read(".git/backtrail/log.jsonl")).toContain("written without one");
  },
);

test("a program that is not there leaves the checkpoint unsigned", async () => {
  using repository = temporaryRepository();
  repository.git("config", "commit.gpgSign", "true");
  repository.git("config", "gpg.program", "/nowhere/gpg");
  await checkpointIn(repository);
  expect(repository.git("log", "-1", "--format=%s", BRANCH)).toBe("Checkpoint: 0123456789ab");
});

test.skipIf(Bun.which("gpg") === null)("an OpenPGP key signs, and one with a passphrase asks nobody", async () => {
  using repository = temporaryRepository();
  const home = join(repository.home, ".gnupg");
  mkdirSync(home);
  chmodSync(home, 0o700);
  const before = process.env["GNUPGHOME"];
  process.env["GNUPGHOME"] = home;
  const gpg = (...args: string[]) =>
    Bun.spawnSync(["gpg", "--batch", ...args], { env: { ...process.env, GNUPGHOME: home } });
  try {
    const made = gpg("--passphrase", "", "--quick-gen-key", "Ada <ada@example.com>", "ed25519", "sign");
    if (made.exitCode !== 0) return console.warn(`SKIPPED: gpg makes no key here: ${made.stderr.toString().trim()}`);
    gpg(
      "--pinentry-mode",
      "loopback",
      "--passphrase",
      "secret",
      "--quick-gen-key",
      "Bob <bob@example.com>",
      "ed25519",
      "sign",
    );
    gpg("--quick-set-expire", "bob@example.com", "0");
    repository.git("config", "commit.gpgSign", "true");
    repository.git("config", "user.signingKey", "ada@example.com");
    await checkpointIn(repository);
    expect(repository.git("cat-file", "commit", BRANCH)).toContain("gpgsig -----BEGIN PGP SIGNATURE-----");
    const verified = Bun.spawnSync(["git", "verify-commit", BRANCH], {
      cwd: repository.path,
      env: repository.environment({ GNUPGHOME: home }),
    });
    expect(verified.exitCode).toBe(0);
    Bun.spawnSync(["gpgconf", "--kill", "gpg-agent"], { env: { ...process.env, GNUPGHOME: home } });
    repository.git("config", "user.signingKey", "bob@example.com");
    await checkpointIn(repository, "ba9876543210");
    expect(repository.git("cat-file", "commit", BRANCH)).not.toContain("gpgsig");
  } finally {
    Bun.spawnSync(["gpgconf", "--kill", "gpg-agent"], { env: { ...process.env, GNUPGHOME: home } });
    if (before === undefined) delete process.env["GNUPGHOME"];
    else process.env["GNUPGHOME"] = before;
  }
});

test("a program of the repository on a relative entry of PATH signs nothing", async () => {
  using repository = temporaryRepository();
  chmodSync(repository.write("gpg", "#!/bin/sh\ntouch ran\n"), 0o755);
  repository.git("config", "commit.gpgSign", "true");
  const { PATH: path = "" } = process.env;
  const here = process.cwd();
  process.chdir(repository.path);
  try {
    process.env["PATH"] = `.:${path}`;
    await checkpointIn(repository);
  } finally {
    process.env["PATH"] = path;
    process.chdir(here);
  }
  expect(repository.exists("ran")).toBe(false);
});
