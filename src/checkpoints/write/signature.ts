/**
 * Signs as git does (OpenPGP, X.509, SSH), with git's configured program and key, but never prompts: no terminal, no
 * window, and a timeout.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf, messageOf } from "../../base/errors.ts";
import { findProgram } from "../../base/process/program.ts";
import { spawn } from "../../base/runtime.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";

export interface Signed {
  signature: string | null;
  /** The reason, if there is no signature. */
  why: string;
}

const TIMEOUT_MS = 20_000;
const PROGRAMS: Readonly<Record<string, string>> = { openpgp: "gpg", x509: "gpgsm", ssh: "ssh-keygen" };
/** A literal public key instead of the path of a key file; the SSH agent has the private key. */
const LITERAL_KEY = /^(?:key::|ssh-|ecdsa-sha2-|sk-ssh-|sk-ecdsa-)/;

/** `person` selects the key if none is configured: "Ada <ada@example.com>". */
export async function signed(workspace: Workspace, person: string, text: string): Promise<Signed> {
  const setting = async (name: string, type = "--no-type") => {
    const { code, stdout } = await tryGit(["config", type, "--get", name], { cwd: workspace.root });
    return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : undefined;
  };
  const format = (await setting("gpg.format")) ?? "openpgp";
  const usual = PROGRAMS[format];
  if (usual === undefined) return { signature: null, why: `git has no gpg.format "${format}".` };
  const general = format === "openpgp" ? await setting("gpg.program") : undefined;
  const program = (await setting(`gpg.${format}.program`, "--type=path")) ?? general ?? usual;
  const key = await setting("user.signingKey");
  if (format !== "ssh") {
    const silent = ["--batch", "--no-tty", "--pinentry-mode", "error"];
    return run([program, ...silent, "--status-fd=2", "-bsau", key ?? person], text);
  }
  if (key === undefined) return { signature: null, why: "user.signingKey is not set." };
  if (!LITERAL_KEY.test(key)) {
    const file = (await setting("user.signingKey", "--type=path")) ?? key;
    return run([program, "-Y", "sign", "-n", "git", "-f", file], text);
  }
  const directory = mkdtempSync(join(tmpdir(), "backtrail-key-"));
  try {
    const file = join(directory, "key.pub");
    writeFileSync(file, `${key.replace(/^key::/, "")}\n`, { mode: 0o600 });
    return await run([program, "-Y", "sign", "-n", "git", "-U", "-f", file], text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run([name = "", ...args]: string[], text: string): Promise<Signed> {
  const notFound = { signature: null, why: `${name} was not found.` };
  const program = findProgram(name);
  if (program === null) return notFound;
  try {
    const child = spawn(program, args, {
      stdin: Buffer.from(text),
      stdout: "pipe",
      stderr: "pipe",
      // A new session has no terminal to prompt on.
      detached: true,
      env: { ...process.env, LC_ALL: "C", SSH_ASKPASS: "false", SSH_ASKPASS_REQUIRE: "force", GPG_TTY: undefined },
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code === 0 && stdout.startsWith("-----BEGIN ")) return { signature: stdout.replaceAll("\r", ""), why: "" };
    return { signature: null, why: stderr.trim() || `${name} ended with ${code}.` };
  } catch (error) {
    return codeOf(error) === "ENOENT" ? notFound : { signature: null, why: messageOf(error) };
  }
}
