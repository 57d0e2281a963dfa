/**
 * Runs git against a remote: limits time and size, never prompts, and kills git together with its children. git leads
 * its own session, so that ssh finds no terminal to prompt on.
 */
import { signalGroup } from "../base/process/processes.ts";
import { startRemote, tryGit } from "./run.ts";

export interface FarOptions {
  cwd: string;
  timeoutMs: number;
  env?: Record<string, string>;
  /** Aborts git when the caller gives up. */
  signal?: AbortSignal | undefined;
  /** Polled while git runs; returning true ends git. */
  isTooMuch?: () => boolean;
}

export interface FarResult {
  code: number;
  stdout: Buffer;
  stderr: string;
  /** Why git was ended early; null if it exited by itself. */
  ended: "time" | "size" | "interrupted" | null;
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const WATCH_MS = 200;
/** How long to wait for remaining output: a connection that ssh keeps for reuse may hold the pipe open forever. */
const LAST_WORDS_MS = 500;

/** Disables prompts: credentials come from helpers, agents and keys without a passphrase. */
const SILENT = {
  GIT_ASKPASS: "",
  SSH_ASKPASS: "false",
  SSH_ASKPASS_REQUIRE: "force",
  GCM_INTERACTIVE: "never",
};
const SSH = "ssh -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=15 -o ServerAliveCountMax=3";
const SETTINGS = ["credential.interactive=false", "http.lowSpeedLimit=1000", "http.lowSpeedTime=30"];

export async function farGit(args: readonly string[], options: FarOptions): Promise<FarResult> {
  const { cwd, timeoutMs, signal, isTooMuch } = options;
  const env = { ...SILENT, ...(await sshCommand(cwd)), ...options.env };
  const settings = [...SETTINGS, "core.hooksPath=/dev/null"].flatMap((setting) => ["-c", setting]);
  const child = startRemote([...settings, ...args], { cwd, env });
  let ended: FarResult["ended"] = null;
  const end = (why: FarResult["ended"]) => {
    ended ??= why;
    signalGroup(child.pid, "SIGKILL");
  };
  const interrupt = () => end("interrupted");
  const stdout = collect(child.stdout, () => end("size"));
  const stderr = collect(child.stderr, () => end("size"));
  const timer = setTimeout(() => end("time"), timeoutMs);
  const watch = setInterval(() => isTooMuch?.() && end("size"), WATCH_MS);
  signal?.addEventListener("abort", interrupt);
  if (signal?.aborted) interrupt();
  try {
    const code = await child.exited;
    const [out, err] = await Promise.all([stdout.done(), stderr.done()]);
    return { code, stdout: out, stderr: err.toString("utf8"), ended };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal?.removeEventListener("abort", interrupt);
  }
}

/** Sets our ssh command only if the user has not configured one. */
async function sshCommand(cwd: string): Promise<Record<string, string>> {
  if (process.env["GIT_SSH_COMMAND"] || process.env["GIT_SSH"]) return {};
  const own = await tryGit(["config", "--get", "core.sshCommand"], { cwd });
  return own.code === 0 ? {} : { GIT_SSH_COMMAND: SSH };
}

function collect(stream: ReadableStream<Uint8Array>, tooMuch: () => void): { done(): Promise<Buffer> } {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      if (size > MAX_OUTPUT) return tooMuch();
      chunks.push(value);
    }
  };
  const reading = read().catch(() => {});
  return {
    async done() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, LAST_WORDS_MS);
      });
      await Promise.race([reading, patience]);
      clearTimeout(timer);
      reader.cancel().catch(() => {});
      return Buffer.concat(chunks);
    },
  };
}
