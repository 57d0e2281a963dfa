/** Runs programs in a separate home directory, and measures their time and memory. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { executable } from "../../test/support/binary.ts";
import { cleanEnvironment } from "../../test/support/environment.ts";
import type { Program } from "../measure.ts";

export interface Taken {
  /** From start to end. */
  seconds: number;
  /** Seconds of the processor: a busy machine tells nearly the same. */
  cpu: number;
  /** At its peak, in megabytes, with the pages of the executable's file that it has read. */
  memory: number;
  /** Without these pages, which processes share. */
  own: number;
  stdout: string;
}

export function program(place: string, args: string[]): Program {
  return { program: executable(), args, cwd: place, env: cleanEnvironment(place, { BACKTRAIL_WORKER: "off" }) };
}

/** A search with these arguments; without any, the bare start of the executable. */
export function started(place: string, ...args: string[]): Promise<Taken> {
  return taken(program(place, args.length === 0 ? ["--version"] : ["search", ...args]));
}

export async function taken({ program: name, args, cwd, env }: Program): Promise<Taken> {
  const output = join(cwd, "output");
  // A longer earlier output must not leave anything behind.
  rmSync(output, { force: true });
  const began = performance.now();
  const child = Bun.spawn([name, ...args], { cwd, env, stdin: "ignore", stdout: Bun.file(output), stderr: "pipe" });
  const peak = peakOf(child);
  const exitCode = await child.exited;
  const seconds = (performance.now() - began) / 1_000;
  if (exitCode !== 0) throw new Error(`${name} ${args.join(" ")} failed: ${await new Response(child.stderr).text()}`);
  const usage = child.resourceUsage();
  const cpu = Number(usage?.cpuTime.total) / 1e6;
  const { all = usage?.maxRSS ?? 0, own = 0 } = await peak;
  return { seconds, cpu, memory: all / 1e6, own: own / 1e6, stdout: readFileSync(output, "utf8") };
}

/**
 * The most memory that the process has had, in bytes, as Linux tells while it runs. What is told when it has ended
 * includes that of the process that started it.
 */
async function peakOf({ pid }: Subprocess): Promise<{ all?: number; own?: number }> {
  for (let peak: { all?: number; own?: number } = {}; ; await Bun.sleep(0)) {
    const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) * 1024;
    if (bytes("VmHWM") === 0) return peak;
    peak = { all: bytes("VmHWM"), own: Math.max(peak.own ?? 0, bytes("RssAnon")) };
  }
}
